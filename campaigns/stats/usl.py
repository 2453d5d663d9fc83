"""Throughput against concurrency: the Universal Scalability Law and what follows from it. Pure.

X(N) = g N / (1 + s (N - 1) + k N (N - 1)), only for a closed loop in steady state. STATISTICS 4;
Gunther, Guerrilla Capacity Planning, 2007.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats.interval import Interval

FEWEST_LEVELS = 5
SHARE_OF_PEAK = 0.95
RULE_OF_THUMB = 0.75
BEYOND = 1.5
"""A peak beyond so many times the largest N measured was not reached."""
START_S, START_K = 0.05, 0.005
TOLERANCE, LEAST_K = 1e-14, 1e-12

LOWEST, HIGHEST = np.zeros(3), np.array([np.inf, 1.0, 1.0])
MOST_STEPS = 80
SETTLED = 1e-10
"""The fit stops at a step that changes no parameter by more than this share, or its floor."""
FLOOR = 1e-4
FIRST_DAMPING, LESS, MORE = 1e-3, 0.1, 5.0
LEAST_DAMPING = 1e-12

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Usl:
    """The fitted law. g: throughput of one; s: contention; k: coherency; largest: N measured."""

    g: float
    s: float
    k: float
    largest: float

    def throughput(self, n: float) -> float:
        """Return X(N), in the unit of g."""
        return self.g * n / (1 + self.s * (n - 1) + self.k * n * (n - 1))

    @property
    def peak(self) -> float:
        """Return N*, where throughput is largest; infinite without coherency delay."""
        return math.sqrt((1 - self.s) / self.k) if self.k > 0 else math.inf

    @property
    def whole_peak(self) -> int | None:
        """Return the better of the two whole N around the peak."""
        if math.isinf(self.peak):
            return None
        low = max(1, math.floor(self.peak))
        return max((low, low + 1), key=self.throughput)

    @property
    def most(self) -> float:
        """Return the throughput at the peak, or the asymptote g / s; infinite where nothing limits it.

        With s = 1 nobody adds anything to what one does.
        """
        if self.k > 0:
            return self.throughput(self.peak) if self.peak else self.g
        return self.g / self.s if self.s > 0 else math.inf

    @property
    def power_point(self) -> float:
        """Return N of the largest throughput per response time (Kleinrock, 1979)."""
        a, b = 1 - self.s, self.k - self.s
        if self.k > 0:
            return (b + math.sqrt(b**2 + 12 * self.k * a)) / (6 * self.k)
        return a / self.s if self.s > 0 else math.inf

    @property
    def linear_limit(self) -> float:
        """Return 1 / s: with contention alone throughput never exceeds so many times that of one."""
        return 1 / self.s if self.s > 0 else math.inf

    @property
    def peak_reached(self) -> bool:
        """Return whether the data come near the peak; advice that rests on N* needs that."""
        return self.peak <= BEYOND * self.largest

    def lowest_for(self, share: float) -> float:
        """Return the smallest N that has `share` (of 1) of the largest throughput."""
        wanted = share * self.most
        if math.isinf(wanted):
            return math.inf
        a, b, c = self.k * wanted, (self.s - self.k) * wanted - self.g, (1 - self.s) * wanted
        if a == 0:
            return -c / b
        return (-b - math.sqrt(b**2 - 4 * a * c)) / (2 * a)

    @property
    def throttle(self) -> int | None:
        """Return the recommended limit: the smallest whole N with 95 % of the largest throughput."""
        lowest = self.lowest_for(SHARE_OF_PEAK)
        return None if math.isinf(lowest) else max(1, math.ceil(lowest - 1e-9))

    @property
    def extrapolated(self) -> bool:
        """Return whether the recommended limit lies beyond what was measured."""
        return self.throttle is None or self.throttle > self.largest

    @property
    def rule_of_thumb(self) -> float:
        """Return 75 % of N*: by the law it costs at most 4 % of throughput where s >= k."""
        return RULE_OF_THUMB * self.peak

    def response(self, n: float) -> float:
        """Return R(N) by Little's law, end to end, in the unit of time of the throughput."""
        return n / self.throughput(n)


