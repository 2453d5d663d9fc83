"""Whether the effect of one factor depends on another: an F test of additivity. Pure.

Cells stand in a table of rows and columns. Where the log means are a row's part plus a column's part,
a change of the column changes every row by the same ratio; all that is left beside that is
interaction (Scheffé, The Analysis of Variance, 1959, chapter 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.stats import f as f_distribution

from campaigns.stats.fit import Fit


@dataclass(frozen=True, slots=True)
class Interaction:
    """df: of the contrasts that additivity leaves no room for. noise_df: of the noise."""

    f: float
    df: int
    noise_df: int
    p: float


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
    contrasts = null_space(design.T).T
    df = contrasts.shape[0]
    if df == 0:
        return None
    found = contrasts @ fit.means[chosen]
    covariance = contrasts @ fit.covariance[np.ix_(chosen, chosen)] @ contrasts.T
    statistic = float(found @ np.linalg.solve(covariance, found)) / df / fit.sd**2
    return Interaction(statistic, df, fit.df, float(f_distribution.sf(statistic, df, fit.df)))


def _indicators(labels: Sequence[int]) -> NDArray[np.float64]:
    """One column a label, 1 where a cell has it; shape (cells, labels)."""
    known = np.unique(np.asarray(labels))
    found: NDArray[np.float64] = np.eye(known.size)[np.searchsorted(known, labels)]
    return found
