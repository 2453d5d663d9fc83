"""Convert between values, logs and percentages. Pure.

Effects are ratios, so the arithmetic is done on logs and shown as a change in %.
"""

import math

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e150
"""A larger value is no measurement; squares and sums of smaller ones stay finite."""
_LARGEST_LOG = 600.0


def is_number(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each value whether it is usable in arithmetic."""
    return np.isfinite(values) & (np.abs(values) < LARGEST)


def ratio_of(log: float) -> float:
    """Return exp(x); an infinite bound becomes a finite number, for JSON."""
    return math.exp(min(log, _LARGEST_LOG))


def pct_of(log: float) -> float:
    """Convert a log ratio to a change in %."""
    return 100 * math.expm1(min(log, _LARGEST_LOG))
