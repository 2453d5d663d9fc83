"""What would decide a capacity: so many more blocks, or loads in between. Pure. CAPACITY 2.5."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from campaigns.stats import student
from campaigns.stats.capacity import (
    Advice,
    ConditionCapacity,
    Held,
    LoadState,
    ShareCondition,
    ValueCondition,
)
from campaigns.stats.capacity_fit import EQUAL, Line, line_of
from campaigns.stats.capacity_line import is_invalid, log_limit, log_runs

ROUGH_BELOW = 5
LARGEST_PLAN = 100
"""Blocks: more are no advice."""
FIGURES = 2
"""Of the loads that are advised."""


def advice_on(
    condition: ValueCondition | ShareCondition,
    found: ConditionCapacity,
    resolution: float,
    alpha: float,
) -> Advice | None:
    """Return what would narrow the interval of one condition to the resolution; None where it is, or nothing would."""
    if found.reason or (found.low and found.high and found.high / found.low <= resolution):
        return None
    between = _between(found, resolution)
    n = max((each.runs for each in found.loads), default=0)
    if isinstance(condition, ValueCondition) and not found.levels_only and found.estimate:
        line = None if is_invalid(condition) else line_of_window(condition, found)
        width = math.log(found.high / found.low) if found.high and found.low else math.inf
        if line is None or (sum(found.allowance) > width / 2 and between):
            return Advice(loads=between) if between else None
        blocks = _for_line(line, condition, found, resolution, alpha)
    else:
        undecided = [each for each in found.loads if _is_open(each, found)]
        if isinstance(condition, ShareCondition):
            undecided = _nearest(undecided, condition.limit)
        if not undecided:
            return Advice(loads=between) if between else None
        blocks = max((_for_level(condition, each, n, alpha) or LARGEST_PLAN) for each in undecided)
    if blocks is None or blocks >= LARGEST_PLAN:
        return Advice(loads=between) if between else None
    return Advice(blocks=max(1, blocks - n), rough=n < ROUGH_BELOW)


def together(advices: Sequence[Advice]) -> Advice | None:
    """Return one advice for several conditions."""
    blocks = [each.blocks for each in advices if each.blocks]
    loads = sorted({load for each in advices for load in each.loads})
    if not blocks and not loads:
        return None
    return Advice(
        blocks=max(blocks) if blocks else None,
        rough=any(each.rough for each in advices),
        loads=loads,
    )


def _is_open(state: LoadState, found: ConditionCapacity) -> bool:
    """Return whether the load keeps both bounds apart: neither shown to hold nor to fail, between them."""
    above = found.low is None or state.load > found.low
    below = found.high is None or state.load < found.high
    return state.state == Held.UNDECIDED and above and below


def _nearest(undecided: Sequence[LoadState], limit: float) -> list[LoadState]:
    """Return the loads next to the crossing, of shares that rise: what these show, the others need not show.

    The largest load that is shown to hold is the lower bound where no smaller one is above the limit, the smallest that
    is shown to fail the upper one where no larger one is within it.
    """
    above = [each.share is not None and each.share > limit + EQUAL for each in undecided]
    if above != sorted(above):
        return [*undecided]
    first = above.index(True) if True in above else len(above)
    return [*undecided[:first][-1:], *undecided[first:][:1]]


def _between(found: ConditionCapacity, resolution: float) -> list[float]:
    """Return loads on the log grid that leave no gap wider than the resolution between the bounds."""
    if not found.low or not found.high or resolution <= 1:
        return []
    places = sorted(
        {found.low, found.high}
        | {each.load for each in found.loads if found.low < each.load < found.high}
    )
    result = []
    for low, high in pairwise(places):
        parts = math.ceil(math.log(high / low) / math.log(resolution) - 1e-9)
        for part in range(1, parts):
            load = _rounded(low * (high / low) ** (part / parts))
            if low < load < high:
                result.append(load)
    return result


def _rounded(load: float) -> float:
    digits = FIGURES - 1 - math.floor(math.log10(load))
    return round(load, digits)


def line_of_window(condition: ValueCondition, found: ConditionCapacity) -> Line | None:
    """Return the line of the window; None where it has none."""
    inside = [math.log(load) for load in found.window]
    runs = [run for run in log_runs(condition) if any(abs(run[1] - x) < 1e-9 for x in inside)]
    line = line_of(runs) if runs else "loads"
    return None if isinstance(line, str) else line


def _for_line(
    line: Line,
    condition: ValueCondition,
    found: ConditionCapacity,
    resolution: float,
    alpha: float,
) -> int | None:
    """Return the smallest number of blocks with 2 t sqrt(Var n / n') / slope + bend <= ln resolution."""
    crossed = line.crossing(log_limit(condition))
    if crossed is None:
        return None
    room = (math.log(resolution) - sum(found.allowance)) * line.slope(crossed[1])
    if room <= 0:
        return None
    variance, df = (float(each[0]) for each in line.variance(line.weights(np.array(crossed[:1]))))
    for blocks in range(line.blocks, LARGEST_PLAN):
        grown = df * (blocks - 1) / (line.blocks - 1)
        half = student.quantile(1 - alpha / 2, grown) * math.sqrt(variance * line.blocks / blocks)
        if 2 * half <= room:
            return blocks
    return None


def _for_level(
    condition: ValueCondition | ShareCondition, state: LoadState, n: int, alpha: float
) -> int | None:
    """Return the smallest number of blocks at which the estimate in hand would show its side of the limit."""
    if state.band is not None and state.value is not None and isinstance(condition, ValueCondition):
        gap = abs(math.log(state.value / condition.limit))
        if not state.band.low < state.band.high or state.band.low <= 0 or gap <= 0 or n < 2:
            return None
        half = math.log(state.band.high / state.band.low) / 2
        error = half * math.sqrt(n) / student.quantile(1 - alpha / 2, n - 1)
        for blocks in range(n + 1, LARGEST_PLAN):
            if student.quantile(1 - alpha / 2, blocks - 1) * error / math.sqrt(blocks) <= gap:
                return blocks
        return None
    if (
        state.share is None
        or state.share_interval is None
        or not isinstance(condition, ShareCondition)
    ):
        return None
    return _for_share(state, condition, alpha)


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
    return None
