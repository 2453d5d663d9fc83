"""Change points of a history: where the level of sessions moved. Pure.

E-divisive (Matteson and James, 2014) in windows, with Student's test on neighbouring segments in place of permutations, as
Apache Otava does it; on logs, with pooled noise and segments of three. STATISTICS 6.1, TRENDS 5.4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.student import quantile, upper_tail
from campaigns.stats.units import Count, OnLogs, Place, Probability

P_VALUE = 0.001
WEAK = 10
"""A point is tried at so many times the limit; those that stay above the limit are taken out again."""
SEGMENT = 3
WINDOW, STEP = 50, 25
FEWEST = 8
CONFIDENCE = 0.95
LINE_PARAMETERS = 3
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of level. at: the place of the first session behind it. estimate: the segment behind minus that before, with its 95 % interval."""

    at: Place
    p: Probability
    estimate: OnLogs
    low: OnLogs
    high: OnLogs
    before: Count
    after: Count


@dataclass(frozen=True, slots=True)
class Drift:
    """A straight line tells the history better than steps do. slope: on logs, from one session to the next."""

    slope: OnLogs


def change_points(logs: Sequence[OnLogs], *, p_value: Probability = P_VALUE) -> list[ChangePoint]:
    """Return the change points of values in their order; none of fewer than eight values."""
    values = np.asarray(logs, dtype=float)
    if values.size < FEWEST:
        return []
    return _merged(values, _weak(values, min(1.0, WEAK * p_value)), p_value)


def at_places(logs: Sequence[OnLogs] | Values, places: Sequence[Place]) -> list[ChangePoint]:
    """Return the changes at places that are chosen already, each between its neighbours."""
    values = np.asarray(logs, dtype=float)
    ends = [0, *places, values.size]
    return [_tested(values, *ends[index : index + 3]) for index in range(len(places))]


def drift(logs: Sequence[OnLogs], places: Sequence[Place]) -> Drift | None:
    """Return the straight line through the values if Schwarz's criterion prefers it to steps at these places."""
    values = np.asarray(logs, dtype=float)
    if values.size < FEWEST:
        return None
    x = np.arange(values.size, dtype=float)
    x -= x.mean()
    slope = float(x @ values / (x @ x))
    line = _criterion(values - values.mean() - slope * x, LINE_PARAMETERS)
    parts = np.split(values, list(places))
    steps = np.concatenate([part - part.mean() for part in parts])
    return Drift(slope) if line < _criterion(steps, 2 * len(places) + 2) else None


def _criterion(residuals: Values, parameters: int) -> float:
    """Return Schwarz's criterion; less is better."""
    n = residuals.size
    mean_square = max(float(residuals @ residuals) / n, NO_NOISE**2)
    return n * math.log(mean_square) + parameters * math.log(n)


def _weak(values: Values, limit: float) -> list[int]:
    """Return the places of all that may be change points, found in overlapping windows."""
    start, found = 0, []
    while start < values.size:
        inside = [start + each for each in _in_window(values[start : start + WINDOW], limit)]
        found += inside
        start = max([start + STEP, *inside])
    return sorted(set(found))


def _in_window(values: Values, limit: float) -> list[int]:
    """Split a window at its best place, then its parts, until the best is not significant."""
    ends = [0, int(values.size)]
    best = {0: _best_split(values)}
    while True:
        at, start = max(((best[each][0], each) for each in ends[:-1]), default=(-math.inf, 0))
        if at == -math.inf:
            return ends[1:-1]
        end = ends[ends.index(start) + 1]
        cut = start + best[start][1]
        if _tested(values, start, cut, end).p > limit:
            return ends[1:-1]
        ends = sorted({*ends, cut})
        best[start], best[cut] = _best_split(values[start:cut]), _best_split(values[cut:end])


def _best_split(values: Values) -> tuple[float, int]:
    """Return the largest divergence of two neighbouring parts, and where the second begins; minus infinity without one.

    The first part begins with the values; the second ends anywhere (kappa), so that a level that comes back hides nothing.
    """
    n = int(values.size)
    if n < 2 * SEGMENT:
        return -math.inf, 0
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = np.abs(values[:, None] - values[None, :]).cumsum(0).cumsum(1)
    cut = np.arange(SEGMENT, n - SEGMENT + 1)[:, None]
    end = np.arange(2 * SEGMENT, n + 1)[None, :]
    first, second = cut, np.maximum(end - cut, 2)
    own = sums[cut, cut]
    across = sums[cut, end] - own
    other = sums[end, end] - 2 * sums[cut, end] + own
    total = first + second
    divergence = (
        2 * across / total
        - second * own / (total * (first - 1))
        - first * other / (total * (second - 1))
    )
    divergence = np.where(end - cut >= SEGMENT, divergence, -math.inf)
    row, column = np.unravel_index(int(divergence.argmax()), divergence.shape)
    return float(divergence[row, column]), int(cut[row, 0])


def _merged(values: Values, places: list[int], limit: float) -> list[ChangePoint]:
    """Take out the point with the largest p until all are below the limit; its neighbours are tested again."""
    points = at_places(values, places)
    while points:
        weakest = max(points, key=lambda each: each.p)
        if weakest.p < limit:
            return points
        points = at_places(values, [each.at for each in points if each is not weakest])
    return []


def _tested(values: Values, start: int, cut: int, end: int) -> ChangePoint:
    """Compare two neighbouring segments by Student's test with pooled noise."""
    before, after = values[start:cut], values[cut:end]
    estimate = float(after.mean() - before.mean())
    df = int(before.size + after.size - 2)
    squares = float(np.square(before - before.mean()).sum() + np.square(after - after.mean()).sum())
    sd = math.sqrt(squares / df) if df > 0 else 0.0
    if sd < NO_NOISE:
        p = 1.0 if abs(estimate) < NO_NOISE else 0.0
        half = 0.0
    else:
        error = sd * math.sqrt(1 / before.size + 1 / after.size)
        p = 2 * upper_tail(abs(estimate) / error, df)
        half = quantile(0.5 + CONFIDENCE / 2, df) * error
    return ChangePoint(
        cut, p, estimate, estimate - half, estimate + half, int(before.size), int(after.size)
    )
