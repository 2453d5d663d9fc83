"""Where a curve bends, whether it does at all, and how sure that is. Pure. STATISTICS 3.1 to 3.4.

Primary is the break of a broken power law on logs; the L-method, slope ratios and Kneedle on two axes
stand beside it, since they can disagree.
"""

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from kneed import KneeLocator
from numpy.typing import NDArray

from campaigns.stats import curves
from campaigns.stats.curves import Curve, Levels
from campaigns.stats.interval import Interval
from campaigns.stats.resamples import Resampler

FEWEST_LEVELS = 5
SHOWN, STRONG = 2.0, 6.0
"""Differences of AICc from the best smooth curve: a knee is shown, and strongly so."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Methods:
    """What each method calls the knee, as a level; None where it finds none.

    gains: change of the value per unit of x between neighbours. consensus: at least two of L-method,
    Kneedle on logs and the break, rounded down to a level, agree.
    """

    l_method: float
    slope_ratio: float
    kneed_linear: float | None
    kneed_log: float | None
    break_level: float
    consensus: float | None
    gains: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Of the break, by resamples.

    shares: of resamples whose break lies strictly between two neighbouring levels, or at a level, by
    the text of both. l_shares, chord_shares: by level, of the L-method and of Kneedle's rule on logs.
    rough: fewer than five blocks or runs a level.
    """

    interval: Interval
    below: Interval
    above: Interval
    breaks: tuple[float, ...]
    l_shares: dict[float, float]
    chord_shares: dict[float, float]
    rough: bool


@dataclass(frozen=True, slots=True)
class Knee:
    """strength: `strong`, `moderate`, or `smooth`: diminishing returns without a distinct knee.

    at: the break. below, above: exponents of the power laws on both sides. delta_aicc: by how much
    the broken curve is better than the best smooth one.
    """

    strength: str
    at: float
    below: float
    above: float
    delta_aicc: float
    curves: tuple[Curve, ...]
    methods: Methods
    uncertainty: Uncertainty | None


def levels_of(
    x: Sequence[float],
    logs: Sequence[NDArray[np.float64]],
    means: NDArray[np.float64] | None = None,
) -> Levels:
    """Make levels from the logs of each level's values; `means`: adjusted ones, where blocks say so."""
    order = np.argsort(np.array(x, dtype=float), kind="stable")
    ordered = [logs[i] for i in order]
    own = np.array([level.mean() for level in ordered])
    return Levels(
        x=np.array(x, dtype=float)[order],
        y=own if means is None else means[order],
        n=np.array([float(level.size) for level in ordered]),
        within=float(sum(float(np.square(level - level.mean()).sum()) for level in ordered)),
        df_within=sum(level.size - 1 for level in ordered),
    )


def find_knee(
    levels: Levels,
    means: NDArray[np.float64],
    *,
    resampler: Resampler | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    alpha: float = 0.05,
) -> Knee | None:
    """Look for a knee in five levels or more, all above 0; None with fewer.

    means: of the levels on the scale of the values, shape (m,), for the methods that are shown on it.
    resampler: draws cells in the order of the levels.
    """
    if levels.x.size < FEWEST_LEVELS:
        return None
    if not (levels.x > 0).all() or np.unique(levels.x).size < levels.x.size:
        raise ValueError("Levels have to be different numbers above 0.")
    smooth = (curves.hyperbola(levels), curves.power_law(levels))
    broken = curves.broken_power_law(levels)
    delta = min(curve.aicc for curve in smooth) - broken.aicc
    k, _, below, bend = broken.parameters
    return Knee(
        strength=_strength(delta),
        at=k,
        below=below,
        above=below + bend,
        delta_aicc=delta if math.isfinite(delta) else 0.0,
        curves=(*smooth, broken),
        methods=_methods(levels.x, means, k),
        uncertainty=_uncertainty(levels, resampler, resamples, seed, alpha) if resampler else None,
    )


