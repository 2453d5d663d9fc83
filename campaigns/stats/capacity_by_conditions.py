"""The capacity by all conditions together, and its word. Pure. CAPACITY 2.4, 2.5."""

from collections.abc import Sequence
from dataclasses import replace

from campaigns.stats.capacity import (
    DEFAULT_RESOLUTION,
    Advice,
    Capacity,
    CapacityWord,
    ConditionCapacity,
    ShareCondition,
    ShareRun,
    ValueCondition,
    ValueRun,
)
from campaigns.stats.capacity_advice import advice_on, together
from campaigns.stats.capacity_fit import FEWEST_BLOCKS
from campaigns.stats.capacity_levels import is_load, share_capacity
from campaigns.stats.capacity_line import value_capacity
from campaigns.stats.criteria import Criteria

Condition = ValueCondition | ShareCondition

LOST_LIMIT = Criteria().lost_limit
ROUGH_BELOW = 5
"""Blocks: with fewer the noise is known roughly."""
FEWEST_LOADS = 2
TOLERANCE = 1e-9


def capacity_of(
    conditions: Sequence[Condition],
    *,
    resolution: float = DEFAULT_RESOLUTION,
    alpha: float = 0.05,
    lost: int = 0,
) -> Capacity:
    """Return the capacity by all conditions; low by each at alpha, high by each at alpha / their number.

    Low errs only if that of the binding condition does, high if any does. lost: runs that were planned and have no
    value without the target's doing.
    """
    each = [
        _alone(condition, alpha, alpha / len(conditions), resolution) for condition in conditions
    ]
    lows, highs = [one.low for one in each], [one.high for one in each if one.high is not None]
    low = min((one for one in lows if one is not None), default=None) if None not in lows else None
    high = min(highs, default=None)
    loads = {load for condition in conditions for load in loads_of(condition)}
    blocks = max((blocks_of(condition) for condition in conditions), default=0)
    estimate, binding = _estimate(each, low, high)
    word, reason = _word(each, low, high, resolution)
    if refused := _refusal(conditions, loads, blocks, lost):
        word, reason = CapacityWord.NOT_ENOUGH_DATA, refused
    if word == CapacityWord.NOT_ENOUGH_DATA and reason != "no_bound":
        low, estimate, high, binding = None, None, None, ""
    result = Capacity(
        word=word,
        low=low,
        estimate=estimate,
        high=high,
        blocks=blocks,
        lowest=min(loads, default=0.0),
        highest=max(loads, default=0.0),
        resolution=resolution,
        conditions=each,
        binding=binding,
        reason=reason,
        about=min((one.about for one in each if one.about is not None), default=None),
        safe_load=_safe_load(conditions, each)
        if low is not None and word != CapacityWord.NOT_MONOTONE
        else None,
    )
    return replace(result, badges=_badges(result), advice=_advice(result))


def loads_of(condition: Condition) -> set[float]:
    """Return the loads that were measured."""
    loads = {run.load for run in condition.runs}
    if isinstance(condition, ValueCondition):
        loads |= {*condition.without_number, *(run.load for run in condition.shares)}
        loads |= {run.load for run in condition.bounds}
    return {load for load in loads if is_load(load)}


def blocks_of(condition: Condition) -> int:
    """Return the number of blocks with a run."""
    blocks = {run.block for run in condition.runs}
    if isinstance(condition, ValueCondition):
        blocks |= {run.block for run in condition.shares}
        blocks |= {run.block for run in condition.bounds}
    return len(blocks)


def _runs_of(condition: Condition) -> int:
    """Return the number of runs that say something, those of loads without a number too."""
    runs: list[ValueRun | ShareRun] = [*condition.runs]
    if isinstance(condition, ValueCondition):
        known = {run.load for run in condition.runs}
        runs += [run for run in condition.shares if run.load not in known]
        runs += condition.bounds
    return len(runs)


def by_condition(condition: Condition, alpha_low: float, alpha_high: float) -> ConditionCapacity:
    """Return the capacity by one condition alone, without advice."""
    if isinstance(condition, ValueCondition):
        return value_capacity(condition, alpha_low, alpha_high)
    return share_capacity(condition, alpha_low, alpha_high)


