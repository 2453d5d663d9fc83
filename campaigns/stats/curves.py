"""Curves through the levels of a number, on logs of both: what a knee is compared with. Pure.

STATISTICS 3.1, 3.2. Sums of squares are over all runs: those around the curve, at the means of the
levels, and those within the levels.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

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
        """Of all levels."""
        return int(self.n.sum())


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted curve. aicc: small is good; inf where there are too few runs for it.

    lack_of_fit_p: of the F test against the noise within levels; None without repeats or room.
    """

    name: str
    parameters: tuple[float, ...]
    sse: float
    aicc: float
    lack_of_fit_f: float | None
    lack_of_fit_p: float | None


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
    result = optimize.least_squares(
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
        result = optimize.minimize_scalar(
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
        p_value = float(stats.f.sf(f, df, levels.df_within))
    return Curve(name, parameters, sse, aicc, f, p_value)
