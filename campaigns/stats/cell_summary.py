"""Summary of one cell: location, interval, spread. Pure: values in, one CellSummary out.

A run is the unit: one value is one run's own summary (its duration, its p99), never one request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.interval import Interval
from campaigns.stats.logs import is_number, ratio_of
from campaigns.stats.units import Count, InMetric, InMetricInterval, Place, Share, ShareInterval

OUTLIER_LIMIT = 3.5
"""Of the modified z score 0.6745 (x - median) / MAD (Iglewicz and Hoaglin, 1993)."""
OUTLIER_MINIMUM_N = 5


@dataclass(frozen=True, slots=True)
class MedianInterval:
    """Order statistics around the median: the k-th smallest and the k-th largest value.

    `achieved` is the confidence that they really have; below six runs it is under 95 %.
    """

    low: InMetric
    high: InMetric
    k: Count
    achieved: Share
    requested: Share
    sufficient: bool


@dataclass(frozen=True, slots=True)
class CellSummary:
    """Estimates of one cell; None where there is none. Unit: that of the values.

    One run has a mean, and no geometric one. n_failed holds the timed out runs (n_censored), n_lost the saturated ones (n_saturated): neither
    enters an estimate. `outliers` and `invalid_positions` are indices into the values.
    flags: `empty`, `all_failed`, `single_run`, `two_runs`, `zero_variance`,
    `median_ci_below_confidence`, `not_positive` (a value <= 0: no logs, so no geometric mean),
    `invalid_values` (a value that is no number: no estimate at all), `has_censored`, `has_bounds`,
    `too_many_failures` (of `without_estimates`).
    """

    n_total: Count
    n_ok: Count
    n_failed: Count
    n_lost: Count
    n_missing: Count
    n_censored: Count
    n_saturated: Count
    confidence: Share
    failure_rate: Share | None = None
    failure_rate_ci: ShareInterval | None = None
    mean: InMetric | None = None
    sd: InMetric | None = None
    cv: Share | None = None
    sem: InMetric | None = None
    median: InMetric | None = None
    minimum: InMetric | None = None
    maximum: InMetric | None = None
    mean_ci: InMetricInterval | None = None
    gmean: InMetric | None = None
    gmean_ci: InMetricInterval | None = None
    median_ci: MedianInterval | None = None
    outliers: tuple[Place, ...] = ()
    invalid_positions: tuple[Place, ...] = ()
    flags: tuple[str, ...] = ()

    def without_estimates(self, why: str) -> "CellSummary":
        """Return the counts alone, with a flag for the reason."""
        return CellSummary(
            n_total=self.n_total,
            n_ok=self.n_ok,
            n_failed=self.n_failed,
            n_lost=self.n_lost,
            n_missing=self.n_missing,
            n_censored=self.n_censored,
            n_saturated=self.n_saturated,
            confidence=self.confidence,
            failure_rate=self.failure_rate,
            failure_rate_ci=self.failure_rate_ci,
            flags=(why,),
        )


@dataclass(frozen=True, slots=True)
class _Location:
    """A mean with its uncertainty."""

    mean: float
    sd: float | None
    sem: float | None
    interval: Interval | None


def summarise(
    values: Sequence[float | None],
    *,
    failed: int = 0,
    lost: int = 0,
    censored: int = 0,
    saturated: int = 0,
    confidence: float = 0.95,
) -> CellSummary:
    """Summarise the runs of one cell.

    values: one per run that counts; None is a missing run, ignored and counted. Failed and lost runs
    have no value here; censored runs are part of `failed`, saturated ones of `lost`.
    """
    if censored > failed or saturated > lost:
        raise ValueError("Censored runs are part of the failed ones, saturated ones of the lost.")
    positions = [index for index, value in enumerate(values) if value is not None]
    present = np.array([value for value in values if value is not None], dtype=float)
    rate, rate_ci = _failure_rate(failed, present.size + failed, confidence)
    bad = np.flatnonzero(~is_number(present))
    counted = CellSummary(
        n_total=present.size + failed,
        n_ok=present.size,
        n_failed=failed,
        n_lost=lost,
        n_missing=len(values) - present.size,
        n_censored=censored,
        n_saturated=saturated,
        confidence=confidence,
        failure_rate=rate,
        failure_rate_ci=rate_ci,
        invalid_positions=tuple(positions[int(index)] for index in bad),
    )
    if present.size and not bad.size:
        counted = _estimated(counted, present, positions)
    claims = {
        "invalid_values": bad.size > 0,
        "all_failed": not present.size and failed > 0,
        "empty": not present.size and not failed,
        "has_censored": censored > 0,
        "has_bounds": saturated > 0,
    }
    return replace(counted, flags=(*counted.flags, *(name for name in claims if claims[name])))


def _estimated(
    counted: CellSummary, present: NDArray[np.float64], positions: Sequence[int]
) -> CellSummary:
    """Add the estimates from one value or more, all of them numbers."""
    arithmetic = _location(present, counted.confidence)
    has_logs = present.size > 1 and (present > 0).all()
    logs = _location(np.log(present), counted.confidence) if has_logs else None
    log_ci = logs.interval if logs else None
    median_ci = median_interval(present, counted.confidence) if present.size > 1 else None
    cv = (
        None
        if arithmetic.sd is None or not arithmetic.mean
        else arithmetic.sd / abs(arithmetic.mean)
    )
    return replace(
        counted,
        mean=arithmetic.mean,
        sd=arithmetic.sd,
        cv=cv,
        sem=arithmetic.sem,
        median=float(np.median(present)),
        minimum=float(present.min()),
        maximum=float(present.max()),
        mean_ci=arithmetic.interval,
        gmean=ratio_of(logs.mean) if logs else None,
        gmean_ci=Interval(ratio_of(log_ci.low), ratio_of(log_ci.high)) if log_ci else None,
        median_ci=median_ci,
        outliers=tuple(positions[index] for index in _outliers(present)),
        invalid_positions=tuple(positions[int(index)] for index in np.flatnonzero(present <= 0)),
        flags=_flags(present, median_ci),
    )


def median_interval(values: NDArray[np.float64], confidence: float) -> MedianInterval:
    """Return the narrowest pair of order statistics that holds the median with `confidence`.

    values: shape (n,), n >= 2. Largest k with 1 - 2 P(Bin(n, 1/2) <= k - 1) >= confidence; where not
    even the extremes reach it, they are given with what they achieve (as benchstat does).
    """
    ordered = np.sort(values)
    n = ordered.size
    k = 1
    while k + 1 <= n // 2 and _median_confidence(n, k + 1) >= confidence:
        k += 1
    achieved = _median_confidence(n, k)
    return MedianInterval(
        low=float(ordered[k - 1]),
        high=float(ordered[n - k]),
        k=k,
        achieved=achieved,
        requested=confidence,
        sufficient=achieved >= confidence,
    )


@lru_cache(maxsize=4096)
def _median_confidence(n: int, k: int) -> float:
    return float(1 - 2 * scipy.stats.binom.cdf(k - 1, n, 0.5))


def _location(values: NDArray[np.float64], confidence: float) -> _Location:
    n = values.size
    # The mean of equal values must be that value, without the rounding of a sum.
    mean = float(values[0]) if (values == values[0]).all() else float(values.mean())
    if n < 2:
        return _Location(mean, None, None, None)
    sd = 0.0 if (values == values[0]).all() else float(values.std(ddof=1))
    sem = sd / n**0.5
    half = student.quantile((1 + confidence) / 2, n - 1) * sem
    return _Location(mean, sd, sem, Interval(mean - half, mean + half))


def _failure_rate(
    failed: int, total: int, confidence: float
) -> tuple[float | None, Interval | None]:
    if not total:
        return None, None
    return failed / total, _wilson(failed, total, confidence)


@lru_cache(maxsize=4096)
def _wilson(failed: int, total: int, confidence: float) -> Interval:
    """Return Wilson's interval, from a cache: most cells have equal numbers of runs and failures."""
    bounds = scipy.stats.binomtest(failed, total).proportion_ci(confidence, method="wilson")
    return Interval(float(bounds.low), float(bounds.high))


def _outliers(values: NDArray[np.float64]) -> list[int]:
    if values.size < OUTLIER_MINIMUM_N:
        return []
    distance = values - np.median(values)
    mad = float(np.median(np.abs(distance)))
    if mad == 0:
        return []
    return [int(i) for i in np.flatnonzero(np.abs(0.6745 * distance / mad) > OUTLIER_LIMIT)]


def _flags(values: NDArray[np.float64], median_ci: MedianInterval | None) -> tuple[str, ...]:
    claims = {
        "single_run": values.size == 1,
        "two_runs": values.size == 2,
        "zero_variance": values.size > 1 and bool((values == values[0]).all()),
        "median_ci_below_confidence": median_ci is not None and not median_ci.sufficient,
        "not_positive": bool((values <= 0).any()),
    }
    return tuple(name for name, holds in claims.items() if holds)
