"""Improvement over a baseline, cell by cell, in % and positive when better. Pure. STATISTICS 5."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.cell_states import CellState
from campaigns.stats.comparison_cells import CellRuns, too_many_failures
from campaigns.stats.criteria import Criteria
from campaigns.stats.log_means import Fit
from campaigns.stats.units import Number, Probability, WholeDegrees

TIE_POINTS = 2.0
"""Published figures are whole numbers: two points apart is a tie."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The cells with a number, by their places, the cheapest setting first.

    best: all with the largest improvement. ties: within the tolerance of it. recommended: the first
    of those; None where no cell has a number. top: the two best places, in order of cost.
    regressions: worse than the baseline.
    """

    best: tuple[int, ...]
    ties: tuple[int, ...]
    recommended: int | None
    top: tuple[int, ...]
    regressions: tuple[int, ...]


def improvement_pct(ratio: float, *, lower_is_better: bool) -> float:
    """Turn candidate / baseline into an improvement in %."""
    return 100 * (1 - ratio) if lower_is_better else 100 * (ratio - 1)


def ratio_of_improvement(pct: float, *, lower_is_better: bool) -> float:
    """Undo `improvement_pct`."""
    return 1 - pct / 100 if lower_is_better else 1 + pct / 100


def compose(percentages: Sequence[float], *, lower_is_better: bool) -> float:
    """Improve one after the other; percentages compose by ratios, points never add up."""
    ratios = (ratio_of_improvement(pct, lower_is_better=lower_is_better) for pct in percentages)
    return improvement_pct(prod(ratios), lower_is_better=lower_is_better)


def state_of(cell: CellRuns, criteria: Criteria, *, is_baseline: bool = False) -> CellState:
    """Return whether a number may be made of a cell: none is made from the survivors of a failing one."""
    if too_many_failures(cell, criteria):
        return CellState.TOO_MANY_FAILURES
    if not cell.values:
        return CellState.MISSING
    if is_baseline:
        return CellState.BASELINE
    if cell.failed or sum(cell.failed_units):
        return CellState.WARN
    return CellState.OK


def rank(improvements: Sequence[float | None], *, points: float = TIE_POINTS) -> Ranking:
    """Rank cells by their improvement in %; None is a cell without a number."""
    known = {place: value for place, value in enumerate(improvements) if value is not None}
    if not known:
        return Ranking((), (), None, (), ())
    largest = max(known.values())
    ties = tuple(place for place, value in known.items() if value >= largest - points - 1e-9)
    top = sorted(known, key=lambda place: (-known[place], place))[:2]
    return Ranking(
        best=tuple(place for place, value in known.items() if value == largest),
        ties=ties,
        recommended=ties[0],
        top=tuple(sorted(top)),
        regressions=tuple(place for place, value in known.items() if value < 0),
    )


@dataclass(frozen=True, slots=True)
class Interaction:
    """df: of the contrasts that additivity leaves no room for. noise_df: of the noise."""

    f: Number
    df: WholeDegrees
    noise_df: WholeDegrees
    p: Probability


# Cells stand in a table of rows and columns. Where the log means are a row's part plus a column's part,
# a change of the column changes every row by the same ratio; all that remains is
# interaction (Scheffé, The Analysis of Variance, 1959, chapter 4).
def find_interaction(
    fit: Fit, rows: Sequence[int], columns: Sequence[int], *, places: Sequence[int]
) -> Interaction | None:
    """Test the cells at `places` of the fit, the i-th standing in row rows[i] and column columns[i].

    None where nothing is left to test (no two rows share two columns), where cells are not
    connected, where there is no noise to test against, and where a cell is too noisy for that of the others.
    """
    chosen = list(places)
    if len(chosen) < 4 or fit.df < 1 or fit.sd == 0:
        return None
    if fit.out & {*chosen}:
        return None
    if (fit.groups[chosen] != fit.groups[chosen[0]]).any():
        return None
    design = np.hstack([_indicators(rows), _indicators(columns)])
    contrasts = scipy.linalg.null_space(design.T).T
    df = contrasts.shape[0]
    if df == 0:
        return None
    result = contrasts @ fit.means[chosen]
    covariance = contrasts @ fit.covariance[np.ix_(chosen, chosen)] @ contrasts.T
    statistic = float(result @ np.linalg.solve(covariance, result)) / df / fit.sd**2
    return Interaction(statistic, df, fit.df, float(scipy.stats.f.sf(statistic, df, fit.df)))


def _indicators(labels: Sequence[int]) -> NDArray[np.float64]:
    """One column a label, 1 where a cell has it; shape (cells, labels)."""
    known = np.unique(np.asarray(labels))
    result: NDArray[np.float64] = np.eye(known.size)[np.searchsorted(known, labels)]
    return result
