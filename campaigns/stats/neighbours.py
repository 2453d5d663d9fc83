"""How alike neighbours are by construction, once means of cells and blocks are taken away. Pure."""

from collections.abc import Sequence

import numpy as np


def expected_correlation(*groupings: Sequence[int]) -> float:
    """Give the lag-1 correlation that residuals of independent noise have around such a model.

    groupings: the cell of each run in the order of time, and its block where blocks are fitted, too;
    numbers from 0, or any others. 0 where the model leaves no residuals.
    """
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
    inverse = np.linalg.pinv(gram, hermitian=True)
    own = inverse[members[:, :, None], members[:, None, :]].sum(axis=(1, 2))
    shared = inverse[members[:-1, :, None], members[1:, None, :]].sum(axis=(1, 2))
    left = len(members) - float(own.sum())
    return -float(shared.sum()) / left if left > 0.5 else 0.0
