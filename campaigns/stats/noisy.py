"""Detect cells with more noise than the others. Pure.

Under equal noise the sum of squares that a cell adds to a model, over what the model leaves of the
others, has an F distribution: exactly so for cells with a noise of their own, and for blocks. Of several
cells the largest is Cochran's test (1941); a cell beyond its point leaves the pool, its comparisons rest on its own
noise, and the test is made again. With three runs a cell it misses one in six of the cells that are eight times as noisy:
three runs do not show how noisy a cell is. A test of each cell by itself finds more of them, and costs a quarter of the
power where noise is equal. `bench/unequal_noise.py` is where the share comes from.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.log_means import NO_NOISE, Fit
from campaigns.stats.verdict import Contrast

OUT = 0.02
"""Share of campaigns with equal noise in which some cell leaves the pool (by Bonferroni)."""
FEWEST_CELLS, FEWEST_LEFT = 3, 4
SINGULAR = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """What a model of some cells leaves: sum of squares, df; and how much of both each cell adds."""

    squares: float
    df: int
    own: NDArray[np.float64]
    own_df: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """Contrasts of one cell with every cell by their own noise, shape (J,); df 0 where there is none."""

    estimate: NDArray[np.float64]
    error: NDArray[np.float64]
    df: NDArray[np.float64]
    n: NDArray[np.int64]


Left = Callable[[Sequence[int]], Spread]
Own = Callable[[int], Alone]


def noisy_cells(left: Left, cells: int) -> frozenset[int]:
    """Return the places of the cells that leave the pool, the noisiest first.

    None among fewer than three cells, and none where the others would be left with fewer than `FEWEST_LEFT` degrees of freedom.
    """
    quiet = list(range(cells))
    out: set[int] = set()
    while len(quiet) >= FEWEST_CELLS:
        spread = left(quiet)
        tails = _tails(spread)
        worst = int(tails.argmin())
        few = spread.df - spread.own_df[worst] < FEWEST_LEFT
        if few or tails[worst] * len(quiet) >= OUT:
            break
        out.add(quiet.pop(worst))
    return frozenset(out)


def left_of_cells(logs: Sequence[NDArray[np.float64]]) -> Left:
    """Of cells around their means."""
    squares = np.array([float(np.square(values - values.mean()).sum()) for values in logs])
    df = np.array([values.size - 1 for values in logs])

    def left(chosen: Sequence[int]) -> Spread:
        own, own_df = squares[list(chosen)], df[list(chosen)]
        return Spread(float(own.sum()), int(own_df.sum()), own, own_df)

    return left


def left_of_blocks(runs: Sequence[BlockRun], block_fit: BlockFit) -> Left:
    """Of the block model, fitted to those cells alone."""
    table = _table(runs, block_fit)

    def left(chosen: Sequence[int]) -> Spread:
        part = table[list(chosen)]
        return _of_complete(part) if block_fit.fit.complete else _of_incomplete(part)

    return left


def own_of_cells(logs: Sequence[NDArray[np.float64]]) -> Own:
    """By Welch's test."""
    sizes = np.array([values.size for values in logs])
    means = np.array([values.mean() for values in logs])
    parts = np.array(
        [values.var(ddof=1) / values.size if values.size > 1 else 0.0 for values in logs]
    )

    def own(cell: int) -> Alone:
        total = parts + parts[cell]
        rest = parts**2 / np.maximum(sizes - 1, 1) + parts[cell] ** 2 / max(1, sizes[cell] - 1)
        known = (sizes > 1) & (sizes[cell] > 1)
        df = np.where(rest > 0, total**2 / np.where(rest > 0, rest, 1), sizes + sizes[cell] - 2)
        return Alone(
            means - means[cell],
            np.sqrt(total),
            np.where(known, df, 0.0),
            np.minimum(sizes, sizes[cell]),
        )

    return own


def own_of_blocks(table: NDArray[np.float64]) -> Own:
    """By the paired t test of two cells; `table`: logs by cell and block, NaN where there is none."""

    def own(cell: int) -> Alone:
        differences = table - table[cell]
        known = ~np.isnan(differences)
        n = known.sum(axis=1)
        mean = np.where(known, differences, 0).sum(axis=1) / np.maximum(n, 1)
        beside = np.where(known, differences - mean[:, None], 0)
        sd = np.sqrt(np.square(beside).sum(axis=1) / np.maximum(n - 1, 1))
        error = np.where(sd >= NO_NOISE, sd, 0) / np.sqrt(np.maximum(n, 1))
        return Alone(mean, error, np.maximum(n - 1, 0).astype(float), n)

    return own


def cells_apart(fit: Fit, quiet: Fit, out: frozenset[int], own: Own) -> Fit:
    """Return the noise of quiet cells to them alone; `own` compares the others."""
    inside = [cell for cell in range(fit.means.size) if cell not in out]
    covariance = np.diag(np.diag(fit.covariance))
    covariance[np.ix_(inside, inside)] = quiet.covariance
    fit = replace(fit, sd=quiet.sd, df=quiet.df, covariance=covariance)
    return replace(fit, own=_own_contrasts(fit, out, own), out=out)


