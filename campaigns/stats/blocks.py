"""The block model of interleaved campaigns: ln y = cell + block + e, by least squares. Pure.

Blocks are fixed effects, so drift of the target from block to block leaves the comparison of cells
alone. STATISTICS 2.2b; Montgomery, Design and Analysis of Experiments, randomised complete blocks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from campaigns.stats.fit import NO_NOISE, Fit


@dataclass(frozen=True, slots=True)
class BlockRun:
    """One run: its cell (0 .. J-1), the number of its block, and its value above 0."""

    cell: int
    block: int
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class BlockFit:
    """The fit, and what only blocks tell.

    blocks: their numbers, ascending; effects: of those on the logs, around 0. residuals: of the runs,
    in the order given. block_sd: of the logs, between blocks. rank: of the design.
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
    """Fit the model to the runs; every cell 0 .. `cells` - 1 has one at least. None without runs.

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
    design = _Design(cell, block, cells, numbers.size)
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


class _Design:
    """Dummies of cells and blocks; the effects of the blocks of each group sum to 0."""

    def __init__(
        self, cell: NDArray[np.int64], block: NDArray[np.int64], cells: int, blocks: int
    ) -> None:
        self.cell, self.column, self.cells = cell, cells + block, cells
        size = cells + blocks
        table = np.zeros((cells, blocks))
        np.add.at(table, (cell, block), 1)
        self.complete = bool((table == 1).all())
        gram = np.diag(np.concatenate([table.sum(axis=1), table.sum(axis=0)]))
        gram[:cells, cells:], gram[cells:, :cells] = table, table.T
        number, labels = connected_components(gram, directed=False)
        self.groups = np.asarray(labels, dtype=np.int64)
        self.rank = size - int(number)
        self.gram = gram
        sums = np.zeros((size, int(number)))
        sums[np.arange(cells, size), self.groups[cells:]] = 1
        self.inverse = np.linalg.inv(gram + sums @ sums.T)

    def solve(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the effects of cells, then of blocks."""
        size = len(self.gram)
        totals = np.bincount(self.cell, logs, size) + np.bincount(self.column, logs, size)
        return np.asarray(self.inverse @ totals)

    def covariance(self) -> NDArray[np.float64]:
        """Of the cells' effects, in units of the noise's variance."""
        rows = self.inverse[: self.cells]
        return np.asarray(rows @ self.gram @ rows.T)


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
    """Relative efficiency of blocks: how many times the runs it would have taken without them."""
    n = effects.size
    if n < 2 or cells < 2 or sd == 0:
        return None
    between = cells * float(effects @ effects) / (n - 1)
    within = sd**2
    return ((n - 1) * between + n * (cells - 1) * within) / ((n * cells - 1) * within)
