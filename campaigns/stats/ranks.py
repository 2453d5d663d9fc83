"""Wilcoxon's test of pairs and its estimate, the second opinion on pairs. Pure."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.units import Percent, PercentInterval, Share

MOST_PAIRS = 1000
"""With more values n (n + 1) / 2 averages take too much memory."""


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Wilcoxon's signed rank test. v_plus: the sum of the ranks of the positive differences."""

    v_plus: float
    p: float
    min_attainable_p: float


@dataclass(frozen=True, slots=True)
class HodgesLehmann:
    """Median of the Walsh averages as a change in %, with its exact interval.

    Below six pairs no interval reaches 95 %: then there is none, and `sufficient` is false.
    """

    pct: Percent
    ci_pct: PercentInterval | None
    achieved: Share | None
    sufficient: bool


def signed_rank(differences: NDArray[np.float64]) -> SignedRank:
    """Test whether the differences, shape (n,), n >= 1, lie around 0 (Wilcoxon, 1945).

    Exact up to 50 differences without ties, 13 with; no p is below 2 / 2^n.
    """
    ranked = differences[differences != 0]
    ranks = scipy.stats.rankdata(np.abs(ranked))
    return SignedRank(
        v_plus=float(ranks[ranked > 0].sum()),
        p=float(scipy.stats.wilcoxon(differences).pvalue) if ranked.size else 1.0,
        min_attainable_p=min(1.0, 2.0 ** (1 - differences.size)),
    )


def hodges_lehmann(differences: NDArray[np.float64], confidence: float) -> HodgesLehmann | None:
    """Estimate the shift of the log ratios, shape (n,), n >= 1 (Hodges and Lehmann, 1963).

    The interval takes the k-th smallest and largest average, k from the exact distribution of the
    signed rank, as R's wilcox.test does. None above MOST_PAIRS pairs.
    """
    n = differences.size
    if n > MOST_PAIRS:
        return None
    rows, columns = np.triu_indices(n)
    averages = np.sort((differences[rows] + differences[columns]) / 2)
    cumulative = _signed_rank_cumulative(n)
    k = int(np.searchsorted(cumulative, (1 - confidence) / 2))
    estimate = pct_of(float(np.median(averages)))
    if k < 1:
        return HodgesLehmann(estimate, None, None, sufficient=False)
    return HodgesLehmann(
        pct=estimate,
        ci_pct=Interval(pct_of(float(averages[k - 1])), pct_of(float(averages[-k]))),
        achieved=float(1 - 2 * cumulative[k - 1]),
        sufficient=True,
    )


@lru_cache(maxsize=64)
def _signed_rank_cumulative(n: int) -> NDArray[np.float64]:
    """Return the chance that the signed rank is at most 0 .. n (n + 1) / 2, without any difference."""
    probability = np.zeros(math.comb(n + 1, 2) + 1)
    probability[0] = 1.0
    for rank in range(1, n + 1):
        shifted = np.zeros_like(probability)
        shifted[rank:] = probability[:-rank]
        probability = (probability + shifted) / 2
    cumulative = np.cumsum(probability)
    cumulative.setflags(write=False)
    return cumulative
