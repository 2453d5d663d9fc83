"""Breaks of curves and the Universal Scalability Law: do the bootstraps' intervals hold the truth?"""

import math

import numpy as np

from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import NORMAL, World
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.knee import Knee, find_knee, levels_of
from campaigns.stats.resamples import of_blocks, of_levels
from campaigns.stats.usl import SHARE_OF_PEAK, Usl, UslBounds, bound_usl, fit_usl

CURVES = "Curves"
LEVELS = (3, 5, 7, 10, 15, 20)
BREAK, BELOW, ABOVE = 7.0, -0.92, -0.33
"""Like the published sync of Pulp: a distinct knee at 7."""
RESAMPLES, USL_RESAMPLES = 400, 200
LAW = Usl(100.0, 0.05, 0.01, 16.0)
CONCURRENCY = (1, 2, 3, 4, 6, 8, 12, 16)


def knees(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """A distinct break and smooth curves, in n complete blocks and without blocks."""
    x = np.array(LEVELS, dtype=float)
    curve = BELOW * np.log(x) + (ABOVE - BELOW) * np.maximum(0, np.log(x / BREAK))
    size = len(LEVELS)
    blocks = [_in_blocks(e + curve) for e in world.interleaved(rng, reps, n, size)]
    cells = [_in_levels(e + curve[:, None]) for e in world.shuffled(rng, reps, n, size)]
    power_law = -0.5 * np.log(x)
    hyperbola = np.log(0.2 + 1 / x)
    smooth = [
        find_knee(levels_of(LEVELS, list(noise + each[:, None])), np.exp(each))
        for each in (power_law, hyperbola)
        for noise in world.shuffled(rng, reps, n, size)
    ]
    strengths = [each.strength for each in smooth if each]
    return [
        count(CURVES, "break, in blocks", world.name, n, map(_holds, blocks), 0.95),
        count(CURVES, "break, without blocks", world.name, n, map(_holds, cells), 0.95),
        count(
            CURVES,
            "a knee in a smooth curve",
            world.name,
            n,
            (each != "smooth" for each in strengths),
        ),
        count(
            CURVES,
            "a strong knee in a smooth curve",
            world.name,
            n,
            (each == "strong" for each in strengths),
            0.05,
            Promise.AT_MOST,
        ),
    ]


def _in_blocks(logs: np.ndarray) -> Knee | None:
    """`logs`: shape (blocks, levels)."""
    runs = [BlockRun(cell, block, math.exp(value)) for (block, cell), value in np.ndenumerate(logs)]
    fitted = fit_blocks(runs, len(LEVELS))
    if fitted is None:
        return None
    levels = levels_of(LEVELS, list(logs.T), fitted.fit.means)
    resampler = of_blocks(fitted, runs)
    return find_knee(levels, np.exp(fitted.fit.means), resampler=resampler, resamples=RESAMPLES)


def _in_levels(logs: np.ndarray) -> Knee | None:
    """`logs`: shape (levels, n)."""
    cells = list(logs)
    means = np.exp(logs).mean(axis=1)
    resampler = of_levels(cells)
    return find_knee(levels_of(LEVELS, cells), means, resampler=resampler, resamples=RESAMPLES)


def _holds(knee: Knee | None) -> bool:
    if knee is None or knee.uncertainty is None:
        return False
    low, high = knee.uncertainty.interval
    return low <= BREAK * (1 + 1e-6) and high * (1 + 1e-6) >= BREAK


def laws(n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """The Universal Scalability Law, n runs a level, noise resampled within levels or from all of them."""
    x = np.array(CONCURRENCY, dtype=float)
    truth = np.array([LAW.throughput(value) for value in x])
    results = []
    for noise in NORMAL.shuffled(rng, reps, n, x.size):
        bounds = _law(x, truth[:, None] * np.exp(noise))
        if bounds:
            results.append(bounds)
    return [
        count(CURVES, f"USL: {name}", NORMAL.name, n, _cover(results, field, true), 0.95)
        for name, field, true in (
            ("contention", "s", LAW.s),
            ("coherency", "k", LAW.k),
            ("N of the peak", "peak", LAW.peak),
            ("largest throughput", "most", LAW.most),
            ("N of 95 % of it", "throttle", LAW.lowest_for(SHARE_OF_PEAK)),
        )
    ]


def _law(x: np.ndarray, values: np.ndarray) -> UslBounds | None:
    """`values`: shape (levels, n)."""
    n = values.shape[1]
    places = np.repeat(x, n)
    if fit_usl(places.tolist(), values.ravel().tolist()) is None:
        return None
    draws = of_levels(list(np.log(values))).draws(USL_RESAMPLES, 1)
    return bound_usl(
        places.tolist(),
        lambda _: np.exp(next(draws).logs),
        resamples=USL_RESAMPLES,
        seed=1,
    )


def _cover(found: list[UslBounds], field: str, true: float) -> list[bool]:
    intervals = [getattr(each, field) for each in found]
    return [low <= true <= high for low, high in intervals]
