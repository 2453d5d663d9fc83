"""Results of comparisons of cells. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from campaigns.stats.blocks import BlockFit
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.log_means import Fit
from campaigns.stats.mann_whitney import RankSum
from campaigns.stats.ranks import HodgesLehmann, SignedRank
from campaigns.stats.sessions import SessionFindings
from campaigns.stats.units import Degrees, Percent, PercentInterval, Probability
from campaigns.stats.verdict import Verdict

Pairs = Sequence[tuple[int, int]]
"""Baseline and candidate, by their place among the cells; several pairs stand for their mean."""


class Model(StrEnum):
    """The model by which the noise of a comparison was estimated."""

    BLOCKS = "blocks"
    POOLED = "pooled"
    WELCH = "welch"
    PAIRED = "paired"
    SPLIT_PLOT = "split_plot"


@dataclass(frozen=True, slots=True)
class Reading:
    """A contrast by another model than the deciding one."""

    model: Model
    pct_change: Percent
    ci_pct: PercentInterval
    df: Degrees
    p: Probability


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline, both by their place in the list of cells.

    verdict: of the primary model; n counts blocks, or runs a cell; from three sessions on it is that
    between sessions, and n counts those. df, standard_error, effective_n: within sessions; complete
    blocks, or runs per cell, that would be as informative. sensitivity: the other model. ranks, shift: the
    second opinion, of differences within blocks or of the two samples. sessions: what each of them
    says; None where none says anything, and for cells of different campaigns.
    """

    baseline: int
    candidate: int
    model: Model
    verdict: Verdict
    pct_change_of_means: float | None = None
    df: float | None = None
    standard_error: float | None = None
    effective_n: float | None = None
    sensitivity: Reading | None = None
    ranks: SignedRank | RankSum | None = None
    shift: HodgesLehmann | None = None
    sessions: SessionFindings | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BetweenSessions:
    """Sessions as the blocks of a campaign: cells, in their order, with one value per session."""

    cells: tuple[CellRuns, ...]
    blocks: BlockFit


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """All comparisons that are shown together. fit: of the cells in `fitted`, None without any.

    means: of several pairs each, where requested; their two cells are those of the first.
    pairs: verdicts of all pairs of cells that did the same work and take part, of the second against the first.
    between: where three sessions or more hold all fitted cells; what is said of cells rests on it.
    """

    model: Model
    comparisons: tuple[Comparison, ...]
    fit: Fit | None
    fitted: tuple[int, ...]
    blocks: BlockFit | None = None
    between: BetweenSessions | None = None
    means: tuple[Comparison, ...] = ()
    pairs: Mapping[tuple[int, int], Verdict] = field(default_factory=dict)
