"""Mann-Whitney test of two independent samples, the second opinion where there are no blocks. Pure."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.ranks import HodgesLehmann

MOST_EXACT = 50
"""Values on a side; with more the normal distribution is as good as the exact one."""
MOST_PERMUTATIONS = 9999
CLIFF_WORDS = ((0.15, "negligible"), (0.33, "small"), (0.47, "medium"))


@dataclass(frozen=True, slots=True)
class RankSum:
    """Mann and Whitney's test (1947).

    u: pairs in which the baseline is larger, ties by halves. cles: their share, the common language
    effect size. delta: Cliff's, 2 cles - 1; above 0 the baseline is larger. size: of it, in a word.
    """

    u: float
    p: float
    min_attainable_p: float
    cles: float
    delta: float
    size: str


def rank_sum(baseline: NDArray[np.float64], candidate: NDArray[np.float64]) -> RankSum:
    """Test whether one of two samples, one value each at least, tends to be larger.

    Exact without ties and up to 50 a side; by all permutations where there are ties and at most
    9999 of these; else by the normal approximation.
    """
    m, n = baseline.size, candidate.size
    ways = math.comb(m + n, n)
    has_ties = np.unique(np.concatenate([baseline, candidate])).size < m + n
    exact = not has_ties and max(m, n) <= MOST_EXACT
    method = "exact" if exact else "asymptotic"
    result = scipy.stats.mannwhitneyu(baseline, candidate, alternative="two-sided", method=method)
    by_all = has_ties and ways <= MOST_PERMUTATIONS
    p = _p_by_permutations(baseline, candidate) if by_all else float(result.pvalue)
    cles = float(result.statistic) / (m * n)
    delta = 2 * cles - 1
    return RankSum(
        u=float(result.statistic),
        p=min(1.0, p),
        min_attainable_p=min(1.0, 2 / ways),
        cles=cles,
        delta=delta,
        size=next((word for limit, word in CLIFF_WORDS if abs(delta) < limit), "large"),
    )


def _p_by_permutations(baseline: NDArray[np.float64], candidate: NDArray[np.float64]) -> float:
    """Twice the smaller tail of the rank sum over every way to deal the values to the two sides.

    Ranks are multiples of a half, so that sums are compared exactly. scipy's PermutationMethod is
    the same, but refuses a side of one value.
    """
    ranks = scipy.stats.rankdata(np.concatenate([baseline, candidate]))
    dealt = np.array(list(combinations(range(ranks.size), baseline.size)))
    sums = ranks[dealt].sum(axis=1)
    seen = ranks[: baseline.size].sum()
    return 2 * float(min((sums <= seen).mean(), (sums >= seen).mean()))


def shift(
    baseline: NDArray[np.float64], candidate: NDArray[np.float64], confidence: float
) -> HodgesLehmann | None:
    """Estimate the shift of the logs from baseline to candidate (Hodges and Lehmann, 1963).

    As R's wilcox.test does: k-th smallest and largest difference, k from the exact distribution.
    None above 50 values a side.
    """
    if max(baseline.size, candidate.size) > MOST_EXACT:
        return None
    differences = np.sort(np.subtract.outer(candidate, baseline).ravel())
    cumulative = _cumulative(baseline.size, candidate.size)
    k = int(np.searchsorted(cumulative, (1 - confidence) / 2))
    estimate = pct_of(float(np.median(differences)))
    if k < 1:
        return HodgesLehmann(estimate, None, None, sufficient=False)
    return HodgesLehmann(
        pct=estimate,
        ci_pct=Interval(pct_of(float(differences[k - 1])), pct_of(float(differences[-k]))),
        achieved=float(1 - 2 * cumulative[k - 1]),
        sufficient=True,
    )


@lru_cache(maxsize=256)
def _cumulative(m: int, n: int) -> NDArray[np.float64]:
    """Return the chance that U is at most 0 .. m n, without any difference."""
    rows = [np.ones(1) for _ in range(n + 1)]
    for i in range(1, m + 1):
        row = [np.ones(1)]
        for j in range(1, n + 1):
            probability = np.zeros(i * j + 1)
            probability[j:] += i / (i + j) * rows[j]  # the largest value is of the first sample
            probability[: row[-1].size] += j / (i + j) * row[-1]
            row.append(probability)
        rows = row
    cumulative = np.cumsum(rows[n])
    cumulative.setflags(write=False)
    return cumulative
