"""What would narrow the bracket of a capacity: so many more blocks, or loads in between. Pure. CAPACITY 2.5."""

import math
from collections.abc import Sequence
from itertools import pairwise

from campaigns.stats import student
from campaigns.stats.capacity import (
    Advice,
    Capacity,
    CapacityWord,
    ConditionCapacity,
    Held,
    LoadState,
    ShareCondition,
    ValueCondition,
)
from campaigns.stats.capacity_fit import EQUAL, Line, line_of
from campaigns.stats.capacity_line import log_runs

ROUGH_BELOW = 5
LARGEST_PLAN = 100
"""Blocks: more are no advice."""
FIGURES = 2
"""Of the loads that are advised."""
HARDLY = 0.02
"""A load that is moved by less is as good in between."""


def advice_of(
    conditions: Sequence[ValueCondition | ShareCondition], capacity: Capacity, alpha: float
) -> Advice | None:
    """Return what would narrow the bracket to the resolution, or make one; None where it is narrow, or nothing would.

    Blocks, as many as would decide the loads next to the crossing that are not; else loads in between. alpha: of a load that fails.
    """
    if capacity.word == CapacityWord.NOT_MONOTONE or capacity.reason not in {"", "no_bound"}:
        return None
    if capacity.low and capacity.high and not capacity.is_wide:
        return None
    between = _between(capacity)
    wanted: list[int] = []
    for condition, found in zip(conditions, capacity.conditions, strict=True):
        open_ones = [each for each in found.loads if _is_open(each, capacity)]
        wanted += [
            max(1, blocks - state.runs)
            for state in _nearest(open_ones, condition)
            if (blocks := _for_level(condition, state, alpha)) is not None
        ]
    blocks = max(wanted, default=0)
    if not blocks or blocks + capacity.blocks >= LARGEST_PLAN:
        return Advice(loads=between) if between else None
    return Advice(blocks=blocks, rough=capacity.blocks < ROUGH_BELOW)


def _is_open(state: LoadState, capacity: Capacity) -> bool:
    """Return whether a load keeps both bounds apart: neither shown to hold nor to fail, between them."""
    above = capacity.low is None or state.load > capacity.low
    below = capacity.high is None or state.load < capacity.high
    return state.state in (Held.UNDECIDED, Held.NOT_CONTRADICTED) and above and below


def _nearest(
    undecided: Sequence[LoadState], condition: ValueCondition | ShareCondition
) -> list[LoadState]:
    """Return the loads next to the crossing, of what rises: what these show, the others need not show.

    The largest load that is shown to hold is the lower bound, the smallest that is shown to fail the upper one.
    """
    above = [_is_above(each, condition) for each in undecided]
    if above != sorted(above):
        return [*undecided]
    first = above.index(True) if True in above else len(above)
    return [*undecided[:first][-1:], *undecided[first:][:1]]


def _is_above(state: LoadState, condition: ValueCondition | ShareCondition) -> bool:
    if isinstance(condition, ShareCondition):
        return state.share is not None and state.share > condition.limit + EQUAL
    if state.value is None:
        return True
    over = state.value > condition.limit
    return over if condition.lower_is_better else not over


def _between(capacity: Capacity) -> list[float]:
    """Return loads on the log grid that leave no gap wider than the resolution between the bounds."""
    low, high, resolution = capacity.low, capacity.high, capacity.resolution
    if not low or not high or resolution <= 1:
        return []
    measured = {each.load for one in capacity.conditions for each in one.loads}
    places = sorted({low, high} | {load for load in measured if low < load < high})
    result = []
    for one, other in pairwise(places):
        parts = math.ceil(math.log(other / one) / math.log(resolution) - 1e-9)
        for part in range(1, parts):
            load = _rounded(one * (other / one) ** (part / parts))
            if one < load < other:
                result.append(load)
    return result


def _rounded(load: float) -> float:
    """Round a load to the fewest figures that hardly move it."""
    for figures in range(1, FIGURES + 1):
        near = round(load, figures - 1 - math.floor(math.log10(load)))
        if abs(near / load - 1) < HARDLY:
            return near
    return near


def line_of_window(condition: ValueCondition, found: ConditionCapacity) -> Line | None:
    """Return the line of the window; None where it has none."""
    inside = [math.log(load) for load in found.window]
    runs = [run for run in log_runs(condition) if any(abs(run[1] - x) < 1e-9 for x in inside)]
    line = line_of(runs) if runs else "loads"
    return None if isinstance(line, str) else line


def _for_level(
    condition: ValueCondition | ShareCondition, state: LoadState, alpha: float
) -> int | None:
    """Return the smallest number of blocks at which the estimate in hand would show its side of the limit."""
    if isinstance(condition, ShareCondition):
        return _for_share(state, condition, alpha)
    n = state.runs
    if state.band is None or state.value is None or n < 2:
        return None
    gap = abs(math.log(state.value / condition.limit))
    if not state.band.low < state.band.high or state.band.low <= 0 or gap <= 0:
        return None
    half = math.log(state.band.high / state.band.low) / 2
    error = half * math.sqrt(n) / student.quantile(1 - alpha / 2, n - 1)
    for blocks in range(n + 1, LARGEST_PLAN):
        if student.quantile(1 - alpha / 2, blocks - 1) * error / math.sqrt(blocks) <= gap:
            return blocks
    return LARGEST_PLAN


def _for_share(state: LoadState, condition: ShareCondition, alpha: float) -> int | None:
    """Return the blocks until Wilson's interval leaves the limit, with as many effective units a run as now.

    Wilson's bound reaches the limit where t sqrt(limit (1 - limit) / n) is the distance of share and limit.
    """
    share, interval, limit = state.share or 0.0, state.share_interval, condition.limit
    if interval is None or share == limit or state.runs < 2 or not 0 < limit < 1:
        return None
    t = student.quantile(1 - alpha / 2, state.runs - 1)
    end = interval.high if share <= limit else interval.low
    if abs(end - share) < 1e-12 or not 0 < end < 1:
        return None
    per_run = t**2 * end * (1 - end) / (end - share) ** 2 / state.runs
    for blocks in range(state.runs + 1, LARGEST_PLAN):
        reach = student.quantile(1 - alpha / 2, blocks - 1)
        reach *= math.sqrt(limit * (1 - limit) / (per_run * blocks))
        if reach <= abs(limit - share):
            return blocks
    return LARGEST_PLAN
