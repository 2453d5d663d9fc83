"""Residuals of the block model in the order of the runs, and their autocorrelation. Pure."""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

SINGULAR = 1e-10
"""A part of the largest eigenvalue that counts as 0: cells that no block connects."""


def expected_correlation(*groupings: Sequence[int]) -> float:
    """Return the lag-1 correlation that residuals of independent noise have around such a model.

    groupings: the cell of each run in the order of time, and its block where blocks are fitted, too;
    numbers from 0, or any others. 0 where the model leaves no residuals.
    """
    model = _Model(groupings)
    left = len(model.block) - float(model.own().sum())
    return -float(model.shared().sum()) / left if left > 0.5 else 0.0


def left_of(values: Sequence[float], *groupings: Sequence[int]) -> tuple[NDArray[np.float64], int]:
    """Take the means of cells (and blocks) away from any series of the runs; also give the df left."""
    model = _Model(groupings)
    series = np.array(values, dtype=float)
    return model.left_of(series), series.size - round(float(model.own().sum()))


class _Model:
    """The projection on cells and blocks: the mean of the block, and the effects of cells beyond that.

    No matrix is larger than cells by blocks, of which there may be hundreds and thousands.
    """

    def __init__(self, groupings: Sequence[Sequence[int]]) -> None:
        first, last = groupings[0], groupings[-1]
        self.block = np.unique(np.array(last), return_inverse=True)[1]
        self.cell = np.unique(np.array(first), return_inverse=True)[1]
        self.shares = 1 / np.bincount(self.block)
        cells = np.diag(np.bincount(self.cell).astype(float))
        ones, shape = np.ones(self.block.size), (self.shares.size, len(cells))
        table = scipy.sparse.coo_array((ones, (self.block, self.cell)), shape).tocsr()
        self.means = (table * self.shares[:, None]).tocsr()
        if len(groupings) == 1:
            self.inverse = np.zeros_like(cells)
        else:
            beyond = cells - (table.T @ self.means).toarray()
            self.inverse = np.linalg.pinv(beyond, rcond=SINGULAR, hermitian=True)
        self.weighted = np.asarray(self.means @ self.inverse)

    def own(self) -> NDArray[np.float64]:
        """The diagonal of the projection."""
        every = np.arange(self.block.size)
        return self._between(every, every)

    def shared(self) -> NDArray[np.float64]:
        """Return the elements next to the diagonal: of each run with the next one."""
        every = np.arange(self.block.size)
        return self._between(every[:-1], every[1:])

    def left_of(self, series: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take away what is projected."""
        means = np.bincount(self.block, series) * self.shares
        beyond = np.bincount(self.cell, series - means[self.block])
        effects = self.inverse @ beyond
        return np.asarray(
            series - means[self.block] - effects[self.cell] + (self.means @ effects)[self.block]
        )

    def _between(self, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Elements of the projection, of two runs each."""
        block, cell = self.block[some], self.cell[some]
        other_block, other_cell = self.block[others], self.cell[others]
        pairs = block * self.shares.size + other_block
        result, place = np.unique(pairs, return_inverse=True)
        one, other = np.divmod(result, self.shares.size)
        of_blocks = (self.means[one] * self.weighted[other]).sum(axis=1)
        return np.asarray(
            np.where(block == other_block, self.shares[block], 0.0)
            + self.inverse[cell, other_cell]
            - self.weighted[block, other_cell]
            - self.weighted[other_block, cell]
            + np.asarray(of_blocks).ravel()[place]
        )
