"""What a finding is: the shapes that analysis makes, the database stores as JSON, and pages and REST read.

Each shape is declared here alone; sequences are lists, as JSON gives them back. Times are seconds, changes percent, shares of 1; an instant is a text of
ISO 8601 in UTC; a cell is the key of its row. Findings that are not here yet are dicts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from campaigns.stats.density import Mode

Missing = Literal["", "not_in_blocks", "not_positive", "too_many", "too_few"]
"""Why there are no effects of blocks; empty where there are."""


class Spread(Struct, frozen=True):
    """Mean and standard deviation over runs; no standard deviation of one run."""

    mean: float
    sd: float | None


class PhaseCell(Struct, frozen=True):
    """Seconds of each phase of one cell, by its name. runs: those that have phases."""

    cell: int
    levels: Mapping[str, Any]
    runs: int
    seconds: Mapping[str, Spread]


class PhaseTable(Struct, frozen=True):
    """Phases in the order of time. overlap: they go on at the same time, and do not add up."""

    overlap: bool
    names: Sequence[str]
    cells: Sequence[PhaseCell]


class Phases(Struct, frozen=True, omit_defaults=True):
    """Steps of an attempt, and parts of the measured time; None where no run has any."""

    attempt: PhaseTable | None = None
    measure: PhaseTable | None = None


class Stretch(Struct, frozen=True):
    """A part of a campaign: its first and last position. Instants are None where a run has none."""

    first: int
    last: int
    started_at: str | None
    ended_at: str | None


class BlockEffect(Stretch, frozen=True):
    """How far the runs of one block lie from those of the others, whichever cells it holds."""

    block: int
    session: int
    effect_pct: float


class SessionStretch(Stretch, frozen=True):
    """The runs of one session."""

    number: int
    runs: int


class Drift(Struct, frozen=True):
    """Effects of blocks around 0, and the sessions.

    block_sd_pct, sd_pct: standard deviation between blocks, and of runs within a block. efficiency: how many times the runs would have
    been needed without blocks.
    """

    missing: Missing
    blocks: Sequence[BlockEffect]
    block_sd_pct: float | None
    sd_pct: float | None
    efficiency: float | None
    sessions: Sequence[SessionStretch]


class DensityCurve(Struct, frozen=True):
    """Heights on an even grid from `low` to `high`, of logs where `on_logs`; the highest peak is 1."""

    low: float
    high: float
    on_logs: bool
    heights: Sequence[float]
    modes: Sequence[Mode]


class DensityCell(Struct, frozen=True):
    """The density of one cell's runs; None where there are too few, or the values are no raw ones."""

    cell: int
    density: DensityCurve | None
    n: int


class Densities(Struct, frozen=True):
    """Densities of one metric. fewest: the number of runs that a density takes."""

    fewest: int
    cells: Sequence[DensityCell]


class CurveTogether(Struct, frozen=True):
    """Percentiles of all samples together, without intervals."""

    shares: Sequence[float]
    values: Sequence[float]


class PercentileCell(Struct, frozen=True):
    """Percentiles of one cell's samples: columns of equal length, `low` and `high` None without an interval.

    values: geometric means of the runs' own percentiles. counts: samples; fewest: of a run; dropped: samples
    that were out of the histograms' range.
    """

    cell: int
    dropped: int
    runs: int
    counts: int
    fewest: int
    shares: Sequence[float]
    values: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]
    together: CurveTogether


class Percentiles(Struct, frozen=True):
    """The curves of one quantity, such as the response time."""

    name: str
    cells: Sequence[PercentileCell]


LeftOut = Literal["", "bound", "not_steady", "failures"]
"""Why the fit of a law does not use a run: the generator was saturated, its halves differ, or too much failed."""
Bounds = Sequence[float | None]
"""Both ends of an interval; None where it has no end."""


class LoadRun(Struct, frozen=True):
    """One run of a closed loop: `n` at a time, throughput in 1/s, mean response time.

    left_out: why the fit does not use it; empty where it does.
    """

    position: int
    block: int
    worker: str
    started_at: str | None
    n: float
    throughput: float
    response: float | None
    left_out: LeftOut


class LoadLevel(Struct, frozen=True):
    """Means of the runs with `n` at a time. effective: by Little's law the number served; ratio: of it to `n`."""

    n: float
    runs: int
    throughput: float
    response: float | None
    effective: float | None
    ratio: float | None
    consistent: bool | None


class Law(Struct, frozen=True):
    """The Universal Scalability Law, and what follows from it; None where that is infinite.

    g: throughput of one; s: contention; k: coherency; largest: the most at a time that was measured;
    throttle: the recommended limit.
    """

    g: float
    s: float
    k: float
    largest: float
    peak: float | None
    whole_peak: int | None
    most: float | None
    power_point: float | None
    linear_limit: float | None
    peak_reached: bool
    throttle: int | None
    extrapolated: bool
    rule_of_thumb: float | None
    rule_agrees: bool


class LawBounds(Struct, frozen=True):
    """Bootstrap intervals of the law's figures. with_peak: the share of resamples with a peak."""

    g: Bounds
    s: Bounds
    k: Bounds
    peak: Bounds
    most: Bounds
    power_point: Bounds
    throttle: Bounds | None
    with_peak: float


class LoadPlace(Struct, frozen=True):
    """A point of the law: `n` at a time, throughput and response time."""

    n: float
    throughput: float
    response: float


class LoadGroup(Struct, frozen=True):
    """One curve: the runs whose other levels are equal.

    missing: why there is no law; fewest: levels that it takes. left_out: numbers of runs by reason. curve: points
    of the law (n, throughput, response time). unranked: why no limit is recommended.
    """

    levels: Mapping[str, Any]
    missing: Literal["", "not_enough_levels"]
    fewest: int
    left_out: Mapping[str, int]
    runs: Sequence[LoadRun]
    levels_measured: Sequence[LoadLevel]
    law: Law | None
    bounds: LawBounds | None
    curve: Sequence[Sequence[float]]
    places: Mapping[str, LoadPlace]
    unranked: str = ""


class Scalability(Struct, frozen=True):
    """Curves of throughput by concurrency. parameter: its name; throughput, response: names of metrics."""

    parameter: str
    throughput: str
    response: str
    groups: Sequence[LoadGroup]