def l_method(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the last level of the left one of two straight lines (Salvador and Chan, 2004)."""
    return float(x[_l_places(y[None, :], x)[0]])


def l_errors(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[float, float]:
    """Return the weighted RMSE of both lines, by the level that ends the left one."""
    errors = _l_errors(y[None, :], x)[0]
    return {float(x[place + 1]): float(error) for place, error in enumerate(errors)}


def chord(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the level that is furthest from the straight line between the ends (Kneedle's idea)."""
    return float(x[_chord_places(y[None, :], x)[0]])


def gains(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, ...]:
    """Change of y per unit of x between neighbours, above 0 where y falls."""
    return tuple(float(value) for value in -np.diff(y) / np.diff(x))


def slope_ratio(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the level after which the gain per unit falls by the largest factor."""
    steps = [abs(gain) for gain in gains(x, y)]
    ratios = [before / after if after else math.inf for before, after in pairwise(steps)]
    return float(x[1 + int(np.argmax(ratios))])


def kneedle(x: NDArray[np.float64], y: NDArray[np.float64], *, logs: bool) -> float | None:
    """Ask kneed (Satopaa et al., 2011), S = 1; None where it finds no knee. Ascending levels only."""
    axis = np.log2(x) if logs else x
    falls = y[-1] < y[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no knee; the answer says so
        result = KneeLocator(
            axis,
            y,
            S=1.0,
            curve="convex" if falls else "concave",
            direction="decreasing" if falls else "increasing",
        ).knee
    return None if result is None else float(x[int(np.argmin(np.abs(axis - result)))])


def _strength(delta: float) -> str:
    if not math.isfinite(delta) or delta < SHOWN:
        return "smooth"
    return "strong" if delta >= STRONG else "moderate"


def _methods(x: NDArray[np.float64], means: NDArray[np.float64], k: float) -> Methods:
    knee_log = kneedle(x, means, logs=True)
    lines = l_method(x, means)
    rounded = float(x[max(0, int(np.searchsorted(x, k * (1 + 1e-9), side="right")) - 1)])
    votes = Counter(level for level in (lines, knee_log, rounded) if level is not None)
    level, count = votes.most_common(1)[0]
    return Methods(
        l_method=lines,
        slope_ratio=slope_ratio(x, means),
        kneed_linear=kneedle(x, means, logs=False),
        kneed_log=knee_log,
        break_level=rounded,
        consensus=level if count > 1 else None,
        gains=gains(x, means),
    )


def _uncertainty(
    levels: Levels, resampler: Resampler, resamples: int, seed: int, alpha: float
) -> Uncertainty:
    drawn = np.array([draw.means(levels.x.size) for draw in resampler.draws(resamples, seed)])
    grid = curves.candidates(levels.x)
    breaks = grid[curves.squares_around(drawn, levels, grid).argmin(axis=1)]
    exponents = np.array(
        [curves.fit_broken(y, levels, float(k)) for y, k in zip(drawn, breaks, strict=True)]
    )
    values = np.exp(drawn)

    def bounds(result: NDArray[np.float64]) -> Interval:
        low, high = np.quantile(result, [alpha / 2, 1 - alpha / 2])
        return Interval(float(low), float(high))

    def shares(places: NDArray[np.int64]) -> dict[float, float]:
        counted = Counter(places.tolist())
        return {
            float(levels.x[place]): count / len(places) for place, count in sorted(counted.items())
        }

    return Uncertainty(
        interval=bounds(breaks),
        below=bounds(exponents[:, 0]),
        above=bounds(exponents[:, 1]),
        breaks=tuple(float(k) for k in np.sort(breaks)),
        l_shares=shares(_l_places(values, levels.x)),
        chord_shares=shares(_chord_places(values, np.log2(levels.x))),
        rough=resampler.rough,
    )


def _l_places(y: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.asarray(1 + _l_errors(y, x).argmin(axis=1))


def _l_errors(y: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of rows of means, shape (r, m), for each end of the left line: (r, m - 3)."""
    size = x.size
    result = []
    for end in range(2, size - 1):
        left = _rmse(y[:, :end], x[:end])
        right = _rmse(y[:, end:], x[end:])
        result.append((end * left + (size - end) * right) / size)
    return np.column_stack(result)


def _rmse(y: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Around a straight line through each row."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones_like(x), x]))
    return np.asarray(np.sqrt(np.square(y - y @ basis @ basis.T).sum(axis=1) / x.size))


def _chord_places(y: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Of rows of means: where the normalised curve is furthest from its chord."""
    along = (x - x[0]) / (x[-1] - x[0])
    span = y[:, -1:] - y[:, :1]
    safe = np.where(span == 0, 1.0, span)
    return np.asarray(np.abs((y - y[:, :1]) / safe - along).argmax(axis=1))
