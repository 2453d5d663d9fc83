"""The noise floor of A/A campaigns: how often further identical runs stay within it."""

import math

import numpy as np

from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import Array, World
from campaigns.stats.calibration import calibrate

FLOORS = "Noise floor"
STATED = 0.95
"""Of the pairs, which the page says stay within it."""


def floors(world: World, n: int, reps: int, rng: np.random.Generator) -> list[Figure]:
    """State the floor by n pairs of identical runs, and look at the next pair."""
    pairs = world.interleaved(rng, reps, n + 1, 2)
    seen = [_holds(each) for each in pairs[:, :, 1] - pairs[:, :, 0]]
    what = "the next pair is within the floor"
    return [count(FLOORS, what, world.name, n, seen, STATED, Promise.AT_LEAST)]


def _holds(ratios: Array) -> bool:
    """`ratios`: on logs, the last one is that of the next pair."""
    result = calibrate(ratios[:-1].tolist())
    if result is None:
        raise ValueError("Two pairs or more state a floor.")
    return bool(abs(ratios[-1]) <= math.log1p(result.floor_pct / 100))
