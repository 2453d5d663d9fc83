"""Capacity: the largest load at which the typical run keeps every condition, at it and at all smaller loads. Pure.

The shapes. `capacity_by_conditions.capacity_of` makes a `Capacity`, `capacity_ratio.ratio_of` a `CapacityRatio`,
`capacity_sessions.over_sessions` looks at several sessions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.stats.interval import Interval
from campaigns.stats.units import (
    Block,
    Count,
    Degrees,
    InMetric,
    Number,
    OnAxis,
    OnLogs,
    Percent,
    Share,
    ShareInterval,
)

DEFAULT_RESOLUTION = 1.5
STEEPEST = 2.5
"""The slope of ln value over ln load above which loads are judged one by one, and nothing is interpolated."""
TOLERANCE = 1e-9
NEIGHBOURS = 1.35
"""The ratio of neighbouring loads up to which the line between them is claimed: a curve may bend anyhow in a wider gap."""


class CapacityWord(StrEnum):
    """The stored verdict on a capacity, a closed list; `findings.wording.capacity` writes its sentence."""

    BETWEEN = "between"
    AT_LEAST = "at_least"
    FEWER_THAN = "fewer_than"
    NOT_MONOTONE = "not_monotone"
    NOT_ENOUGH_DATA = "not_enough_data"

    @property
    def has_bounds(self) -> bool:
        """Return whether it says between which loads the capacity lies, above which, or below which."""
        return self in (CapacityWord.BETWEEN, CapacityWord.AT_LEAST, CapacityWord.FEWER_THAN)

    @classmethod
    def _missing_(cls, value: object) -> "CapacityWord | None":
        """Read a word of findings that were stored when the interval of the line was claimed."""
        return {
            "carries": cls.BETWEEN,
            "not_decided": cls.BETWEEN,
            "less_than": cls.FEWER_THAN,
        }.get(str(value))


class Held(StrEnum):
    """Whether a load is shown to keep a condition, or all of them: its decision.

    NOT_CONTRADICTED: no unit failed, of too few to show that the share is kept. It is never the decision on a load.
    """

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"
    NOT_CONTRADICTED = "not_contradicted"
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True)
class ValueRun:
    """The value of one run at one load."""

    block: Block
    load: OnAxis
    value: InMetric


@dataclass(frozen=True, slots=True)
class ShareRun:
    """Units of work of one run at one load, and how many of them failed (or broke the condition)."""

    block: Block
    load: OnAxis
    failed: Count
    units: Count


@dataclass(frozen=True, slots=True)
class ValueCondition:
    """A bound of a metric.

    offered_rate: the load is a rate that is offered, so nothing is interpolated. without_number: loads at which too much failed
    (or the value lies above a limit) for a value; they end the line, and `failed` says which of them fail for certain (as `shares`
    with the failure limit judge them). bounds: runs of a saturated generator, whose value is a lower bound: their load leaves the line, as those
    above it do, and can only be shown to fail; nothing where higher is better.
    """

    name: str
    limit: InMetric
    lower_is_better: bool
    runs: Sequence[ValueRun]
    offered_rate: bool = False
    without_number: Sequence[OnAxis] = ()
    shares: Sequence[ShareRun] = ()
    share_limit: Share = 0.05
    bounds: Sequence[ValueRun] = ()


@dataclass(frozen=True, slots=True)
class ShareCondition:
    """A bound of the share of work that failed, or of a percentile: at most 1 - p of the units took longer or failed."""

    name: str
    limit: Share
    runs: Sequence[ShareRun]


@dataclass(frozen=True, slots=True)
class LoadState:
    """One load under one condition. value: the typical run's (a geometric mean), band: with the noise of blocks; share likewise."""

    load: OnAxis
    state: Held
    runs: Count
    value: InMetric | None = None
    band: Interval | None = None
    share: Share | None = None
    share_interval: ShareInterval | None = None
    units: Count | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What would narrow the bracket: so many more blocks (about, where rough), or loads in between."""

    blocks: Count | None = None
    rough: bool = False
    loads: Sequence[OnAxis] = ()


@dataclass(frozen=True, slots=True)
class ConditionCapacity:
    """The capacity by one condition alone; ends are None where there is none (low) or it is open (high).

    slope: of ln value over ln load at the crossing. levels_only: nothing is interpolated. allowance: on logs, how much the bend widened both ends.
    window: the loads of the fit. own_noise: loads that are judged by the noise of their own runs. not_monotone: pairs of loads whose order is reversed for certain. reason: why there is neither line nor levels, as
    in `Capacity`; `about` is then a crossing without any bound. safe_load: as in `Capacity`. clumped: failures come in few runs, so that the interval
    of a share is too narrow. is_share: units that failed, or took too long, are counted.
    """

    name: str
    low: OnAxis | None
    estimate: OnAxis | None
    high: OnAxis | None
    loads: Sequence[LoadState]
    slope: Number | None = None
    levels_only: bool = False
    allowance: tuple[OnLogs, OnLogs] = (0.0, 0.0)
    noise: OnLogs | None = None
    block_sd: OnLogs | None = None
    window: Sequence[OnAxis] = ()
    not_monotone: Sequence[tuple[OnAxis, OnAxis]] = ()
    reason: str = ""
    about: OnAxis | None = None
    safe_load: OnAxis | None = None
    clumped: bool = False
    own_noise: Sequence[OnAxis] = ()
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class Capacity:
    """The capacity by all conditions together. What is claimed is a bracket of loads that are decided.

    low: the highest load that holds with none failing below; high: the lowest that fails; None where there is none. by_line: low and high are the
    finer interval by the line, and estimate its crossing; only where neighbouring loads lie within NEIGHBOURS. about: the crossing where it is not
    claimed. reason: of `not_enough_data`: `blocks`, `loads`, `not_connected`, `lost_runs`, `invalid_values`, `no_bound`. binding: the name of the
    condition that ends it first, empty where that is not known. badges: `interpolated`, `levels_only`, `two_loads`, `rough_interval`,
    `clumped_failures`, `own_noise` (a load too noisy for the noise of the others). safe_load: one further run holds with 95 %; none where loads
    are not monotone. blocks: with a run; lowest, highest: loads measured, 0 without any.
    """

    word: CapacityWord
    low: OnAxis | None
    estimate: OnAxis | None
    high: OnAxis | None
    blocks: Count
    lowest: OnAxis
    highest: OnAxis
    resolution: Number
    conditions: Sequence[ConditionCapacity]
    binding: str = ""
    reason: str = ""
    about: OnAxis | None = None
    badges: Sequence[str] = ()
    advice: Advice | None = None
    safe_load: OnAxis | None = None
    by_line: bool = False

    @property
    def is_wide(self) -> bool:
        """Return whether both ends are known and further apart than the resolution that was asked for."""
        if self.low is None or self.high is None or self.word != CapacityWord.BETWEEN:
            return False
        return self.high / self.low > self.resolution * (1 + TOLERANCE)


@dataclass(frozen=True, slots=True)
class CapacityAlone:
    """What a comparison with a capacity of other blocks, such as of another campaign, rests on.

    log, error, df: ln C, its standard error and degrees of freedom; None where the line is not claimed. early, late: how
    much the bend widens both ends, on logs. low, high: the bounds that are claimed. between: by the spread of sessions.
    """

    log: OnLogs | None = None
    error: OnLogs | None = None
    df: Degrees | None = None
    early: OnLogs = 0.0
    late: OnLogs = 0.0
    low: OnAxis | None = None
    high: OnAxis | None = None
    between: bool = False


@dataclass(frozen=True, slots=True)
class CapacityRatio:
    """The ratio of two capacities, candidate to baseline: more is better.

    word: of `stats.verdict.Word`. low, high: of the ratio; an end is None where it is open. bounds_only: by the bounds of both, since a line is not
    claimed for both; about: then the ratio of their crossings, which is not claimed. reason: of a word without numbers: `blocks`, `no_bound`, `conditions_differ`, `other_hardware`, `not_stored`, or as in `Capacity`. log, error, df: estimate on logs,
    its standard error and degrees of freedom; early, late: how much the bends widen the interval below and above, on logs; None with bounds only.
    badges: `lost_in_family`, `real_below_margin`. binding: the conditions that bind on both sides.
    """

    word: str
    ratio: Number | None
    low: Number | None
    high: Number | None
    bounds_only: bool = False
    reason: str = ""
    p: Number | None = None
    p_adjusted: Number | None = None
    more_pct: Percent | None = None
    log: OnLogs | None = None
    error: OnLogs | None = None
    df: Degrees | None = None
    early: OnLogs | None = None
    late: OnLogs | None = None
    badges: Sequence[str] = ()
    binding: tuple[str, str] = ("", "")
    about: Number | None = None
