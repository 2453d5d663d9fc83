"""Comparisons of cells of different campaigns: unpaired, and in no common block. Pure.

Each cell is compared by its own noise (Welch on logs, STATISTICS 2.2), from three sessions a side on
by that between them; fewer never confirm (2.7). Over several cells there is one number (2.5), whose noise is counted over blocks
where runs were made in blocks: cells of a block share what the hour did to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.logs import pct_of
from campaigns.stats.pooled import welch
from campaigns.stats.sessions import DIFFER_P
from campaigns.stats.verdict import Contrast, interval_of

FEWEST_SESSIONS = 3
"""Sessions needed on either side for the interval between sessions."""


@dataclass(frozen=True, slots=True)
class OverCells:
    """Candidate against baseline over the cells that both have; changes in %.

    geometric_pct: of the mean log ratio. ci_pct: for these cells alone, by the noise of the runs;
    None without enough of it. sample_ci_pct: for cells as a sample of others (df K - 1).
    low_pct, high_pct: the smallest and the largest change of a cell.
    """

    cells: int
    geometric_pct: float
    ci_pct: Interval | None
    sample_ci_pct: Interval | None
    low_pct: float
    high_pct: float

    @property
    def one_way(self) -> bool:
        """Return whether every cell changed in the same direction."""
        return self.low_pct >= 0 or self.high_pct <= 0


@dataclass(frozen=True, slots=True)
class _Side:
    """The variance of the mean of logs over cells, with its degrees of freedom."""

    variance: float
    df: float


DEFAULT = Criteria()


def enough_sessions(*cells: CellRuns) -> bool:
    """Return whether each of the cells has so many sessions that the interval between them is judged by."""
    return all(cell.session_count >= FEWEST_SESSIONS for cell in cells)


def between(baseline: CellRuns, candidate: CellRuns) -> Contrast | None:
    """Compare two cells with a session as the unit (Welch on the means of sessions).

    None with fewer than FEWEST_SESSIONS on a side: nobody knows then how much sessions differ.
    """
    if not enough_sessions(baseline, candidate):
        return None
    sides = [np.array([each.mean() for each in by_session(cell)]) for cell in (baseline, candidate)]
    return welch(*sides)


def disagree(*cells: CellRuns) -> bool:
    """Return whether the sessions of a cell differ by more than its runs do: their noise is then too small."""
    return any(_p_of_sessions(by_session(cell)) < DIFFER_P for cell in cells)


def by_session(cell: CellRuns) -> list[NDArray[np.float64]]:
    """Return the logs of each session's values, in the order of sessions."""
    numbers = np.array(cell.sessions or [0] * len(cell.values))
    logs = np.log(cell.array)
    return [logs[numbers == number] for number in np.unique(numbers)]


def _p_of_sessions(sessions: Sequence[NDArray[np.float64]]) -> float:
    """Return the p of equal means in all sessions (analysis of variance); 1 where it is unknown."""
    df = sum(each.size - 1 for each in sessions)
    if len(sessions) < 2 or df < 1:
        return 1.0
    within = sum(float(np.square(each - each.mean()).sum()) for each in sessions) / df
    whole = np.concatenate(sessions)
    spread = sum(each.size * float(each.mean() - whole.mean()) ** 2 for each in sessions)
    if within**0.5 < NO_NOISE:
        return 0.0 if spread**0.5 >= NO_NOISE else 1.0
    statistic = spread / (len(sessions) - 1) / within
    return float(scipy.stats.f.sf(statistic, len(sessions) - 1, df))


