"""Cells of different campaigns: nothing pairs their runs, and no block holds both. Pure.

Each cell is compared by its own noise (Welch on logs, STATISTICS 2.2), and one session a side never
confirms (2.7). Over several cells there is one number (2.5), whose noise is counted over blocks
where runs were made in blocks: cells of a block share what the hour did to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.cells import CellRuns
from campaigns.stats.criteria import Criteria
from campaigns.stats.fit import NO_NOISE
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.pooled import welch
from campaigns.stats.verdict import Contrast, Verdict, interval_of, judge

FEWEST_SESSIONS = 3
"""On either side, for an interval between sessions that may confirm."""


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
        """Whether every cell changed in the same direction."""
        return self.low_pct >= 0 or self.high_pct <= 0


@dataclass(frozen=True, slots=True)
class _Side:
    """Of the mean of the logs over cells: its variance, with so many degrees of freedom."""

    variance: float
    df: float


DEFAULT = Criteria()


def over_sessions(
    baseline: Sequence[NDArray[np.float64]],
    candidate: Sequence[NDArray[np.float64]],
    *,
    lower_is_better: bool,
    criteria: Criteria = DEFAULT,
) -> Verdict | None:
    """Judge with a session as the unit; values of each session, all above 0.

    None with fewer than FEWEST_SESSIONS on a side: nobody knows then how much sessions differ.
    """
    if min(len(baseline), len(candidate)) < FEWEST_SESSIONS:
        return None
    sides = [np.array([np.log(each).mean() for each in side]) for side in (baseline, candidate)]
    contrast = welch(*sides)
    if contrast is None:
        return None
    return judge(contrast, lower_is_better=lower_is_better, criteria=criteria)


def over_cells(
    pairs: Sequence[tuple[CellRuns, CellRuns]],
    *,
    in_blocks: tuple[bool, bool],
    criteria: Criteria = DEFAULT,
) -> OverCells | None:
    """Read two cells or more as one number; None with fewer, or where one has no value above 0.

    pairs: baseline and candidate. in_blocks: whether each side was measured in blocks of several cells.
    """
    if len(pairs) < 2 or not all(one.has_logs and other.has_logs for one, other in pairs):
        return None
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


def _side(cells: Sequence[CellRuns], *, in_blocks: bool) -> _Side | None:
    """Add up what is independent: cells, or groups of cells that share blocks."""
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
    """Group cells whose runs stand in the same blocks: the strata of pairs, or all of them."""
    groups: list[tuple[set[int], list[CellRuns]]] = []
    for cell in cells:
        near = [group for group in groups if group[0] & set(cell.blocks)]
        groups = [group for group in groups if group not in near]
        blocks = set(cell.blocks).union(*(group[0] for group in near))
        groups.append((blocks, [*(each for group in near for each in group[1]), cell]))
    return [members for _, members in groups]


def _of_group(cells: Sequence[CellRuns]) -> _Side | None:
    """Take the blocks of a group, or the runs of a single cell, as what is independent.

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
    """Welch's interval around the mean change; Satterthwaite's df."""
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
