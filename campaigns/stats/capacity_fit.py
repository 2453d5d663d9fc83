"""The log values of runs over loads: their block model, rising means, and the band of the level. Pure.

A level between two loads is g'a, with a the adjusted log means of the loads. It is an absolute level, so the noise of
blocks counts beside that within them. CAPACITY 2.2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.noisy import blocks_apart

EQUAL = 1e-12
"""What is nearer than this on logs is equal, and equality keeps a condition."""
FEWEST_BLOCKS, FEWEST_DF = 3, 2

STEPS = 100
"""Places between two loads at which an edge is looked at; where it first passes is then found exactly."""

Log = float
Edge = Callable[[NDArray[np.float64]], NDArray[np.float64]]
LogRun = tuple[int, Log, Log]
"""Block, ln load, ln value of which less is better."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Rising means over ln loads, with what their uncertainty rests on.

    x: ln loads, ascending, shape (m,). raw: adjusted log means, z: the same, rising. pooling: z = pooling @ raw. covariance: of raw, in units of
    sd ** 2. blocks: n; per_block: runs a block. sd, block_sd: noise within blocks, between them. df: of sd.
    """

    x: NDArray[np.float64]
    raw: NDArray[np.float64]
    z: NDArray[np.float64]
    pooling: NDArray[np.float64]
    covariance: NDArray[np.float64]
    blocks: int
    per_block: float
    sd: float
    block_sd: float
    df: int

    def part(self, cells: Sequence[int]) -> "Line":
        """Return the line of some cells, with the noise of all."""
        chosen = np.ix_(cells, cells)
        return replace(
            self,
            x=self.x[list(cells)],
            raw=self.raw[list(cells)],
            z=self.z[list(cells)],
            pooling=self.pooling[chosen],
            covariance=self.covariance[chosen],
        )

    def unpooled(self) -> "Line":
        """Return the line through the means as they are, whether they rise or not."""
        return replace(self, z=self.raw, pooling=np.eye(self.x.size))

    def weights(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g of each place, shape (places, m): the weights of both neighbours, pooled."""
        if self.x.size == 1:
            return np.ones((at.size, 1))
        left = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, self.x.size - 2)
        share = (at - self.x[left]) / (self.x[left + 1] - self.x[left])
        own = np.zeros((at.size, self.x.size))
        rows = np.arange(at.size)
        own[rows, left] = 1 - share
        own[rows, left + 1] = share
        return own @ self.pooling

    def variance(self, g: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the variance of g'raw and its degrees of freedom (Satterthwaite), one each per row of g."""
        runs = self.blocks * self.per_block
        of_blocks = self.sd**2 + self.per_block * self.block_sd**2
        common = np.square(g.sum(axis=1)) / runs
        within = np.maximum(0, np.einsum("ij,jk,ik->i", g, self.covariance, g) - common)
        first, rest = common * of_blocks, self.sd**2 * within
        total = first + rest
        parts = first**2 / max(1, self.blocks - 1) + rest**2 / max(1, self.df)
        tiny = parts <= 0
        return total, np.where(tiny, 1.0, total**2 / np.where(tiny, 1.0, parts))

    def _edge(
        self, at: NDArray[np.float64], share: float, more: float, side: int
    ) -> NDArray[np.float64]:
        g = self.weights(at)
        variance, df = self.variance(g)
        half = scipy.special.stdtrit(df, share) * np.sqrt(variance + more)
        return np.asarray(g @ self.raw + side * half)

    def upper(self, alpha: float) -> Edge:
        """Return the upper edge of the band of the level, as a function of ln loads."""
        return lambda at: self._edge(at, 1 - alpha / 2, 0.0, 1)

    def lower(self, alpha: float) -> Edge:
        """Return the lower edge."""
        return lambda at: self._edge(at, 1 - alpha / 2, 0.0, -1)

    def further_run(self, alpha: float) -> Edge:
        """Return the level below which one further run, in a block of its own, lies with probability 1 - alpha."""
        return lambda at: self._edge(at, 1 - alpha, self.sd**2 + self.block_sd**2, 1)

    def crossing(self, limit: Log) -> tuple[Log, int] | None:
        """Return where the means first pass the limit, and the load before it; None where they do not."""
        above = np.flatnonzero(self.z > limit + EQUAL)
        if not above.size or above[0] == 0:
            return None
        j = int(above[0]) - 1
        share = (limit - self.z[j]) / (self.z[j + 1] - self.z[j])
        return float(self.x[j] + share * (self.x[j + 1] - self.x[j])), j

    def slope(self, j: int) -> float:
        """Return the slope of the means after load j."""
        return float((self.z[j + 1] - self.z[j]) / (self.x[j + 1] - self.x[j]))


def line_of(runs: Sequence[LogRun]) -> Line | str:
    """Fit the runs, of one load at least; else the reason why there is no bound: `blocks` or `not_connected`."""
    fitted = lines_of([runs])
    return fitted if isinstance(fitted, str) else fitted[1][0]


def noisy_loads(runs: Sequence[LogRun]) -> frozenset[Log]:
    """Return the ln loads that are too noisy for the noise of the others, as comparisons of settings find them."""
    places = sorted({x for _, x, _ in runs})
    number = {x: index for index, x in enumerate(places)}
    if len(places) < 2:
        return frozenset()
    block_runs = [BlockRun(number[x], block, math.exp(y)) for block, x, y in runs]
    fitted = fit_blocks(block_runs, len(places))
    apart = blocks_apart(block_runs, fitted) if fitted else None
    return frozenset(places[place] for place in apart[0].fit.out) if apart else frozenset()


def own_level(logs: Sequence[Log], alpha: float) -> tuple[Log, Log, Log]:
    """Return the level of a load by its own runs alone with its bounds (t); open ones of a single run."""
    mean, n = float(np.mean(logs)), len(logs)
    if n < 2:
        return -math.inf, mean, math.inf
    half = student.quantile(1 - alpha / 2, n - 1) * float(np.std(logs, ddof=1)) / math.sqrt(n)
    return mean - half, mean, mean + half


def lines_of(settings: Sequence[Sequence[LogRun]]) -> tuple[Line, list[Line]] | str:
    """Fit the runs of all settings at once, blocks being common; else the reason, as `line_of`.

    First all cells, setting after setting, which only has variances; then the line of each setting.
    """
    every = [run for runs in settings for run in runs]
    cells = sorted({(s, x) for s, runs in enumerate(settings) for _, x, _ in runs})
    number = {cell: index for index, cell in enumerate(cells)}
    places = np.array([number[s, x] for s, runs in enumerate(settings) for _, x, _ in runs])
    if len({block for block, _, _ in every}) < FEWEST_BLOCKS:
        return "blocks"
    fitted = fit_blocks(
        [
            BlockRun(int(place), block, math.exp(y))
            for place, (block, _, y) in zip(places, every, strict=True)
        ],
        len(cells),
    )
    if fitted is None:
        return "blocks"
    if len(cells) == 1:
        line = _single(every)
        return line, [line]
    if (fitted.fit.groups != fitted.fit.groups[0]).any():
        return "not_connected"
    if fitted.fit.df < FEWEST_DF:
        return "blocks"
    counts = np.bincount(places).astype(float)
    pooling = np.zeros((len(cells), len(cells)))
    parts = []
    for setting in range(len(settings)):
        own = [index for index, (s, _) in enumerate(cells) if s == setting]
        part = np.ix_(own, own)
        pooling[part] = pooling_of(fitted.fit.means[own], counts[own])
        parts.append(own)
    whole = Line(
        x=np.array([x for _, x in cells]),
        raw=fitted.fit.means,
        z=pooling @ fitted.fit.means,
        pooling=pooling,
        covariance=fitted.fit.covariance,
        blocks=len(fitted.blocks),
        per_block=len(every) / len(fitted.blocks),
        sd=fitted.fit.sd,
        block_sd=fitted.block_sd,
        df=fitted.fit.df,
    )
    return whole, [whole.part(own) for own in parts]


def _single(runs: Sequence[LogRun]) -> Line:
    """Return the level of one load: all of its noise lies between blocks."""
    by_block: dict[int, list[float]] = {}
    for block, _, y in runs:
        by_block.setdefault(block, []).append(y)
    means = np.array([np.mean(each) for each in by_block.values()])
    spread = float(means.std(ddof=1))
    level = np.array([means.mean()])
    return Line(
        x=np.array([runs[0][1]]),
        raw=level,
        z=level,
        pooling=np.eye(1),
        covariance=np.eye(1) / means.size,
        blocks=means.size,
        per_block=1.0,
        sd=0.0,
        block_sd=spread if spread >= NO_NOISE else 0.0,
        df=1,
    )


def pooling_of(means: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix that makes means rise (pool adjacent violators), shape (m, m)."""
    pools: list[list[int]] = []
    levels: list[float] = []
    for index, mean in enumerate(means):
        pools.append([index])
        levels.append(float(mean))
        while len(levels) > 1 and levels[-2] > levels[-1]:
            last = pools.pop()
            levels.pop()
            pools[-1].extend(last)
            levels[-1] = float(np.average(means[pools[-1]], weights=weights[pools[-1]]))
    result = np.zeros((means.size, means.size))
    for pool in pools:
        result[np.ix_(pool, pool)] = weights[pool] / weights[pool].sum()
    return result


def first_beyond(line: Line, edge: Edge, limit: Log) -> Log | None:
    """Return the first ln load at which an edge lies above the limit: the lowest where it does there; None where it never does."""

    def excess(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return edge(at) - limit - EQUAL

    steps = [
        np.linspace(a, b, STEPS, endpoint=False) for a, b in zip(line.x, line.x[1:], strict=False)
    ]
    grid = np.concatenate([*steps, line.x[-1:]])
    above = np.flatnonzero(excess(grid) > 0)
    if not above.size:
        return None
    if above[0] == 0:
        return float(line.x[0])
    low, high = float(grid[above[0] - 1]), float(grid[above[0]])
    return float(
        scipy.optimize.brentq(lambda at: float(excess(np.array([at]))[0]), low, high, xtol=1e-13)
    )