@dataclass(frozen=True, slots=True)
class UslBounds:
    """Bootstrap intervals by name, and the share of resamples that had a peak."""

    g: Interval
    s: Interval
    k: Interval
    peak: Interval
    most: Interval
    power_point: Interval
    throttle: Interval
    with_peak: float


Resample = Callable[[np.random.Generator], NDArray[np.float64]]


def fit_usl(n: Sequence[float], throughput: Sequence[float]) -> Usl | None:
    """Fit the law to all runs, by least squares of relative errors.

    None with fewer than five levels. Raise ValueError for values that are not above 0.
    """
    x, y = np.array(n, dtype=float), np.array(throughput, dtype=float)
    if not ((x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)).all():
        raise ValueError("Concurrency and throughput have to be numbers above 0.")
    if np.unique(x).size < FEWEST_LEVELS:
        return None
    g, s, k = _fit(x, y)
    return Usl(g, s, k, float(x.max()))


def bound_usl(
    n: Sequence[float], resample: Resample, *, resamples: int, seed: int, alpha: float = 0.05
) -> UslBounds | None:
    """Bound the law by the percentiles of resampled throughputs, one for each of `n`.

    resample: gives throughputs of shape (n,); of whole blocks, of residuals, or within levels.
    """
    x, rng = np.array(n, dtype=float), np.random.default_rng(seed)
    return bound_laws(((x, resample(rng)) for _ in range(resamples)), alpha)


def bound_laws(
    draws: Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]],
    alpha: float = 0.05,
    near: Usl | None = None,
) -> UslBounds | None:
    """Bound the law by draws of (n, throughput), each of the shape of its own runs.

    near: the law of the data that are drawn from; its draws are found sooner, all at once.
    """
    laws = _laws_near(list(draws), near) if near else [_law(x, y) for x, y in draws]
    if not laws:
        return None
    peaks = [law for law in laws if math.isfinite(law.peak)]

    def bounds(values: Sequence[float]) -> Interval:
        low, high = np.quantile(values, [alpha / 2, 1 - alpha / 2], method="inverted_cdf")
        return Interval(float(low), float(high))

    return UslBounds(
        g=bounds([law.g for law in laws]),
        s=bounds([law.s for law in laws]),
        k=bounds([law.k for law in laws]),
        peak=bounds([law.peak for law in laws]),
        most=bounds([law.most for law in laws]),
        power_point=bounds([law.power_point for law in laws]),
        throttle=bounds([law.lowest_for(SHARE_OF_PEAK) for law in laws]),
        with_peak=len(peaks) / len(laws),
    )


def _law(x: NDArray[np.float64], y: NDArray[np.float64]) -> Usl:
    return Usl(*_fit(x, y), float(x.max()))


def _laws_near(
    draws: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]], near: Usl
) -> list[Usl]:
    """Fit all draws at once; the few that do not settle so, one by one."""
    if not draws:
        return []
    levels = np.unique(np.concatenate([x for x, _ in draws]))
    weight = np.zeros((len(draws), levels.size))
    centre = np.zeros_like(weight)
    for row, (x, y) in enumerate(draws):
        place = np.searchsorted(levels, x)
        squared = np.bincount(place, np.square(near.g / y), levels.size)
        sums = np.bincount(place, near.g / y, levels.size)
        held = squared > 0
        weight[row] = np.sqrt(squared)
        centre[row, held] = sums[held] / squared[held]
    result, settled = fit_many(levels, weight, centre, np.array([1.0, near.s, near.k]))
    return [
        Usl(float(near.g * g), float(s), float(k), float(x.max())) if done else _law(x, y)
        for (g, s, k), done, (x, y) in zip(result, settled, draws, strict=True)
    ]