def _alone(
    condition: Condition, alpha_low: float, alpha_high: float, resolution: float
) -> ConditionCapacity:
    result = by_condition(condition, alpha_low, alpha_high)
    return replace(result, advice=advice_on(condition, result, resolution, alpha_high))


def _refusal(
    conditions: Sequence[Condition], loads: set[float], blocks: int, lost: int
) -> str | None:
    """Return why no number is made, whatever the conditions say."""
    runs = max((_runs_of(condition) for condition in conditions), default=0)
    if lost > LOST_LIMIT * (runs + lost):
        return "lost_runs"
    if len(loads) < FEWEST_LOADS:
        return "loads"
    return "blocks" if blocks < FEWEST_BLOCKS else None


def _word(
    each: Sequence[ConditionCapacity], low: float | None, high: float | None, resolution: float
) -> tuple[CapacityWord, str]:
    if any(one.not_monotone for one in each):
        return CapacityWord.NOT_MONOTONE, ""
    if low is None and high is None:
        reason = next((one.reason for one in each if one.reason), "no_bound")
        return CapacityWord.NOT_ENOUGH_DATA, reason
    if high is None:
        return CapacityWord.AT_LEAST, ""
    if low is None:
        return CapacityWord.LESS_THAN, ""
    narrow = high / low <= resolution * (1 + TOLERANCE)
    return (CapacityWord.CARRIES if narrow else CapacityWord.NOT_DECIDED), ""


def _estimate(
    each: Sequence[ConditionCapacity], low: float | None, high: float | None
) -> tuple[float | None, str]:
    """Return the smallest estimate and its condition, where no condition without one binds before it."""
    known = [one for one in each if one.estimate is not None]
    if known:
        first = min(known, key=lambda one: one.estimate or 0.0)
        estimate = first.estimate or 0.0
        below = low is not None and estimate < low * (1 - TOLERANCE)
        above = high is not None and estimate > high * (1 + TOLERANCE)
        if not (below or above):
            return estimate, first.name
    if len(each) > 1 and high is not None:
        first = min(each, key=lambda one: float("inf") if one.high is None else one.high)
        others = [one.low for one in each if one is not first]
        if all(one is not None and one >= high * (1 - TOLERANCE) for one in others):
            return None, first.name
    return None, ""


def _safe_load(conditions: Sequence[Condition], each: Sequence[ConditionCapacity]) -> float | None:
    """Return the largest load that every share is shown to keep, and that one further run keeps by its values."""
    loads = [
        one.safe_load if isinstance(condition, ValueCondition) else one.low
        for condition, one in zip(conditions, each, strict=True)
    ]
    known = [load for load in loads if load is not None]
    values = any(isinstance(condition, ValueCondition) for condition in conditions)
    return min(known) if values and len(known) == len(loads) else None


def _ends(capacity: Capacity) -> list[ConditionCapacity]:
    """Return the conditions that make the bounds and the estimate."""
    return [
        one
        for one in capacity.conditions
        if one.name == capacity.binding
        or (one.low is not None and one.low == capacity.low)
        or (one.high is not None and one.high == capacity.high)
    ]


def _badges(capacity: Capacity) -> list[str]:
    ends = _ends(capacity)
    if capacity.word == CapacityWord.NOT_ENOUGH_DATA:
        return []
    if len(ends) > 1 and capacity.binding:
        ends = [one for one in ends if one.name == capacity.binding]
    is_line = any(not one.levels_only and one.slope is not None for one in ends)
    badges = {
        "interpolated": is_line and capacity.estimate is not None,
        "levels_only": bool(ends) and all(one.levels_only for one in ends),
        "two_loads": is_line and any(len(one.window) == FEWEST_LOADS for one in ends),
        "rough_interval": capacity.blocks < ROUGH_BELOW,
        "clumped_failures": any(one.clumped for one in ends),
    }
    return [name for name, applies in badges.items() if applies]


def _advice(capacity: Capacity) -> Advice | None:
    if capacity.word in {CapacityWord.CARRIES, CapacityWord.NOT_MONOTONE}:
        return None
    if capacity.reason not in {"", "no_bound"}:
        return None
    ends = _ends(capacity) or list(capacity.conditions)
    return together([one.advice for one in ends if one.advice])
