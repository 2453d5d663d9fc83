"""How many pairs it takes. Pure. Plans from an estimated sd, so "about"; they decide about no word."""

import math
from collections.abc import Callable

from scipy import optimize, stats

from campaigns.stats.logs import pct_of

LARGEST_PLAN = 1_000_000
"""No campaign has more pairs: beyond it there is no number, since the noise is hopeless."""


def power_paired(n: int, effect_size: float, alpha: float = 0.05) -> float:
    """Chance that a two-sided paired t test of `n` >= 2 pairs finds an effect of so many sd."""
    df = n - 1
    critical = float(stats.t.ppf(1 - alpha / 2, df))
    noncentrality = abs(effect_size) * math.sqrt(n)
    upper = float(stats.nct.sf(critical, df, noncentrality))
    if math.isnan(upper):  # scipy's nct has no value for a large non-centrality (seen from 48 on)
        return 1.0
    lower = float(stats.nct.cdf(-critical, df, noncentrality))
    return upper + (0.0 if math.isnan(lower) else lower)


def required_pairs(
    sd_log: float, *, delta: float = 0.05, alpha: float = 0.05, power: float = 0.80
) -> int | None:
    """Find the smallest number of pairs that detects a change of `delta` with `power`.

    sd_log: of the pairs' log ratios. None where it would be more than a million.
    """
    effect = math.log1p(delta)
    return _smallest(lambda n: power_paired(n, _size(effect, sd_log), alpha) >= power)


def detectable_pct(n: int, sd_log: float, *, alpha: float = 0.05, power: float = 0.80) -> float:
    """Find the smallest change, in %, that `n` >= 2 pairs detect with `power` (the MDE)."""
    if sd_log == 0:
        return 0.0
    low, high = 0.0, 1.0
    while power_paired(n, high, alpha) < power:
        high *= 2
    size = optimize.brentq(lambda es: power_paired(n, es, alpha) - power, low, high, xtol=1e-13)
    return pct_of(float(size) * sd_log)


def pairs_to_decide(
    estimate: float, sd_log: float, *, delta: float = 0.05, alpha: float = 0.05
) -> int | None:
    """Find the smallest n whose interval would exclude either 0 or a change of `delta`.

    estimate: the mean log ratio in hand. None where it would be more than a million.
    """
    room = max(abs(estimate), math.log1p(delta) - abs(estimate))

    def decides(n: int) -> bool:
        return float(stats.t.ppf(1 - alpha / 2, n - 1)) * sd_log / math.sqrt(n) <= room

    return _smallest(decides)


def _size(effect: float, sd_log: float) -> float:
    return effect / sd_log if sd_log > 0 else math.inf


def _smallest(holds: Callable[[int], bool]) -> int | None:
    """Find the smallest n >= 2 from which on `holds` is true; it is false before, true after."""
    high = 2
    while not holds(high):
        if high == LARGEST_PLAN:
            return None
        high = min(2 * high, LARGEST_PLAN)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
