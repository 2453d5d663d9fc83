"""Bootstraps of a whole campaign: resampled logs, run by run. Pure. STATISTICS 2.2b, 3.3.

Never a single run out of its block: with fewer than 12 blocks the residuals of the block model are
resampled, with 12 or more whole blocks; without blocks pooled residuals, or runs within their level
where it has five or more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.blocks import BlockFit, BlockRun

WHOLE_BLOCKS = 12
FEW_BLOCKS = 5
"""With fewer draws the interval of a bootstrap is rough."""
WITHIN_LEVEL = 5


@dataclass(frozen=True, slots=True)
class Draw:
    """One resample: the cell of each run, and the log of its value; both of shape (n,)."""

    cells: NDArray[np.int64]
    logs: NDArray[np.float64]

    def means(self, count: int) -> NDArray[np.float64]:
        """Return the mean log of each of `count` cells."""
        totals = np.bincount(self.cells, self.logs, count)
        return np.asarray(totals / np.bincount(self.cells, minlength=count))


@dataclass(frozen=True, slots=True)
class Residuals:
    """Draws residuals around what was fitted; the effects of blocks too, where there are any."""

    cells: NDArray[np.int64]
    blocks: NDArray[np.int64]
    means: NDArray[np.float64]
    effects: NDArray[np.float64]
    residuals: NDArray[np.float64]
    rough: bool

    def draws(self, count: int, seed: int) -> Iterator[Draw]:
        """Yield `count` draws, of the same cells and blocks with the same holes."""
        rng = np.random.default_rng(seed)
        fitted = self.means[self.cells]
        for _ in range(count):
            noise = rng.choice(self.residuals, self.cells.size)
            blocks = rng.choice(self.effects, self.effects.size)
            yield Draw(self.cells, fitted + blocks[self.blocks] + noise)


@dataclass(frozen=True, slots=True)
class WholeBlocks:
    """Draws blocks with all their runs."""

    means: NDArray[np.float64]
    blocks: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...]
    rough: bool = False

    def draws(self, count: int, seed: int) -> Iterator[Draw]:
        """Yield `count` draws in which every cell has a run."""
        rng = np.random.default_rng(seed)
        value = 0
        while value < count:
            chosen = [self.blocks[i] for i in rng.integers(len(self.blocks), size=len(self.blocks))]
            cells = np.concatenate([block[0] for block in chosen])
            if not np.bincount(cells, minlength=self.means.size).all():
                continue
            deviations = np.concatenate([block[1] for block in chosen])
            value += 1
            yield Draw(cells, self.means[cells] + deviations)


@dataclass(frozen=True, slots=True)
class WithinLevels:
    """Draws the runs of each level from that level, their deviations stretched as those of blocks."""

    levels: tuple[NDArray[np.float64], ...]
    rough: bool = False

    def draws(self, count: int, seed: int) -> Iterator[Draw]:
        """Yield `count` draws with as many runs of each level."""
        rng = np.random.default_rng(seed)
        sizes = np.array([level.size for level in self.levels])
        cells, values = np.repeat(np.arange(sizes.size), sizes), np.concatenate(self.levels)
        first, width = np.repeat(np.cumsum(sizes) - sizes, sizes), np.repeat(sizes, sizes)
        for _ in range(count):
            yield Draw(cells, values[first + (rng.random(cells.size) * width).astype(np.int64)])


Resampler = Residuals | WholeBlocks | WithinLevels
"""Draws from one campaign; equal seeds give equal draws."""


def of_blocks(block_fit: BlockFit, runs: Sequence[BlockRun]) -> Resampler:
    """Resample an interleaved campaign; `runs` are those that were fitted, in the same order."""
    cells = np.array([run.cell for run in runs])
    places = {number: place for place, number in enumerate(block_fit.blocks)}
    blocks = np.array([places[run.block] for run in runs])
    n, fit = len(block_fit.blocks), block_fit.fit
    stretch = np.sqrt(n / (n - 1)) if n > 1 else 1.0
    if n < WHOLE_BLOCKS:
        inflate = np.sqrt(len(runs) / fit.df) if fit.df else 1.0
        return Residuals(
            cells=cells,
            blocks=blocks,
            means=fit.means,
            effects=block_fit.effects * stretch,
            residuals=block_fit.residuals * inflate,
            rough=n < FEW_BLOCKS,
        )
    deviations = stretch * (block_fit.residuals + block_fit.effects[blocks])
    members = [np.flatnonzero(blocks == place) for place in range(n)]
    return WholeBlocks(fit.means, tuple((cells[rows], deviations[rows]) for rows in members))


def of_levels(levels: Sequence[NDArray[np.float64]]) -> Resampler:
    """Resample a campaign without blocks; `levels`: the logs of each level's values."""
    if all(level.size >= WITHIN_LEVEL for level in levels):
        return WithinLevels(tuple(level.mean() + _stretched(level) for level in levels))
    means = np.array([level.mean() for level in levels])
    residuals = np.concatenate(
        [_stretched(level) for level in levels if level.size > 1] or [np.zeros(1)]
    )
    cells = np.repeat(np.arange(len(levels)), [level.size for level in levels])
    return Residuals(
        cells=cells,
        blocks=np.zeros_like(cells),
        means=means,
        effects=np.zeros(1),
        residuals=residuals,
        rough=min(level.size for level in levels) < FEW_BLOCKS,
    )


def _stretched(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return deviations scaled to the noise: around its own mean a sample varies less."""
    return np.asarray((level - level.mean()) * np.sqrt(level.size / (level.size - 1)))
