"""The block model of interleaved campaigns: ln y = cell + block + e, by least squares. Pure.

Blocks are fixed effects, so drift of the target from block to block leaves the comparison of cells
alone. STATISTICS 2.2b; Montgomery, Design and Analysis of Experiments, randomised complete blocks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.log_means import NO_NOISE, Fit

MOST_KEPT = 64
"""Cells and blocks of a design that is kept: of more, its tables would take megabytes."""


@dataclass(frozen=True, slots=True)
class BlockRun:
    """One run: its cell (0 .. J-1), the number of its block, and its value above 0."""

    cell: int
    block: int
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class BlockFit:
    """The fit, with estimates that only blocks allow.

    blocks: their numbers, ascending; effects: of those on the logs, around 0. residuals: of the runs,
    in their order. block_sd: of the logs, between blocks. rank: of the design.
    efficiency: how many times the runs it would have taken without blocks; None unless complete.
    """

    fit: Fit
    blocks: tuple[int, ...]
    effects: NDArray[np.float64]
    residuals: NDArray[np.float64]
    block_sd: float
    rank: int
    efficiency: float | None


def fit_blocks(runs: Sequence[BlockRun], cells: int) -> BlockFit | None:
    """Fit the model to the runs; every cell 0 .. `cells` - 1 has at least one. None without runs.

    Raise ValueError for values that have no log: judge them before.
    """
    if not runs:
        return None
    values = np.array([run.value for run in runs], dtype=float)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("Every value has to be a number above 0.")
    logs = np.log(values)
    cell = np.array([run.cell for run in runs])
    numbers, block = np.unique([run.block for run in runs], return_inverse=True)
    if np.unique(cell).size != cells:
        raise ValueError("Every cell needs a run.")
    design = _design_of(cell, block, cells, numbers.size)
    solution = design.solve(logs)
    residuals = logs - solution[cell] - solution[cells + block]
    sse, df = float(residuals @ residuals), logs.size - design.rank
    sd = math.sqrt(sse / df) if df else 0.0
    sd = sd if sd >= NO_NOISE else 0.0
    effects = solution[cells:]
    return BlockFit(
        fit=Fit(
            means=solution[:cells],
            covariance=design.covariance(),
            sd=sd,
            df=df,
            groups=design.groups[:cells],
            n=np.bincount(design.groups[cells:])[design.groups[:cells]],
            complete=design.complete,
        ),
        blocks=tuple(int(number) for number in numbers),
        effects=effects,
        residuals=residuals if sd else np.zeros_like(residuals),
        block_sd=_between_blocks(logs, cell, sse, sd, design),
        rank=design.rank,
        efficiency=_efficiency(effects, cells, sd) if design.complete else None,
    )


def _design_of(
    cell: NDArray[np.int64], block: NDArray[np.int64], cells: int, blocks: int
) -> "_Design":
    """Return the design of these runs; small ones are kept, since many fits of an analysis share them."""
    if cells + blocks > MOST_KEPT:
        return _Design(cell, block, cells, blocks)
    return _kept_design(tuple(cell.tolist()), tuple(block.tolist()), cells, blocks)


@lru_cache(maxsize=256)
def _kept_design(cell: Sequence[int], block: Sequence[int], cells: int, blocks: int) -> "_Design":
    return _Design(np.array(cell), np.array(block), cells, blocks)


class _Design:
    """Return dummies of cells and blocks; the effects of the blocks of each group sum to 0.

    The blocks, of which there may be thousands, are eliminated: what is solved has the size of cells.
    """

    def __init__(
        self, cell: NDArray[np.int64], block: NDArray[np.int64], cells: int, blocks: int
    ) -> None:
        self.cell, self.block, self.cells, self.blocks = cell, block, cells, blocks
        self.table = scipy.sparse.coo_array(
            (np.ones(cell.size), (cell, block)), (cells, blocks)
        ).tocsr()
        self.complete = self.table.nnz == cells * blocks and bool((self.table.data == 1).all())
        links = scipy.sparse.coo_array(
            (np.ones(cell.size), (cell, cells + block)), (cells + blocks,) * 2
        )
        number, labels = scipy.sparse.csgraph.connected_components(links, directed=False)
        self.groups = np.asarray(labels, dtype=np.int64)
        self.rank = cells + blocks - int(number)
        self.shares = 1 / np.bincount(block, minlength=blocks)
        self.of_block = self.groups[cells:]
        self.weights = 1 / (1 + np.bincount(self.of_block, self.shares, int(number)))
        shared = self.table * self.shares
        self.sums = np.asarray(
            (
                shared
                @ scipy.sparse.coo_array((np.ones(blocks), (np.arange(blocks), self.of_block)))
            ).todense()
        )
        reduced = np.diag(np.bincount(cell, minlength=cells).astype(float))
        reduced -= np.asarray((shared @ self.table.T).todense())
        reduced += (self.sums * self.weights) @ self.sums.T
        self.inverse = np.linalg.inv(reduced)
        for table in (self.groups, self.inverse, self.sums):
            table.flags.writeable = False

    def solve(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the effects of cells, then of blocks."""
        of_cells = np.bincount(self.cell, logs, self.cells)
        of_blocks = np.bincount(self.block, logs, self.blocks).astype(np.float64)
        means = self.inverse @ (of_cells - self.table @ self._of_blocks(of_blocks))
        return np.concatenate([means, self._of_blocks(of_blocks - self.table.T @ means)])

    def covariance(self) -> NDArray[np.float64]:
        """Return the covariance of the cells' effects, in units of the noise's variance."""
        fixed = self.inverse @ (self.sums * self.weights)
        return np.asarray(self.inverse - fixed @ fixed.T)

    def _of_blocks(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Solve for the blocks alone (Sherman and Morrison, group by group)."""
        own = self.shares * totals
        common = self.weights * np.bincount(self.of_block, own, self.weights.size)
        return np.asarray(own - self.shares * common[self.of_block])


def _between_blocks(
    logs: NDArray[np.float64], cell: NDArray[np.int64], sse: float, sd: float, design: _Design
) -> float:
    """Estimate the sd between blocks from what they explain beyond the cells (Henderson's third)."""
    means = np.bincount(cell, logs) / np.bincount(cell)
    alone = float(np.square(logs - means[cell]).sum())
    runs = logs.size - design.cells
    if runs <= 0:
        return 0.0
    explained = alone - sse - (design.rank - design.cells) * sd**2
    return math.sqrt(max(0.0, explained / runs))


def _efficiency(effects: NDArray[np.float64], cells: int, sd: float) -> float | None:
    """Return the relative efficiency of blocks: how many times the runs would be needed without them."""
    n = effects.size
    if n < 2 or cells < 2 or sd == 0:
        return None
    between = cells * float(effects @ effects) / (n - 1)
    within = sd**2
    return ((n - 1) * between + n * (cells - 1) * within) / ((n * cells - 1) * within)
