"""Kendall's tau-b with its interval: whether one quantity rises with another, whatever the form. Pure.

The interval is that of Hollander, Wolfe and Chicken (Nonparametric Statistical Methods, 8.4), which holds for any
distribution; it is scaled by the ties, as tau-b is, since levels repeat.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from campaigns.stats.interval import Interval
from campaigns.stats.units import Count, Number, NumberInterval

FEWEST = 4
"""With fewer pairs there is no interval worth showing."""


@dataclass(frozen=True, slots=True)
class Tau:
    """Kendall's tau-b of `n` pairs."""

    tau: Number
    interval: NumberInterval
    n: Count


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
    half = NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(max(variance, 0.0))
    low, high = (min(max((of_all + side) * scale, -1.0), 1.0) for side in (-half, half))
    return Tau(min(max(of_all * scale, -1.0), 1.0), Interval(low, high), n)