def _fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """Fit one point a level: the squares of its relative errors are those around the mean of 1 / y."""
    scale = float((y / x).max())
    levels, place = np.unique(x, return_inverse=True)
    weight = np.sqrt(np.bincount(place, 1 / np.square(y / scale)))
    centre = np.bincount(place, scale / y) / np.square(weight)

    def errors(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        g, s, k = parameters
        below = 1 + s * (levels - 1) + k * levels * (levels - 1)
        return np.asarray(weight * (g * levels / below - centre))

    def slopes(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        g, s, k = parameters
        below = 1 + s * (levels - 1) + k * levels * (levels - 1)
        by_g = weight * levels / below
        by_s = -g * by_g * (levels - 1) / below
        return np.column_stack([by_g, by_s, by_s * levels])

    result = scipy.optimize.least_squares(
        errors,
        [1.0, START_S, START_K],
        jac=slopes,
        bounds=([0, 0, 0], [np.inf, 1, 1]),
        xtol=TOLERANCE,
        ftol=TOLERANCE,
        gtol=TOLERANCE,
    )
    g, s, k = (float(value) for value in result.x)
    return g * scale, s, k if k > LEAST_K else 0.0


# Levenberg and Marquardt's steps, one small system a draw; a parameter that stands at its bound and is
# pushed against it is left out of the step (Nocedal and Wright, Numerical Optimization, 2006, 16.7).
def fit_many(
    levels: Array, weight: Array, centre: Array, start: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Minimise the squares of weight * (g N / (1 + s (N - 1) + k N (N - 1)) - centre), draw by draw.

    levels: N, shape (m,). weight, centre: shape (draws, m); a level that a draw lacks has weight 0.
    start: g, s and k. Give the parameters, shape (draws, 3), and which draws settled.
    """
    result = np.tile(np.clip(start, LOWEST, HIGHEST), (len(weight), 1))
    damping = np.full(len(weight), FIRST_DAMPING)
    settled = np.zeros(len(weight), dtype=bool)
    errors, slopes = _errors(result, levels, weight, centre)
    for _ in range(MOST_STEPS):
        step = _step(result, errors, slopes, damping)
        tried = np.clip(result + step, LOWEST, HIGHEST)
        then, then_slopes = _errors(tried, levels, weight, centre)
        better = (np.square(then).sum(1) <= np.square(errors).sum(1)) & ~settled
        small = (np.abs(tried - result) <= SETTLED * (FLOOR + np.abs(result))).all(1)
        settled |= small
        result[better], errors[better], slopes[better] = (
            tried[better],
            then[better],
            then_slopes[better],
        )
        damping = np.where(better, np.maximum(damping * LESS, LEAST_DAMPING), damping * MORE)
        if settled.all():
            break
    return result, settled


def _errors(array: Array, levels: Array, weight: Array, centre: Array) -> tuple[Array, Array]:
    """Return weighted errors, shape (draws, m), and their slopes, shape (draws, m, 3)."""
    g, s, k = (array[:, [place]] for place in range(3))
    below = 1 + s * (levels - 1) + k * levels * (levels - 1)
    by_g = weight * levels / below
    by_s = -g * by_g * (levels - 1) / below
    return weight * (g * levels / below - centre), np.stack([by_g, by_s, by_s * levels], axis=2)


def _step(array: Array, errors: Array, slopes: Array, damping: Array) -> Array:
    """Return the damped step of each draw, shape (draws, 3); 0 for parameters held at their bound."""
    gradient = np.einsum("dmp,dm->dp", slopes, errors)
    curvature = np.einsum("dmp,dmq->dpq", slopes, slopes)
    held = ((array <= LOWEST) & (gradient > 0)) | ((array >= HIGHEST) & (gradient < 0))
    gradient[held] = 0
    free = ~held
    curvature *= free[:, :, None] & free[:, None, :]
    diagonal = np.einsum("dpp->dp", curvature)
    ridge = np.where(held | (diagonal <= 0), 1.0, diagonal * (1 + damping[:, None]))
    places = np.arange(3)
    curvature[:, places, places] = ridge
    step: Array = -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    return step
