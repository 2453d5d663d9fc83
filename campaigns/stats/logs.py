"""Between values, logs and percentages. Pure.

Effects are ratios, so the arithmetic is done on logs and shown as a change in %.
"""

import math

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e150
"""Beyond it a value is no measurement; squares and sums below it stay finite."""
_LARGEST_LOG = 600.0


def is_number(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say for each value whether arithmetic can be done with it."""
    return np.isfinite(values) & (np.abs(values) < LARGEST)


def ratio_of(log: float) -> float:
    """Undo the log; an interval without end stays a number that JSON can hold."""
    return math.exp(min(log, _LARGEST_LOG))


def pct_of(log: float) -> float:
    """Turn a log ratio into a change in %."""
    return 100 * math.expm1(min(log, _LARGEST_LOG))
