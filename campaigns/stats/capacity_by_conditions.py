"""The capacity by all conditions together, and its word. Pure. CAPACITY 2.4, 2.5."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from campaigns.stats.capacity import (
    DEFAULT_RESOLUTION,
    NEIGHBOURS,
    TOLERANCE,
    Capacity,
    CapacityWord,
    ConditionCapacity,
    Held,
    ShareCondition,
    ShareRun,
    ValueCondition,
    ValueRun,
)
from campaigns.stats.capacity_advice import advice_of
from campaigns.stats.capacity_fit import FEWEST_BLOCKS
from campaigns.stats.capacity_levels import is_load, share_capacity
from campaigns.stats.capacity_line import value_capacity
from campaigns.stats.criteria import Criteria

Condition = ValueCondition | ShareCondition

LOST_LIMIT = Criteria().lost_limit
ROUGH_BELOW = 5
"""Blocks: with fewer the noise is known roughly."""
FEWEST_LOADS = 2
WITHIN_GAP = 0.2
"""The share of a gap (on logs) by which a bound of the line inside of it is moved outward; `bench/selfcheck` has its price."""


def capacity_of(
    conditions: Sequence[Condition],
    *,
    resolution: float = DEFAULT_RESOLUTION,
    alpha: float = 0.05,
    lost: int = 0,
) -> Capacity:
    """Return the capacity by all conditions: the bracket of decided loads, or the finer interval of the line.

    A load holds where each condition does at alpha, and fails where one does at alpha / their number: low errs only if that of
    the binding condition does, high if any does. lost: runs that were planned and have no value without the target's doing.
    """
    strict = alpha / max(1, len(conditions))
    each = [by_condition(condition, alpha, strict) for condition in conditions]
    loads = {load for condition in conditions for load in loads_of(condition)}
    blocks = max((blocks_of(condition) for condition in conditions), default=0)
    refused = _refusal(conditions, loads, blocks, lost)
    return claimed(
        Capacity(
            word=CapacityWord.NOT_ENOUGH_DATA,
            low=None,
            estimate=None,
            high=None,
            blocks=blocks,
            lowest=min(loads, default=0.0),
            highest=max(loads, default=0.0),
            resolution=resolution,
            conditions=each,
            reason=refused or "",
            about=min((one.about for one in each if one.about is not None), default=None),
        ),
        conditions,
        strict,
    )


def claimed(made: Capacity, conditions: Sequence[Condition], strict: float) -> Capacity:
    """Return the capacity with what its decisions claim. reason: of `made`, why nothing may be."""
    if made.reason:
        return made
    word, low, high = bracket_of(decisions_of(made))
    if any(one.not_monotone for one in made.conditions):
        word = CapacityWord.NOT_MONOTONE
    if word == CapacityWord.NOT_MONOTONE:
        low, high = None, None
    line = line_within(made.conditions, low, high) if word == CapacityWord.BETWEEN else None
    _, estimate, _, binding = by_lines(made.conditions)
    reason = next((one.reason for one in made.conditions if one.reason), "no_bound")
    is_short = word == CapacityWord.NOT_ENOUGH_DATA
    result = replace(
        made,
        word=word,
        low=line[0] if line else low,
        estimate=line[1] if line else None,
        high=line[2] if line else high,
        by_line=line is not None,
        about=None if line else made.about if estimate is None else estimate,
        reason=reason if is_short else "",
        binding="" if is_short and reason != "no_bound" else _binding(made, high, binding),
        safe_load=None,
    )
    if low is not None:
        result = replace(result, safe_load=_safe_load(conditions, result))
    return replace(result, badges=_badges(result), advice=advice_of(conditions, result, strict))


def decisions_of(capacity: Capacity) -> dict[float, Held]:
    """Return the one decision on each load, ascending: nothing is decided where nothing may be claimed.

    A load fails where one condition does, and holds where all do; a share that is not contradicted decides nothing.
    """
    by_load: dict[float, list[Held]] = {}
    for one in capacity.conditions:
        for state in one.loads:
            by_load.setdefault(float(f"{state.load:.12g}"), []).append(state.state)
    may_be = not capacity.reason or capacity.reason == "no_bound"
    return {
        load: _decision(by_load[load], len(capacity.conditions), may_be=may_be)
        for load in sorted(by_load)
    }


def _decision(states: Sequence[Held], conditions: int, *, may_be: bool) -> Held:
    if set(states) == {Held.NOT_MEASURED}:
        return Held.NOT_MEASURED
    if not may_be:
        return Held.UNDECIDED
    if Held.FAILED in states:
        return Held.FAILED
    decided = [each for each in states if each != Held.NOT_CONTRADICTED]
    is_whole = len(states) == conditions and set(decided) == {Held.HELD}
    return Held.HELD if is_whole else Held.UNDECIDED


def bracket_of(
    decisions: Mapping[float, Held],
) -> tuple[CapacityWord, float | None, float | None]:
    """Return the word with the highest load that holds with none failing below, and the lowest that fails."""
    held = [load for load, each in decisions.items() if each == Held.HELD]
    high = min((load for load, each in decisions.items() if each == Held.FAILED), default=None)
    low = max((load for load in held if high is None or load < high), default=None)
    if high is not None and any(load > high for load in held):
        return CapacityWord.NOT_MONOTONE, low, high
    if low is None and high is None:
        return CapacityWord.NOT_ENOUGH_DATA, None, None
    if high is None:
        return CapacityWord.AT_LEAST, low, None
    return (CapacityWord.FEWER_THAN if low is None else CapacityWord.BETWEEN), low, high


def by_lines(
    each: Sequence[ConditionCapacity],
) -> tuple[float | None, float | None, float | None, str]:
    """Return low, estimate, high, and what binds, by the lines (and the levels) of all conditions: computed, not claimed."""
    lows, highs = [one.low for one in each], [one.high for one in each if one.high is not None]
    low = min((one for one in lows if one is not None), default=None) if None not in lows else None
    high = min(highs, default=None)
    estimate, binding = _estimate(each, low, high)
    return low, estimate, high, binding


def line_within(
    each: Sequence[ConditionCapacity], low: float | None, high: float | None
) -> tuple[float, float, float] | None:
    """Return low, estimate and high by the line where they may be claimed; None where the bracket has to do.

    Neighbouring loads of the bracket have to lie within NEIGHBOURS. Conditions on shares bound the interval by their loads.
    """
    lines = [one for one in each if one.estimate is not None and not one.levels_only]
    if low is None or high is None or not lines:
        return None
    loads = sorted({state.load for one in each for state in one.loads})
    inside = [load for load in loads if low <= load <= high]
    if not all(are_near(one, other) for one, other in pairwise(inside)):
        return None
    lows = [_holds_up_to(one) for one in each]
    known = [end for end in lows if end is not None]
    if len(known) < len(lows):
        return None
    first = max(low, _outward(min(known), loads, -1))
    ends = [one.high for one in each if one.high is not None]
    last = min([high, *(_outward(end, loads, 1) for end in ends)])
    estimate = min(one.estimate or 0.0 for one in lines)
    whole = all(float(load).is_integer() for load in loads)
    is_finer = _is_finer((first, last), (low, high), whole=whole)
    return (first, estimate, last) if is_finer and first <= estimate <= last else None


def _outward(end: float, loads: Sequence[float], side: int) -> float:
    """Move a bound of the line by a share of the gap that it lies in: a curve may bend twice inside of it."""
    for one, other in pairwise(loads):
        if one * (1 + TOLERANCE) < end < other * (1 - TOLERANCE):
            return float(end * (other / one) ** (side * WITHIN_GAP))
    return end


def are_near(one: float, other: float) -> bool:
    """Return whether two loads lie within NEIGHBOURS, so that the line between them may be claimed."""
    low, high = sorted((one, other))
    return high <= NEIGHBOURS * low * (1 + TOLERANCE)


def _is_finer(claim: tuple[float, float], bracket: tuple[float, float], *, whole: bool) -> bool:
    """Return whether an interval says more than the bracket: of loads that count things, in whole numbers."""
    first, last = claim
    if whole:
        first, last = math.floor(first), math.ceil(last)
    return first > bracket[0] or last < bracket[1]


def _holds_up_to(one: ConditionCapacity) -> float | None:
    """Return how far a condition holds: by its line, else by its loads, of which no smaller one is above the limit."""
    if one.low is not None and not one.is_share:
        return one.low
    row = None
    for state in one.loads:
        if state.state not in (Held.HELD, Held.NOT_CONTRADICTED):
            break
        row = state.load
    return row


def _binding(made: Capacity, high: float | None, by_estimate: str) -> str:
    """Return the condition that ends first: the only one that fails at the lowest load that does, else that of the lines."""
    failing = [
        one.name
        for one in made.conditions
        for state in one.loads
        if state.load == high and state.state == Held.FAILED
    ]
    return failing[0] if len(failing) == 1 else by_estimate


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


def _safe_load(conditions: Sequence[Condition], capacity: Capacity) -> float | None:
    """Return the largest load that one further run keeps by its values: a tested one where no line is claimed.

    It holds by its decision: where a share is not shown to be kept, neither is the load.
    """
    known = [
        one.safe_load
        for condition, one in zip(conditions, capacity.conditions, strict=True)
        if isinstance(condition, ValueCondition)
    ]
    loads = [load for load in known if load is not None]
    if not loads or len(loads) < len(known) or capacity.low is None:
        return None
    safe = min(*loads, capacity.low)
    if capacity.by_line:
        return safe
    decisions = decisions_of(capacity)
    held = (load for load, each in decisions.items() if each == Held.HELD)
    return max((load for load in held if load <= safe * (1 + TOLERANCE)), default=None)


def _ends(capacity: Capacity) -> list[ConditionCapacity]:
    """Return the conditions that end what is claimed."""
    high = capacity.high
    own = [
        one
        for one in capacity.conditions
        if one.name == capacity.binding
        or any(each.load == high and each.state == Held.FAILED for each in one.loads)
    ]
    return own or [*capacity.conditions]


def _badges(capacity: Capacity) -> list[str]:
    ends = _ends(capacity)
    if capacity.word == CapacityWord.NOT_ENOUGH_DATA:
        return []
    if len(ends) > 1 and capacity.binding:
        ends = [one for one in ends if one.name == capacity.binding]
    badges = {
        "interpolated": capacity.by_line,
        "levels_only": bool(ends) and all(one.levels_only for one in ends),
        "two_loads": capacity.by_line and any(len(one.window) == FEWEST_LOADS for one in ends),
        "rough_interval": capacity.blocks < ROUGH_BELOW,
        "clumped_failures": any(one.clumped for one in ends),
        "own_noise": any(one.own_noise for one in capacity.conditions),
    }
    return [name for name, applies in badges.items() if applies]
