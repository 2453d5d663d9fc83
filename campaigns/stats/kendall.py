"""Kendall's tau-b with its interval: whether one quantity rises with another, whatever the form. Pure.

The interval is that of Hollander, Wolfe and Chicken (Nonparametric Statistical Methods, 8.4), which holds for any
distribution; it is scaled by the ties, as tau-b is, since levels repeat. With few pairs it is too narrow: that of four in order has no
width. So there is the probability of as much order by chance, too.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.interval import Interval
from campaigns.stats.units import Count, Number, NumberInterval, Probability

FEWEST = 4
"""With fewer pairs there is no interval worth showing."""
MOST_EXACT = 8
"""Pairs of which all orders are looked at; with more the normal distribution is near enough."""
NO_VARIANCE = 1e-12
"""Of an estimate that has none but for rounding."""


@dataclass(frozen=True, slots=True)
class Tau:
    """Kendall's tau-b of `n` pairs. interval: None where its variance is estimated as 0; p: two-sided, against no order at all."""

    tau: Number
    interval: NumberInterval | None
    n: Count
    p: Probability


def kendall(x: Sequence[float], y: Sequence[float], alpha: float) -> Tau | None:
    """Return tau-b; None with fewer than FEWEST pairs, or where one side is constant."""
    a, b = np.array(x, dtype=float), np.array(y, dtype=float)
    n = len(a)
    if n < FEWEST:
        return None
    agreeing = np.zeros(n)
    untied_x = untied_y = 0
    for place in range(n):
        sign_x, sign_y = np.sign(a - a[place]), np.sign(b - b[place])
        agreeing[place] = float((sign_x * sign_y).sum())
        untied_x += int(np.count_nonzero(sign_x))
        untied_y += int(np.count_nonzero(sign_y))
    if not untied_x or not untied_y:
        return None
    pairs = n * (n - 1)
    scale = pairs / math.sqrt(untied_x * untied_y)
    of_all = float(agreeing.sum()) / pairs
    spread = float(np.square(agreeing - agreeing.mean()).sum())
    variance = 2 / pairs * (2 * (n - 2) / (n * (n - 1) ** 2) * spread + 1 - of_all**2)
    tau = min(max(of_all * scale, -1.0), 1.0)
    p = _p_value(a, b)
    if variance <= NO_VARIANCE:
        return Tau(tau, None, n, p)
    half = NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(variance)
    low, high = (min(max((of_all + side) * scale, -1.0), 1.0) for side in (-half, half))
    return Tau(tau, Interval(low, high), n, p)


def _p_value(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return how probable so much order is by chance: by all orders of up to MOST_EXACT pairs, else normal."""
    x, y = np.sign(np.subtract.outer(a, a)), np.sign(np.subtract.outer(b, b))
    seen = abs(float((x * y).sum())) / 2
    if len(a) > MOST_EXACT:
        z = max(seen - 1, 0.0) / math.sqrt(_variance_by_chance(a, b))
        return 2 * NormalDist().cdf(-z)
    orders = _orders(len(a))
    sums = np.zeros(len(orders))
    for i, j in itertools.combinations(range(len(a)), 2):
        sums += x[i, j] * y[orders[:, i], orders[:, j]]
    return float(np.mean(np.abs(sums) >= seen))


@cache
def _orders(n: int) -> NDArray[np.intp]:
    return np.array(list(itertools.permutations(range(n))))


def _variance_by_chance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the variance of agreeing less disagreeing pairs where there is no order, with ties (Kendall 1970, 4.4)."""
    n = len(a)
    t, u = (np.unique(each, return_counts=True)[1].astype(float) for each in (a, b))
    whole = n * (n - 1) * (2 * n + 5)
    tied = sum(float((each * (each - 1) * (2 * each + 5)).sum()) for each in (t, u))
    twos = float((t * (t - 1)).sum() * (u * (u - 1)).sum())
    threes = float((t * (t - 1) * (t - 2)).sum() * (u * (u - 1) * (u - 2)).sum())
    return (whole - tied) / 18 + twos / (2 * n * (n - 1)) + threes / (9 * n * (n - 1) * (n - 2))
