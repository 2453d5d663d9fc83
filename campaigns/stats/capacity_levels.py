"""The capacity by a bound of a share: loads one by one, each shown to hold, to fail, or undecided. Pure. CAPACITY 2.3."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.capacity import ConditionCapacity, Held, LoadState, ShareCondition, ShareRun
from campaigns.stats.capacity_fit import EQUAL, pooling_of
from campaigns.stats.comparison_cells import FailedShare, failed_share
from campaigns.stats.logs import LARGEST

FEWEST_RUNS = 2
"""The spread of one run is unknown, so it has no interval."""


def is_load(load: float) -> bool:
    """Return whether it can be a load: a number above 0."""
    return 0 < load < LARGEST


def share_capacity(
    condition: ShareCondition, alpha_low: float, alpha_high: float
) -> ConditionCapacity:
    """Return the capacity by this condition alone; low at one alpha, high at the other."""
    if not 0 <= condition.limit < 1 or any(_is_invalid(run) for run in condition.runs):
        return ConditionCapacity(
            condition.name, None, None, None, (), reason="invalid_values", is_share=True
        )
    levels = by_levels(condition.runs, condition.limit, alpha_low, alpha_high)
    measured = [each for each in levels if each.share is not None]
    if not measured:
        return ConditionCapacity(
            condition.name, None, None, None, levels, reason="loads", is_share=True
        )
    shares = {each.load: each.share or 0.0 for each in measured}
    above = {load: share > condition.limit + EQUAL for load, share in shares.items()}
    held = [each.load for each in measured if each.state == Held.HELD]
    failed = [each.load for each in measured if each.state == Held.FAILED]
    low = max(
        (load for load in held if not any(above[other] for other in above if other < load)),
        default=None,
    )
    high = min(
        (load for load in failed if all(above[other] for other in above if other > load)),
        default=None,
    )
    units = {load: sum(run.units for run in condition.runs if run.load == load) for load in shares}
    crossing = crossing_of(shares, units, condition.limit)
    return ConditionCapacity(
        condition.name,
        low=low,
        estimate=crossing,
        high=high,
        loads=levels,
        levels_only=True,
        is_share=True,
        about=crossing,
        not_monotone=[(one, other) for one in failed for other in held if one < other],
        clumped=any(
            share.clumped
            for load in shares
            if (share := _share_at(condition.runs, load, alpha_low)) and share.failed
        ),
    )


def by_levels(
    runs: Sequence[ShareRun], limit: float, alpha_low: float, alpha_high: float
) -> list[LoadState]:
    """Return the state of each load, ascending: held by the upper bound at one alpha, failed by the lower at the other.

    A share without a failure that has too few units to be shown is not contradicted.
    """
    return [
        _state(load, runs, limit, alpha_low, alpha_high)
        for load in sorted({run.load for run in runs if is_load(run.load)})
    ]


def _state(
    load: float, runs: Sequence[ShareRun], limit: float, alpha_low: float, alpha_high: float
) -> LoadState:
    own = _share_at(runs, load, alpha_low)
    if own is None:
        return LoadState(load, Held.NOT_MEASURED, 0)
    state = Held.UNDECIDED if own.failed else Held.NOT_CONTRADICTED
    if own.n < FEWEST_RUNS:
        return LoadState(load, state, own.n, share=own.share, units=own.units)
    strict = _share_at(runs, load, alpha_high) or own
    if own.ci.high <= limit + EQUAL:
        state = Held.HELD
    elif strict.ci.low > limit + EQUAL:
        state = Held.FAILED
    return LoadState(load, state, own.n, share=own.share, share_interval=own.ci, units=own.units)


def _share_at(runs: Sequence[ShareRun], load: float, alpha: float) -> FailedShare | None:
    own = [run for run in runs if run.load == load and not _is_invalid(run)]
    return failed_share([run.failed for run in own], [run.units for run in own], alpha=alpha)


def _is_invalid(run: ShareRun) -> bool:
    return not 0 <= run.failed <= run.units < LARGEST


def crossing_of(
    shares: Mapping[float, float], units: Mapping[float, int], limit: float
) -> float | None:
    """Return about where the rising pooled shares pass the limit, by straight lines over ln load; None where they do not."""
    loads = sorted(shares)
    weights = np.array([units[load] for load in loads], dtype=float)
    own: NDArray[np.float64] = np.array([shares[load] for load in loads])
    rising = pooling_of(own, weights) @ own
    above = np.flatnonzero(rising > limit + EQUAL)
    if not above.size or above[0] == 0:
        return None
    j = int(above[0]) - 1
    share = (limit - rising[j]) / (rising[j + 1] - rising[j])
    step = math.log(loads[j + 1] / loads[j])
    return float(loads[j] * math.exp(float(share) * step))
