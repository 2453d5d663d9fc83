"""Little's law, and whether a run was in the steady state that it requires. Pure. STATISTICS 2.6, 4, 8.7.

The law shows whether reported response times include all waiting.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 0.05

FEWEST_STEPS = 8
HALVES_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class LittleCheck:
    """effective: X R, the mean number really being served. ratio: of it to N."""

    effective: float
    ratio: float

    @property
    def consistent(self) -> bool:
        """Return whether all N are accounted for, within 5 %; if not, some waited where nobody timed them."""
        return abs(self.ratio - 1) <= TOLERANCE


def check_little(n: float, throughput: float, response_seconds: float) -> LittleCheck:
    """Compare X R with N; only for a closed loop in steady state. throughput: 1/s."""
    if n <= 0:
        raise ValueError("N has to be above 0.")
    effective = throughput * response_seconds
    return LittleCheck(effective, effective / n)


def change_of_halves(values: Sequence[float]) -> float | None:
    """Return how much more the second half of a series carried, as a share of the first (0.05 is 5 %).

    Without its first step, in which the load begins, and its last, which may be a part of one. None
    with too few steps to say.
    """
    inner = values[1:-1]
    if len(inner) < FEWEST_STEPS - 2:
        return None
    half = len(inner) // 2
    first, second = sum(inner[:half]), sum(inner[-half:])
    if first <= 0:
        return 0.0 if second <= 0 else math.inf
    return second / first - 1


def is_steady(values: Sequence[float]) -> bool | None:
    """Return whether the halves differ by 5 % at most; None where nobody can."""
    change = change_of_halves(values)
    return None if change is None else abs(change) <= HALVES_TOLERANCE + 1e-12