def blocks_apart(
    runs: Sequence[BlockRun], block_fit: BlockFit
) -> tuple[BlockFit, frozenset[int]] | None:
    """Fit the quiet cells by themselves. None where nothing but a noisy cell connects some of them."""
    out = noisy_cells(left_of_blocks(runs, block_fit), block_fit.fit.means.size)
    if not out:
        return block_fit, out
    table = _table(runs, block_fit)
    own = own_of_blocks(table)
    inside = [cell for cell in range(len(table)) if cell not in out]
    quiet = _fit_of(runs, inside)
    if quiet is None or np.unique(quiet.fit.groups).size > np.unique(block_fit.fit.groups).size:
        return None
    means = block_fit.fit.means.copy()
    means[inside] = quiet.fit.means
    effects = np.full(len(block_fit.blocks), np.nan)
    effects[np.searchsorted(block_fit.blocks, quiet.blocks)] = quiet.effects
    for cell in out:
        known = (table[cell] - effects)[~np.isnan(table[cell] - effects)]
        means[cell] = known.mean() if known.size else means[cell]
    fit = cells_apart(replace(block_fit.fit, means=means), quiet.fit, out, own)
    return replace(block_fit, fit=fit), out


def paired(differences: NDArray[np.float64]) -> Contrast | None:
    """The paired t test of the two cells alone; None with fewer than two common blocks."""
    n = differences.size
    if n < 2:
        return None
    sd = float(differences.std(ddof=1))
    return Contrast(float(differences.mean()), (sd if sd >= NO_NOISE else 0.0) / n**0.5, n - 1, n)


def _tails(spread: Spread) -> NDArray[np.float64]:
    """The tail of each cell's F against the others; 1 where it has none."""
    rest, rest_df = spread.squares - spread.own, spread.df - spread.own_df
    known = (spread.own_df >= 1) & (rest_df >= 1) & (rest > NO_NOISE**2 * rest_df)
    safe = np.where(known, rest, 1.0) * np.maximum(spread.own_df, 1)
    ratio = spread.own * np.maximum(rest_df, 1) / safe
    tails = scipy.special.fdtrc(np.maximum(spread.own_df, 1), np.maximum(rest_df, 1), ratio)
    return np.where(known, tails, 1.0)


def _of_complete(part: NDArray[np.float64]) -> Spread:
    cells, blocks = part.shape
    beside = part - part.mean(axis=0)
    squares = np.square(beside - beside.mean(axis=1, keepdims=True)).sum(axis=1)
    freedom = np.full(cells, blocks - 1)
    own = squares * cells / (cells - 1)
    return Spread(float(squares.sum()), (cells - 1) * (blocks - 1), own, freedom)


def _of_incomplete(part: NDArray[np.float64]) -> Spread:
    """By what least squares lose with the runs of a cell: e' M^+ e, M their part of I - H."""
    held = ~np.isnan(part)
    counts = held.sum(axis=0)
    shares = np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
    logs = np.where(held, part, 0.0)
    centred = np.where(held, logs - (logs.sum(axis=0) * shares), 0.0)
    reduced = np.diag(held.sum(axis=1).astype(float)) - (held * shares) @ held.T
    inverse = np.linalg.pinv(reduced, rcond=SINGULAR, hermitian=True)
    effects = inverse @ centred.sum(axis=1)
    fitted = np.where(held, effects[:, None], 0.0)
    left = np.where(held, centred - (effects[:, None] - fitted.sum(axis=0) * shares), 0.0)
    own, own_df = np.zeros(len(part)), np.zeros(len(part), dtype=np.int64)
    for cell in range(len(part)):
        at = np.flatnonzero(held[cell])
        of_run = -(held[:, at] * shares[at]).T
        of_run[:, cell] += 1
        remaining = np.diag(1 - shares[at]) - of_run @ inverse @ of_run.T
        values, vectors = np.linalg.eigh(remaining)
        real = values > SINGULAR
        own_df[cell] = int(real.sum())
        own[cell] = float((np.square(left[cell, at] @ vectors[:, real]) / values[real]).sum())
    squares = float(np.square(left).sum())
    rank = int(np.linalg.matrix_rank(reduced, tol=SINGULAR * max(1.0, float(counts.sum()))))
    return Spread(squares, int(held.sum() - (counts > 0).sum()) - rank, own, own_df)


def _own_contrasts(fit: Fit, out: frozenset[int], own: Own) -> dict[tuple[int, int], Contrast]:
    """By pairs of places, the smaller one first."""
    result = {}
    places = np.arange(fit.means.size)
    for cell in sorted(out):
        alone = own(cell)
        known = (alone.df > 0) & (fit.groups == fit.groups[cell]) & (places != cell)
        for other in np.flatnonzero(known).tolist():
            sign = 1 if other > cell else -1
            result[min(cell, other), max(cell, other)] = Contrast(
                sign * float(alone.estimate[other]),
                float(alone.error[other]),
                float(alone.df[other]),
                int(alone.n[other]),
            )
    return result


def _table(runs: Sequence[BlockRun], block_fit: BlockFit) -> NDArray[np.float64]:
    """Logs by cell and block, NaN where there is none."""
    table = np.full((block_fit.fit.means.size, len(block_fit.blocks)), np.nan)
    column = {number: place for place, number in enumerate(block_fit.blocks)}
    for run in runs:
        table[run.cell, column[run.block]] = math.log(run.value)
    return table


def _fit_of(runs: Sequence[BlockRun], chosen: Sequence[int]) -> BlockFit | None:
    place = {cell: number for number, cell in enumerate(chosen)}
    part = [replace(run, cell=place[run.cell]) for run in runs if run.cell in place]
    return fit_blocks(part, len(chosen))
