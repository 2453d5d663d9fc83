"""What a finding is: the shapes that analysis makes, the database stores as JSON, and pages and REST read.

Each shape is declared here alone. Times are seconds, changes percent, shares of 1; an instant is a text of
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
