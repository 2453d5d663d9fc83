"""Knee of a curve: where it bends, whether it does, and how certain that is. Pure. STATISTICS 3.1 to 3.4.

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
import scipy
from numpy.typing import NDArray

from campaigns.stats.interval import Interval
from campaigns.stats.resamples import Resampler
from campaigns.stats.units import InMetric, Number, OnAxis, Probability

FEWEST_LEVELS = 5
SHOWN, STRONG = 2.0, 6.0
"""Differences of AICc from the best smooth curve: a knee is shown, and strongly so."""
RESAMPLES = 2000

GRID = 400


@dataclass(frozen=True, slots=True)
class Levels:
    """Levels x > 0, ascending, shape (m,): mean logs y, runs n of each, and squares within them.

    df_within: how many degrees of freedom those have; 0 where no level was repeated.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    n: NDArray[np.float64]
    within: float
    df_within: int

    @property
    def runs(self) -> int:
        """Return the number of runs of all levels."""
        return int(self.n.sum())


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted curve. aicc: small is good; inf where there are too few runs for it.

    lack_of_fit_p: of the F test against the noise within levels; None without repeats or room.
    """

    name: str
    parameters: tuple[Number, ...]
    sse: Number
    aicc: Number
    lack_of_fit_f: Number | None
    lack_of_fit_p: Probability | None


def power_law(levels: Levels) -> Curve:
    """Ln y = a + b ln x; parameters: exp(a) and -b."""
    design = np.column_stack([np.ones_like(levels.x), np.log(levels.x)])
    (a, b), sse = _least_squares(design, levels)
    return _curve("power law", (math.exp(a), -b), sse, 2, levels)


def hyperbola(levels: Levels) -> Curve:
    """Ln y = ln(a + b / x), a and b not negative; parameters: a and b."""
    y, root = levels.y, np.sqrt(levels.n)
    scale = math.exp(float(y.mean()))

    def errors(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b = parameters
        return np.asarray(root * (np.log(scale * (a + b / levels.x) + 1e-300) - y))

    start = [0.5, 0.5 * float(np.exp(np.log(levels.x).mean()))]
    result = scipy.optimize.least_squares(
        errors, start, bounds=([1e-12, 0], np.inf), xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    sse = float(2 * result.cost)
    a, b = (scale * float(value) for value in result.x)
    return _curve("hyperbola", (a, b), sse, 2, levels)


def broken_power_law(levels: Levels) -> Curve:
    """Ln y = a + b ln x + c max(0, ln x - ln k), x_2 <= k <= x_(m-1); parameters: k, a, b, c."""
    grid = candidates(levels.x)
    errors = squares_around(levels.y[None, :], levels, grid)[0]
    best = int(errors.argmin())
    low, high = np.log(grid[max(0, best - 1)]), np.log(grid[min(grid.size - 1, best + 1)])

    def error(log_k: float) -> float:
        return _least_squares(broken_design(levels.x, math.exp(log_k)), levels)[1]

    ends = [(error(end), end) for end in (low, high, np.log(grid[best]))]
    if high > low:
        result = scipy.optimize.minimize_scalar(
            error, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        )
        ends.append((float(result.fun), float(result.x)))
    k = math.exp(min(ends)[1])
    parameters, sse = _least_squares(broken_design(levels.x, k), levels)
    return _curve("broken power law", (k, *parameters), sse, 4, levels)


def candidates(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the places that a break is looked for at, from the second level to the last but one."""
    return np.exp(np.linspace(np.log(x[1]), np.log(x[-2]), GRID + 1))


def broken_design(x: NDArray[np.float64], k: float) -> NDArray[np.float64]:
    """Columns of the broken power law for a break at `k`, shape (m, 3)."""
    log_x = np.log(x)
    return np.column_stack([np.ones_like(x), log_x, np.maximum(0, log_x - math.log(k))])