def over_cells(
    pairs: Sequence[tuple[CellRuns, CellRuns]],
    *,
    in_blocks: tuple[bool, bool],
    criteria: Criteria = DEFAULT,
) -> OverCells | None:
    """Average two cells or more; None with fewer, or where one has no value above 0.

    pairs: baseline and candidate. in_blocks: whether each side was measured in blocks of several cells.
    Where every cell has enough sessions, those are the blocks.
    """
    if len(pairs) < 2 or not all(one.has_logs and other.has_logs for one, other in pairs):
        return None
    if enough_sessions(*(cell for pair in pairs for cell in pair)):
        pairs = [(_one_a_session(one), _one_a_session(other)) for one, other in pairs]
        in_blocks = (True, True)
    changes = np.array([np.log(c.array).mean() - np.log(b.array).mean() for b, c in pairs])
    sides = [
        _side([pair[side] for pair in pairs], in_blocks=blocked)
        for side, blocked in enumerate(in_blocks)
    ]
    return OverCells(
        cells=len(pairs),
        geometric_pct=pct_of(float(changes.mean())),
        ci_pct=_between(sides[0], sides[1], float(changes.mean()), criteria.alpha),
        sample_ci_pct=_of_sample(changes, criteria.alpha),
        low_pct=pct_of(float(changes.min())),
        high_pct=pct_of(float(changes.max())),
    )


def _one_a_session(cell: CellRuns) -> CellRuns:
    """Return one value per session, the geometric mean of its runs."""
    means = [float(np.exp(each.mean())) for each in by_session(cell)]
    return CellRuns(values=means, blocks=sorted(set(cell.sessions)))


def _side(cells: Sequence[CellRuns], *, in_blocks: bool) -> _Side | None:
    """Sum the variances of independent parts: cells, or groups of cells that share blocks."""
    groups = _sharing_blocks(cells) if in_blocks else [[cell] for cell in cells]
    parts = [_of_group(group) for group in groups]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    shares = [(len(group) / len(cells)) ** 2 for group in groups]
    variances = [share * part.variance for share, part in zip(shares, known, strict=True)]
    rest = sum(each**2 / part.df for each, part in zip(variances, known, strict=True))
    total = sum(variances)
    return _Side(total, total**2 / rest if rest else sum(part.df for part in known))


def _sharing_blocks(cells: Sequence[CellRuns]) -> list[list[CellRuns]]:
    """Group cells whose runs are in the same blocks: the strata of pairs, or all of them."""
    groups: list[tuple[set[int], list[CellRuns]]] = []
    for cell in cells:
        near = [group for group in groups if group[0] & set(cell.blocks)]
        groups = [group for group in groups if group not in near]
        blocks = set(cell.blocks).union(*(group[0] for group in near))
        groups.append((blocks, [*(each for group in near for each in group[1]), cell]))
    return [members for _, members in groups]


def _of_group(cells: Sequence[CellRuns]) -> _Side | None:
    """Treat the blocks of a group, or the runs of a single cell, as independent.

    With every cell in every block it is the variance of the blocks' means; with holes each block
    counts as far as it carries the mean (the sandwich of clustered residuals).
    """
    carried: dict[int, float] = {}
    for cell in cells:
        logs = np.log(cell.array)
        own = (logs - logs.mean()) / (logs.size * len(cells))
        places = cell.blocks if len(cells) > 1 else range(logs.size)
        for place, share in zip(places, own, strict=True):
            carried[place] = carried.get(place, 0.0) + float(share)
    n = len(carried)
    if n < 2 or any(len(cell.values) < 2 for cell in cells):
        return None
    return _Side(sum(share**2 for share in carried.values()) * n / (n - 1), n - 1)


def _between(
    baseline: _Side | None, candidate: _Side | None, estimate: float, alpha: float
) -> Interval | None:
    """Return Welch's interval around the mean change, with Satterthwaite's df."""
    if baseline is None or candidate is None:
        return None
    total = baseline.variance + candidate.variance
    rest = baseline.variance**2 / baseline.df + candidate.variance**2 / candidate.df
    df = total**2 / rest if rest else baseline.df + candidate.df
    error = total**0.5 if total**0.5 >= NO_NOISE else 0.0
    bounds = interval_of(Contrast(estimate, error, df, 0), alpha)
    return Interval(pct_of(bounds.low), pct_of(bounds.high))


def _of_sample(changes: NDArray[np.float64], alpha: float) -> Interval:
    error = float(changes.std(ddof=1)) / changes.size**0.5
    half = student.quantile(1 - alpha / 2, changes.size - 1) * error
    mean = float(changes.mean())
    return Interval(pct_of(mean - half), pct_of(mean + half))
