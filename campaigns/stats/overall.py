"""One number over many manifests. Pure. STATISTICS 2.5.

What is said first is the geometric mean of the ratios, for these manifests alone or, where they differ,
for manifests as a sample. The average of percentage changes is what others publish.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.verdict import Contrast, interval_of

HETEROGENEOUS_P = 0.05
FEWEST_STRATA = 3
"""With fewer an interval by the spread of the changes is useless: t has one degree of freedom."""


@dataclass(frozen=True, slots=True)
class Overall:
    """Candidate against baseline over K manifests; changes in %.

    average_pct: the mean of the manifests' changes of means; average_ci: by their spread (t, df K - 1),
    None with fewer than three. geometric_pct: of the mean log ratio; fixed: the contrast for these
    manifests alone, sample: for manifests as a sample (df K - 1), None with one. q, q_p, i2: Cochran's test that all
    manifests have one change, None with one; it takes the noise for known, so with few pairs it sees
    differences that are none: differ_p is Welch's test of the same, which decides. total_pct: of the sum of all times; rate_pct: of the
    average rate.
    """

    strata: int
    average_pct: float
    average_ci: Interval | None
    geometric_pct: float
    fixed: Contrast | None
    fixed_ci: Interval | None
    sample: Contrast | None
    sample_ci: Interval | None
    q: float | None
    q_p: float | None
    differ_p: float | None
    i2: float | None
    total_pct: float
    rate_pct: float

    @property
    def heterogeneous(self) -> bool:
        """Return whether manifests differ: then each comes first, and the interval is that of a sample."""
        return self.differ_p is not None and self.differ_p < HETEROGENEOUS_P

    @property
    def geometric_ci(self) -> Interval | None:
        """Return the interval of the geometric mean."""
        return self.sample_ci if self.heterogeneous else self.fixed_ci


Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]
DEFAULT = Criteria()


def over_strata(strata: Sequence[Pairs], criteria: Criteria = DEFAULT) -> Overall | None:
    """Average strata of pairs, each baseline and candidate of shape (n,), all above 0.

    None without strata, or where one has no pair.
    """
    if not strata or any(not baseline.size for baseline, _ in strata):
        return None
    ratios = [np.log(candidate) - np.log(baseline) for baseline, candidate in strata]
    means = np.array([each.mean() for each in ratios])
    geometric = float(means.mean())
    fixed, sample = _fixed(ratios, geometric), _sample(means)
    q = _cochran(ratios, means)
    sums = [(float(base.mean()), float(cand.mean())) for base, cand in strata]
    changes = np.array([100 * (cand / base - 1) for base, cand in sums])
    return Overall(
        strata=len(strata),
        average_pct=float(changes.mean()),
        average_ci=_average_interval(changes, criteria.alpha),
        geometric_pct=pct_of(geometric),
        fixed=fixed,
        fixed_ci=_interval(fixed, criteria.alpha),
        sample=sample,
        sample_ci=_interval(sample, criteria.alpha),
        q=q[0] if q else None,
        q_p=q[1] if q else None,
        differ_p=q[2] if q else None,
        i2=q[3] if q else None,
        total_pct=100 * (sum(cand for _, cand in sums) / sum(base for base, _ in sums) - 1),
        rate_pct=float(np.mean([100 * (base / cand - 1) for base, cand in sums])),
    )


def _fixed(ratios: Sequence[NDArray[np.float64]], estimate: float) -> Contrast | None:
    """Return the interval for these manifests alone: their own noise, with Satterthwaite's df."""
    if any(each.size < 2 for each in ratios):
        return None
    parts = np.array([each.var(ddof=1) / each.size for each in ratios])
    df = np.array([each.size - 1 for each in ratios])
    total = float(parts.sum())
    rest = float((parts**2 / df).sum())
    error = math.sqrt(total) / len(ratios)
    return Contrast(
        estimate,
        error,
        total**2 / rest if rest else float(df.sum()),
        int(sum(each.size for each in ratios)),
    )


def _sample(means: NDArray[np.float64]) -> Contrast | None:
    if means.size < 2:
        return None
    error = float(means.std(ddof=1)) / means.size**0.5
    return Contrast(float(means.mean()), error, means.size - 1, means.size)


def _cochran(
    ratios: Sequence[NDArray[np.float64]], means: NDArray[np.float64]
) -> tuple[float, float, float, float] | None:
    if len(ratios) < 2 or any(each.size < 2 or np.ptp(each) == 0 for each in ratios):
        return None
    weights = np.array([each.size / each.var(ddof=1) for each in ratios])
    centre = float(weights @ means / weights.sum())
    q = float(weights @ np.square(means - centre))
    df = len(ratios) - 1
    return (
        q,
        float(scipy.stats.chi2.sf(q, df)),
        _welch(q, weights, ratios),
        max(0.0, 1 - df / q) if q else 0.0,
    )


def _welch(q: float, weights: NDArray[np.float64], ratios: Sequence[NDArray[np.float64]]) -> float:
    """Convert Cochran's Q to the p of Welch's test of equal means (Biometrika, 1951)."""
    count = len(ratios)
    rest = np.array([each.size - 1 for each in ratios])
    spread = float((np.square(1 - weights / weights.sum()) / rest).sum())
    statistic = q / (count - 1) / (1 + 2 * (count - 2) / (count**2 - 1) * spread)
    return float(scipy.stats.f.sf(statistic, count - 1, (count**2 - 1) / (3 * spread)))


def _average_interval(changes: NDArray[np.float64], alpha: float) -> Interval | None:
    """Return the interval by the spread of the manifests' changes, in %."""
    if changes.size < FEWEST_STRATA:
        return None
    spread = _sample(changes)
    return interval_of(spread, alpha) if spread else None


def _interval(contrast: Contrast | None, alpha: float) -> Interval | None:
    if contrast is None:
        return None
    bounds = interval_of(contrast, alpha)
    return Interval(pct_of(bounds.low), pct_of(bounds.high))
