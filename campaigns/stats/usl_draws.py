"""The Universal Scalability Law of many draws at once, near a law that is known. Pure.

Levenberg and Marquardt's steps, one small system a draw; a parameter that stands at its bound and is
pushed against it is left out of the step (Nocedal and Wright, Numerical Optimization, 2006, 16.7).
"""

import numpy as np
from numpy.typing import NDArray

LOWEST, HIGHEST = np.zeros(3), np.array([np.inf, 1.0, 1.0])
MOST_STEPS = 80
SETTLED = 1e-10
"""A step that changes no parameter by more than this share, or its floor, is the last one."""
FLOOR = 1e-4
FIRST_DAMPING, LESS, MORE = 1e-3, 0.1, 5.0
LEAST_DAMPING = 1e-12

Array = NDArray[np.float64]


def fit_many(
    levels: Array, weight: Array, centre: Array, start: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Minimise the squares of weight * (g N / (1 + s (N - 1) + k N (N - 1)) - centre), draw by draw.

    levels: N, shape (m,). weight, centre: shape (draws, m); a level that a draw lacks has weight 0.
    start: g, s and k. Give the parameters, shape (draws, 3), and which draws settled.
    """
    found = np.tile(np.clip(start, LOWEST, HIGHEST), (len(weight), 1))
    damping = np.full(len(weight), FIRST_DAMPING)
    settled = np.zeros(len(weight), dtype=bool)
    errors, slopes = _errors(found, levels, weight, centre)
    for _ in range(MOST_STEPS):
        step = _step(found, errors, slopes, damping)
        tried = np.clip(found + step, LOWEST, HIGHEST)
        then, then_slopes = _errors(tried, levels, weight, centre)
        better = (np.square(then).sum(1) <= np.square(errors).sum(1)) & ~settled
        small = (np.abs(tried - found) <= SETTLED * (FLOOR + np.abs(found))).all(1)
        settled |= small
        found[better], errors[better], slopes[better] = (
            tried[better],
            then[better],
            then_slopes[better],
        )
        damping = np.where(better, np.maximum(damping * LESS, LEAST_DAMPING), damping * MORE)
        if settled.all():
            break
    return found, settled


def _errors(found: Array, levels: Array, weight: Array, centre: Array) -> tuple[Array, Array]:
    """Weighted errors, shape (draws, m), and their slopes, shape (draws, m, 3)."""
    g, s, k = (found[:, [place]] for place in range(3))
    below = 1 + s * (levels - 1) + k * levels * (levels - 1)
    by_g = weight * levels / below
    by_s = -g * by_g * (levels - 1) / below
    return weight * (g * levels / below - centre), np.stack([by_g, by_s, by_s * levels], axis=2)


def _step(found: Array, errors: Array, slopes: Array, damping: Array) -> Array:
    """The damped step of each draw, shape (draws, 3); 0 for what is held at its bound."""
    gradient = np.einsum("dmp,dm->dp", slopes, errors)
    curvature = np.einsum("dmp,dmq->dpq", slopes, slopes)
    held = ((found <= LOWEST) & (gradient > 0)) | ((found >= HIGHEST) & (gradient < 0))
    gradient[held] = 0
    free = ~held
    curvature *= free[:, :, None] & free[:, None, :]
    diagonal = np.einsum("dpp->dp", curvature)
    ridge = np.where(held | (diagonal <= 0), 1.0, diagonal * (1 + damping[:, None]))
    places = np.arange(3)
    curvature[:, places, places] = ridge
    step: Array = -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    return step
