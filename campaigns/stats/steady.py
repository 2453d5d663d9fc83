"""Whether a run was in a steady state: both halves of it carried as much. Pure. STATISTICS 2.6."""

import math
from collections.abc import Sequence

FEWEST_STEPS = 8
TOLERANCE = 0.05


def change_of_halves(values: Sequence[float]) -> float | None:
    """Give how much more the second half of a series carried, as a share of the first (0.05 is 5 %).

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
    """Say whether the halves differ by 5 % at most; None where nobody can."""
    change = change_of_halves(values)
    return None if change is None else abs(change) <= TOLERANCE + 1e-12
