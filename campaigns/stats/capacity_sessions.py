"""Whether a capacity, or a ratio of capacities, holds beyond the session in which it was seen. Pure. CAPACITY 2.5, STATISTICS 2.7."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from campaigns.stats.capacity import Capacity, CapacityRatio, CapacityWord
from campaigns.stats.capacity_ratio import DELTA, MARGIN, by_contrast
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.log_means import NO_NOISE
from campaigns.stats.logs import ratio_of
from campaigns.stats.sessions import FEWEST_FOR_INTERVAL, Standing
from campaigns.stats.units import OnAxis
from campaigns.stats.verdict import Contrast, interval_of

_SAID = frozenset({CapacityWord.CARRIES, CapacityWord.AT_LEAST, CapacityWord.LESS_THAN})
_TOUCHING = 1e-9


@dataclass(frozen=True, slots=True)
class CapacityOverSessions:
    """A capacity over sessions. each: the word of every one. between: from three sessions on, the interval rests on their spread.

    word, low, estimate, high: between sessions; empty and None where there is no such interval, so that all blocks together decide.
    """

    standing: Standing
    reason: str
    each: tuple[CapacityWord, ...]
    between: bool = False
    word: CapacityWord | None = None
    low: OnAxis | None = None
    estimate: OnAxis | None = None
    high: OnAxis | None = None


def standing_of_capacity(
    sessions: Sequence[Capacity], *, alpha: float = 0.05
) -> CapacityOverSessions | None:
    """Compare the capacities of sessions, each computed from its own blocks; None without a session.

    Three and more with an estimate each give an interval between sessions. Two, and more without estimates, confirm each
    other where all say the same word and their intervals overlap.
    """
    if not sessions:
        return None
    each = tuple(one.word for one in sessions)
    if len(sessions) == 1:
        return CapacityOverSessions(Standing.ONE_SESSION, "", each)
    known = [one.estimate for one in sessions if one.estimate]
    is_ordered = CapacityWord.NOT_MONOTONE not in each
    if is_ordered and len(known) == len(sessions) >= FEWEST_FOR_INTERVAL:
        bounds = _between(known, alpha)
        low, high = bounds.low, bounds.high
        narrow = high / low <= sessions[0].resolution * (1 + _TOUCHING)
        return CapacityOverSessions(
            Standing.CONFIRMED if narrow else Standing.NOT_CONFIRMED,
            "" if narrow else "not_enough_sessions",
            each,
            between=True,
            word=CapacityWord.CARRIES if narrow else CapacityWord.NOT_DECIDED,
            low=low,
            estimate=math.exp(sum(map(math.log, known)) / len(known)),
            high=high,
        )
    if len(set(each)) == 1 and each[0] in _SAID and _overlap(sessions):
        return CapacityOverSessions(Standing.CONFIRMED, "", each)
    is_unsaid = not all(word in _SAID for word in each)
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
