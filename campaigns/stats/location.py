"""Which of several versions brought a change, from blocks in which each of them was measured. Pure.

The block model with one step: the cut with the least squares left is the best, and those that an F test cannot tell from it
could be it, too. TRENDS 5.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.units import OnLogs, Place, SquaredLogs, WholeDegrees

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Split:
    """A step before one version. first_bad: its place among the versions. change: behind the step minus before. rss: squares left."""

    first_bad: Place
    change: OnLogs
    rss: SquaredLogs


@dataclass(frozen=True, slots=True)
class Location:
    """Where the step is. best: the first bad version; could_be: those that are not excluded at 95 %, ascending."""

    splits: Sequence[Split]
    df: WholeDegrees
    best: Place
    could_be: Sequence[Place]


def locate(blocks: Sequence[Sequence[OnLogs]]) -> Location:
    """Find the step in blocks of one value for each version, in the order of versions.

    Raise ValueError unless there are two blocks of two versions at least, all of one length.
    """
    values = np.asarray(blocks, dtype=float)
    if values.ndim != 2 or min(values.shape) < 2:
        raise ValueError("A location needs two blocks of two versions.")
    centred = values - values.mean(axis=1, keepdims=True)
    total = float(np.square(centred).sum())
    splits = [_split(centred, total, first_bad) for first_bad in range(1, values.shape[1])]
    df = int(values.size - values.shape[0] - 1)
    best = min(splits, key=lambda each: each.rss)
    limit = float(scipy.special.fdtri(1, df, CONFIDENCE)) * best.rss / df
    could_be = [each.first_bad for each in splits if each.rss - best.rss <= max(limit, NO_NOISE**2)]
    return Location(tuple(splits), df, best.first_bad, tuple(could_be))


def _split(centred: np.ndarray, total: float, first_bad: int) -> Split:
    """Fit one step to values of which the mean of each block was taken."""
    blocks, versions = centred.shape
    after = versions - first_bad
    # In a block the step is 1 behind the cut, less its mean: its square sums to before * after / versions.
    information = blocks * first_bad * after / versions
    change = float(centred[:, first_bad:].sum()) / information
    return Split(first_bad, change, max(0.0, total - change**2 * information))
