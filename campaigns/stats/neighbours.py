"""What a model of cells and blocks leaves of a series, and how alike neighbours in it then are. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def expected_correlation(*groupings: Sequence[int]) -> float:
    """Give the lag-1 correlation that residuals of independent noise have around such a model.

    groupings: the cell of each run in the order of time, and its block where blocks are fitted, too;
    numbers from 0, or any others. 0 where the model leaves no residuals.
    """
    members, inverse = _model(groupings)
    own = inverse[members[:, :, None], members[:, None, :]].sum(axis=(1, 2))
    shared = inverse[members[:-1, :, None], members[1:, None, :]].sum(axis=(1, 2))
    left = len(members) - float(own.sum())
    return -float(shared.sum()) / left if left > 0.5 else 0.0


def left_of(values: Sequence[float], *groupings: Sequence[int]) -> tuple[NDArray[np.float64], int]:
    """Take the means of cells (and blocks) away from any series of the runs; also give the df left."""
    members, inverse = _model(groupings)
    series = np.array(values, dtype=float)
    totals = sum(np.bincount(one, series, len(inverse)) for one in members.T)
    fitted = (inverse @ totals)[members].sum(axis=1)
    own = inverse[members[:, :, None], members[:, None, :]].sum()
    return series - fitted, series.size - round(float(own))


def _model(
    groupings: Sequence[Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Columns that each run belongs to, shape (n, groupings), and the inverse of their products."""
    columns, size = [], 0
    for grouping in groupings:
        numbers, places = np.unique(np.array(grouping, dtype=np.int64), return_inverse=True)
        columns.append(places + size)
        size += numbers.size
    members = np.column_stack(columns)
    gram = np.zeros((size, size))
    for one in members.T:
        for other in members.T:
            np.add.at(gram, (one, other), 1.0)
    return np.asarray(members, dtype=np.int64), np.asarray(np.linalg.pinv(gram, hermitian=True))
