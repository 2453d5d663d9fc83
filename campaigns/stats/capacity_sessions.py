"""Whether a capacity, or a ratio of capacities, holds beyond the session in which it was seen. Pure. CAPACITY 2.5, STATISTICS 2.7."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from campaigns.stats.capacity import (
    Capacity,
    CapacityRatio,
    CapacityWord,
    ConditionCapacity,
    Held,
    LoadState,
    ShareCondition,
    ValueCondition,
)
from campaigns.stats.capacity_by_conditions import Condition, claimed
from campaigns.stats.capacity_fit import EQUAL, own_level
from campaigns.stats.capacity_ratio import DELTA, MARGIN, by_contrast
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.logs import ratio_of
from campaigns.stats.sessions import FEWEST_FOR_INTERVAL, Standing
from campaigns.stats.units import OnAxis
from campaigns.stats.verdict import Contrast, interval_of

SAID = frozenset({CapacityWord.BETWEEN, CapacityWord.AT_LEAST, CapacityWord.FEWER_THAN})
"""Words that claim a bound."""
_TOUCHING = 1e-9


@dataclass(frozen=True, slots=True)
class CapacityOverSessions:
    """What sessions say of a capacity. each: the word of every one. between: from three on, their spread decides each load."""

    standing: Standing
    reason: str
    each: tuple[CapacityWord, ...]
    between: bool = False


def between_sessions(
    made: Capacity,
    conditions: Sequence[Condition],
    sessions: Sequence[Capacity],
    *,
    alpha: float = 0.05,
) -> Capacity | None:
    """Return the capacity by the spread of sessions, each computed from its own blocks; None of fewer than three.

    The typical run of a session is one observation, of a load as of the crossing of a line. Shares stay those of all runs. What rests
    on the spread of blocks is left out: a load that one further run keeps, and how many blocks would decide.
    """
    is_ordered = all(one.word != CapacityWord.NOT_MONOTONE for one in sessions)
    if len(sessions) < FEWEST_FOR_INTERVAL or made.reason not in {"", "no_bound"} or not is_ordered:
        return None
    strict = alpha / max(1, len(made.conditions))
    each = [
        one
        if isinstance(condition, ShareCondition)
        else _over(
            condition, one, [_named(session, one.name) for session in sessions], alpha, strict
        )
        for condition, one in zip(conditions, made.conditions, strict=True)
    ]
    result = claimed(replace(made, conditions=each, reason=""), conditions, strict)
    return replace(result, safe_load=None, advice=None)


def _named(session: Capacity, name: str) -> ConditionCapacity | None:
    return next((one for one in session.conditions if one.name == name), None)


def _over(
    condition: ValueCondition,
    made: ConditionCapacity,
    sessions: Sequence[ConditionCapacity | None],
    alpha: float,
    strict: float,
) -> ConditionCapacity:
    """Return one condition by the spread of sessions: the state of each load, and the crossing where each session has one."""
    known = [one for one in sessions if one is not None]
    states = [
        _state_over(condition, state, _values_at(known, state.load), alpha, strict)
        for state in made.loads
    ]
    estimates = [one.estimate for one in known if one.estimate]
    if len(estimates) < len(sessions):
        return replace(made, low=None, estimate=None, high=None, loads=states, levels_only=True)
    low, high = (_between(estimates, level) for level in (alpha, strict))
    return replace(
        made,
        low=low.low,
        estimate=math.exp(sum(map(math.log, estimates)) / len(estimates)),
        high=high.high,
        loads=states,
        levels_only=False,
    )


def _values_at(sessions: Sequence[ConditionCapacity], load: OnAxis) -> list[float]:
    return [
        state.value
        for one in sessions
        for state in one.loads
        if math.isclose(state.load, load, rel_tol=_TOUCHING) and state.value
    ]


def _state_over(
    condition: ValueCondition,
    state: LoadState,
    values: Sequence[float],
    alpha: float,
    strict: float,
) -> LoadState:
    """Return the state of a load by the spread of its sessions; a load without a value stays as it is."""
    if not values:
        return state
    sign = 1 if condition.lower_is_better else -1
    logs, limit = [sign * math.log(value) for value in values], sign * math.log(condition.limit)
    lower, level, upper = own_level(logs, alpha)
    held = Held.UNDECIDED
    if upper <= limit + EQUAL:
        held = Held.HELD
    elif own_level(logs, strict)[0] > limit + EQUAL:
        held = Held.FAILED
    ends = sorted(ratio_of(sign * each) for each in (lower, upper))
    band = Interval(ends[0], ends[1]) if math.isfinite(upper) else None
    return replace(state, state=held, value=ratio_of(sign * level), band=band)


def standing_of_capacity(
    sessions: Sequence[Capacity], between: Capacity | None = None
) -> CapacityOverSessions | None:
    """Compare the capacities of sessions, each computed from its own blocks; None without a session.

    between: by the spread of three sessions or more, which confirms what it claims. Two confirm each other where both say the same word and
    their intervals overlap.
    """
    if not sessions:
        return None
    each = tuple(one.word for one in sessions)
    if len(sessions) == 1:
        return CapacityOverSessions(Standing.ONE_SESSION, "", each)
    if between is not None:
        if between.word in SAID:
            return CapacityOverSessions(Standing.CONFIRMED, "", each, between=True)
        return CapacityOverSessions(
            Standing.NOT_CONFIRMED, "not_enough_sessions", each, between=True
        )
    if len(set(each)) == 1 and each[0] in SAID and _overlap(sessions):
        return CapacityOverSessions(Standing.CONFIRMED, "", each)
    is_unsaid = not all(word in SAID for word in each)
    is_apart = not _overlap(sessions)
    reason = "not_enough_sessions" if is_unsaid and not is_apart else "sessions_disagree"
    return CapacityOverSessions(Standing.NOT_CONFIRMED, reason, each)


def ratio_over_sessions(
    sessions: Sequence[CapacityRatio],
    *,
    margin: float = MARGIN,
    delta: float = DELTA,
    alpha: float = 0.05,
) -> CapacityRatio | None:
    """Return the ratio by the spread of three and more sessions' ratios; None with fewer, or where one has bounds only."""
    logs = [one.log for one in sessions if one.log is not None]
    if len(logs) < len(sessions) or len(logs) < FEWEST_FOR_INTERVAL:
        return None
    bends = (
        float(np.mean([one.early or 0.0 for one in sessions])),
        float(np.mean([one.late or 0.0 for one in sessions])),
    )
    criteria = Criteria(alpha=alpha, margin=margin, delta=delta)
    result = by_contrast(contrast_over(logs), bends, criteria)
    return replace(result, binding=sessions[0].binding)


def _between(estimates: Sequence[float], alpha: float) -> Interval:
    bounds = interval_of(contrast_over([math.log(each) for each in estimates]), alpha)
    return Interval(ratio_of(bounds.low), ratio_of(bounds.high))


def contrast_over(logs: Sequence[float]) -> Contrast:
    """Return the mean of sessions' logs, with its error by their spread."""
    spread = float(np.std(logs, ddof=1))
    error = spread / math.sqrt(len(logs)) if spread >= NO_NOISE else 0.0
    return Contrast(float(np.mean(logs)), error, len(logs) - 1, len(logs))


def _overlap(sessions: Sequence[Capacity]) -> bool:
    """Return whether some load lies in all intervals; an end that is open ends nowhere."""
    low = max((one.low for one in sessions if one.low is not None), default=0.0)
    high = min((one.high for one in sessions if one.high is not None), default=math.inf)
    return low <= high * (1 + _TOUCHING)