def squares_around(
    y: NDArray[np.float64], levels: Levels, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of squares of rows of means, shape (r, m), around each break of the grid: (r, g)."""
    root, log_x = np.sqrt(levels.n), np.log(levels.x)
    line, _ = np.linalg.qr(root[:, None] * np.column_stack([np.ones_like(log_x), log_x]))
    left = y * root
    left = left - left @ line @ line.T
    bends = root[:, None] * np.maximum(0, log_x[:, None] - np.log(grid)[None, :])
    bends = bends - line @ (line.T @ bends)
    bends = bends / np.linalg.norm(bends, axis=0)
    explained = np.square(left @ bends)
    return np.asarray(np.maximum(0, np.square(left).sum(axis=1)[:, None] - explained))


def fit_broken(y: NDArray[np.float64], levels: Levels, k: float) -> tuple[float, float]:
    """Return the exponents below and above a break for other means of the same levels."""
    root = np.sqrt(levels.n)
    solution = np.linalg.lstsq(root[:, None] * broken_design(levels.x, k), root * y, rcond=None)[0]
    return float(solution[1]), float(solution[1] + solution[2])


def _least_squares(design: NDArray[np.float64], levels: Levels) -> tuple[tuple[float, ...], float]:
    root = np.sqrt(levels.n)
    solution = np.linalg.lstsq(root[:, None] * design, root * levels.y, rcond=None)[0]
    errors = root * (levels.y - design @ solution)
    return tuple(float(value) for value in solution), float(errors @ errors)


def _curve(
    name: str, parameters: tuple[float, ...], around: float, count: int, levels: Levels
) -> Curve:
    """`count`: of free parameters, without the noise."""
    sse, n, p = around + levels.within, levels.runs, count + 1
    aicc = math.inf
    if n > p + 1:
        aicc = n * math.log(max(sse, 1e-300) / n) + 2 * p + 2 * p * (p + 1) / (n - p - 1)
    df = levels.x.size - count
    f = p_value = None
    if df > 0 and levels.df_within > 0 and levels.within > 0:
        f = around / df / (levels.within / levels.df_within)
        p_value = float(scipy.stats.f.sf(f, df, levels.df_within))
    return Curve(name, parameters, sse, aicc, f, p_value)


@dataclass(frozen=True, slots=True)
class Methods:
    """The knee by each method, as a level; None where it finds none.

    gains: change of the value per unit of x between neighbours. consensus: at least two of L-method,
    Kneedle on logs and the break, rounded down to a level, agree.
    """

    l_method: OnAxis
    slope_ratio: OnAxis
    kneed_linear: OnAxis | None
    kneed_log: OnAxis | None
    break_level: OnAxis
    consensus: OnAxis | None
    gains: tuple[InMetric, ...]


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The uncertainty of the break, by resamples.

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
    """Build levels from the logs of each level's values. means: adjusted for blocks, where there are any."""
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
    resamples: int | None = None,
    seed: int = 0,
    alpha: float = 0.05,
) -> Knee | None:
    """Find the knee in five levels or more, all above 0; None with fewer.

    means: of the levels on the scale of the values, shape (m,), for the methods that are shown on it.
    resampler: draws cells in the order of the levels. resamples: RESAMPLES where nothing is said.
    """
    if levels.x.size < FEWEST_LEVELS:
        return None
    if not (levels.x > 0).all() or np.unique(levels.x).size < levels.x.size:
        raise ValueError("Levels have to be different numbers above 0.")
    smooth = (hyperbola(levels), power_law(levels))
    broken = broken_power_law(levels)
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
        uncertainty=_uncertainty(levels, resampler, resamples or RESAMPLES, seed, alpha)
        if resampler
        else None,
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
    """Return the change of y per unit of x between neighbours, above 0 where y falls."""
    return tuple(float(value) for value in -np.diff(y) / np.diff(x))


def slope_ratio(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the level after which the gain per unit falls by the largest factor."""
    steps = [abs(gain) for gain in gains(x, y)]
    ratios = [before / after if after else math.inf for before, after in pairwise(steps)]
    return float(x[1 + int(np.argmax(ratios))])


def kneedle(x: NDArray[np.float64], y: NDArray[np.float64], *, logs: bool) -> float | None:
    """Return the knee by kneed (Satopaa et al., 2011), S = 1; None where there is none. Ascending levels only."""
    from kneed import KneeLocator  # loads nearly all of SciPy

    axis = np.log2(x) if logs else x
    falls = y[-1] < y[0]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # kneed warns that there is no knee; the result is None then
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
    grid = candidates(levels.x)
    breaks = grid[squares_around(drawn, levels, grid).argmin(axis=1)]
    exponents = np.array(
        [fit_broken(y, levels, float(k)) for y, k in zip(drawn, breaks, strict=True)]
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
