"""Bootstraps. Pure: the seed is an argument, and the order of the input does not matter."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval

MINIMUM_N = 5
_CELLS_AT_ONCE = 1_000_000


def bca_pct_change_of_means(
    baseline: NDArray[np.float64], candidate: NDArray[np.float64], criteria: Criteria
) -> Interval | None:
    """Bootstrap pairs for the change of means in % (bias-corrected and accelerated, Efron 1987).

    Both of shape (n,). None below five pairs, and where the resamples do not differ enough.
    """
    n = baseline.size
    if n < MINIMUM_N:
        return None
    ordered = np.lexsort((candidate, baseline))

    def change(
        cand: NDArray[np.float64], base: NDArray[np.float64], axis: int
    ) -> NDArray[np.float64]:
        return np.asarray(100 * (cand.mean(axis=axis) / base.mean(axis=axis) - 1))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of degenerate resamples; the result shows them as NaN
        bounds = stats.bootstrap(
            (candidate[ordered], baseline[ordered]),
            change,
            paired=True,
            vectorized=True,
            method="BCa",
            confidence_level=1 - criteria.alpha,
            n_resamples=criteria.resamples,
            batch=max(1, _CELLS_AT_ONCE // n),
            rng=np.random.default_rng(criteria.seed),
        ).confidence_interval
    if not np.isfinite([bounds.low, bounds.high]).all():
        return None
    return Interval(float(bounds.low), float(bounds.high))
