"""How many runs it takes, from an estimated standard deviation. Pure."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import scipy

from campaigns.stats import student
from campaigns.stats.logs import pct_of

LARGEST_PLAN = 1_000_000
"""No campaign has more runs; a larger number is not returned, since the noise is hopeless."""


@dataclass(frozen=True, slots=True)
class Design:
    """How n becomes precision: the standard error is sd sqrt(variance / n), df is slope (n - 1)."""

    variance: float
    slope: int

    def error(self, n: int, sd_log: float) -> float:
        """Return the standard error of a contrast."""
        return sd_log * math.sqrt(self.variance / n)

    def df(self, n: int) -> int:
        """Return the degrees of freedom of the noise."""
        return self.slope * (n - 1)


PAIRS = Design(1, 1)
"""n pairs; sd_log is that of their log ratios."""


def design_of_cells(cells: int) -> Design:
    """Return the design of n runs in each of `cells` >= 2 cells, noise pooled; sd_log is that within a cell."""
    return Design(2, cells)


def design_of_blocks(cells: int) -> Design:
    """Return the design of n complete blocks of `cells` >= 2 cells; sd_log is the noise within a block."""
    return Design(2, cells - 1)


def power_of(noncentrality: float, df: float, alpha: float = 0.05) -> float:
    """Return the chance that a two-sided t test detects an effect of so many standard errors."""
    critical = student.quantile(1 - alpha / 2, df)
    upper = float(scipy.stats.nct.sf(critical, df, abs(noncentrality)))
    if math.isnan(upper):  # scipy's nct has no value for a large non-centrality (seen from 48 on)
        return 1.0
    lower = float(scipy.stats.nct.cdf(-critical, df, abs(noncentrality)))
    return upper + (0.0 if math.isnan(lower) else lower)


def power(n: int, effect_size: float, *, design: Design = PAIRS, alpha: float = 0.05) -> float:
    """Return the chance that n >= 2 detect an effect of `effect_size` sd."""
    return power_of(effect_size / design.error(n, 1.0), design.df(n), alpha)


@lru_cache(maxsize=4096)
def required_n(
    sd_log: float,
    *,
    design: Design = PAIRS,
    delta: float = 0.05,
    alpha: float = 0.05,
    chance: float = 0.80,
) -> int | None:
    """Return the smallest n that detects a change of `delta` with that power.

    None where it would be more than a million.
    """
    size = math.log1p(delta) / sd_log if sd_log > 0 else math.inf
    return _smallest(lambda n: power(n, size, design=design, alpha=alpha) >= chance)


def detectable_pct(
    n: int, sd_log: float, *, design: Design = PAIRS, alpha: float = 0.05, chance: float = 0.80
) -> float:
    """Return the smallest change, in %, that n >= 2 detect with that power (the MDE)."""
    return detectable_by(design.error(n, sd_log), design.df(n), alpha=alpha, chance=chance)


def detectable_by(
    standard_error: float, df: float, *, alpha: float = 0.05, chance: float = 0.80
) -> float:
    """Return the smallest change, in %, that a contrast of such precision detects."""
    if standard_error == 0:
        return 0.0
    return pct_of(_detectable_size(df, alpha, chance) * standard_error)


@lru_cache(maxsize=4096)
def _detectable_size(df: float, alpha: float, chance: float) -> float:
    """Return the effect, in standard errors, that is detected with that power."""
    low, high = 0.0, 1.0
    while power_of(high, df, alpha) < chance:
        high *= 2
    return float(
        scipy.optimize.brentq(lambda nc: power_of(nc, df, alpha) - chance, low, high, xtol=1e-13)
    )


def n_to_decide(
    estimate: float,
    sd_log: float,
    *,
    design: Design = PAIRS,
    delta: float = 0.05,
    alpha: float = 0.05,
) -> int | None:
    """Return the smallest n whose interval would exclude either 0 or a change of `delta`.

    estimate: the log ratio in hand. None where it would be more than a million.
    """
    room = max(abs(estimate), math.log1p(delta) - abs(estimate))

    def decides(n: int) -> bool:
        return student.quantile(1 - alpha / 2, design.df(n)) * design.error(n, sd_log) <= room

    return _smallest(decides)


def _smallest(holds: Callable[[int], bool]) -> int | None:
    """Return the smallest n >= 2 for which `holds` is true; it is false below, true above."""
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


def units_to_show_share(limit: float, blocks: int, alpha: float = 0.05) -> int | None:
    """Return the units of work, none of which fails, that show a share of failures of at most `limit`.

    Wilson's upper end with Student's t over blocks: t² (1 - limit) / limit. None below 3 blocks, which give no interval.
    """
    if blocks < 3:
        return None
    t = student.quantile(1 - alpha / 2, blocks - 1)
    return math.ceil(t**2 * (1 - limit) / limit)
