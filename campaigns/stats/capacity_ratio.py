"""The ratio of two capacities, of which more is better. Pure. CAPACITY 4."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.capacity import (
    Capacity,
    CapacityRatio,
    CapacityWord,
    ConditionCapacity,
    ShareCondition,
    ValueCondition,
)
from campaigns.stats.capacity_by_conditions import Condition, capacity_of
from campaigns.stats.capacity_fit import Line, Log, lines_of
from campaigns.stats.capacity_line import bend_of, log_limit, log_runs
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.logs import pct_of
from campaigns.stats.logs import ratio_of as from_log
from campaigns.stats.multiplicity import holm
from campaigns.stats.verdict import Contrast, Word, interval_of, p_value, word_of

MARGIN, DELTA = 0.05, 0.10
"""Of capacities: below the margin they are called equal, the other is the smallest difference of interest."""


Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """The capacity of one setting in the fit over all. g: how ln C depends on the means of all cells."""

    log: Log
    g: NDArray[np.float64]
    early: Log
    late: Log


def ratio_of(
    baseline: Sequence[Condition],
    candidate: Sequence[Condition],
    *,
    margin: float = MARGIN,
    delta: float = DELTA,
    alpha: float = 0.05,
) -> CapacityRatio:
    """Return the ratio of capacities of two settings, candidate to baseline, that were measured in the same blocks."""
    criteria = Criteria(alpha=alpha, margin=margin, delta=delta)
    if _terms(baseline) != _terms(candidate):
        return without_numbers(Word.NOT_COMPARABLE, "conditions_differ")
    sides = [capacity_of(side, alpha=alpha) for side in (baseline, candidate)]
    if refused := refusal_of(sides):
        return without_numbers(Word.NOT_ENOUGH_DATA, refused)
    binding = (sides[0].binding, sides[1].binding)
    pair = [
        line_that_binds(conditions, side)
        for conditions, side in ((baseline, sides[0]), (candidate, sides[1]))
    ]
    if binding[0] == binding[1] and pair[0] and pair[1]:
        joint = crossings([pair[0], pair[1]])
        if joint:
            return replace(_by_lines(*joint, criteria), binding=binding)
    return replace(_by_bounds(baseline, candidate, criteria), binding=binding)


def crossings(conditions: Sequence[ValueCondition]) -> tuple[Line, list[Crossed]] | None:
    """Fit several settings at once and find the capacity of each; None where one has none, or nothing connects them."""
    fitted = lines_of([log_runs(each) for each in conditions])
    if isinstance(fitted, str):
        return None
    whole, lines = fitted
    result, first = [], 0
    for condition, line in zip(conditions, lines, strict=True):
        crossed = line.crossing(log_limit(condition))
        if crossed is None:
            return None
        at, j = crossed
        g = np.zeros(whole.x.size)
        g[first : first + line.x.size] = -line.weights(np.array([at]))[0] / line.slope(j)
        first += line.x.size
        result.append(Crossed(at, g, *bend_of(line, at, j)))
    return whole, result


def contrast_of(whole: Line, baseline: Crossed, candidate: Crossed) -> Contrast:
    """Return ln of the ratio, without the bends."""
    variance, df = whole.variance((candidate.g - baseline.g)[None, :])
    return Contrast(
        candidate.log - baseline.log, math.sqrt(float(variance[0])), float(df[0]), whole.blocks
    )


def in_family(
    ratios: Sequence[CapacityRatio],
    *,
    margin: float = MARGIN,
    delta: float = DELTA,
    alpha: float = 0.05,
) -> list[CapacityRatio]:
    """Judge ratios that are shown together (Holm); those of bounds only have no p value and stay as they are."""
    criteria = Criteria(alpha=alpha, margin=margin, delta=delta)
    tested = [index for index, each in enumerate(ratios) if each.p is not None]
    adjusted = dict(zip(tested, holm([ratios[index].p or 0.0 for index in tested]), strict=True))
    return [
        judged(each, criteria, adjusted[index]) if index in adjusted else each
        for index, each in enumerate(ratios)
    ]


def refusal_of(sides: Sequence[Capacity]) -> str:
    """Return why no ratio is made of two capacities; empty where one may be."""
    if refused := next((side.reason for side in sides if _is_refused(side)), ""):
        return refused
    is_reversed = any(side.word == CapacityWord.NOT_MONOTONE for side in sides)
    return "not_monotone" if is_reversed else ""


def _by_lines(whole: Line, sides: list[Crossed], criteria: Criteria) -> CapacityRatio:
    baseline, candidate = sides
    contrast = contrast_of(whole, baseline, candidate)
    bends = baseline.late + candidate.early, baseline.early + candidate.late
    return by_contrast(contrast, bends, criteria)


def by_contrast(contrast: Contrast, bends: tuple[Log, Log], criteria: Criteria) -> CapacityRatio:
    """Judge ln of a ratio; the bends widen its interval below and above."""
    result = CapacityRatio(
        word=Word.NOT_ENOUGH_DATA,
        ratio=from_log(contrast.estimate),
        low=None,
        high=None,
        p=p_value(contrast),
        log=contrast.estimate,
        error=contrast.standard_error,
        df=contrast.df,
        early=bends[0],
        late=bends[1],
        more_pct=pct_of(contrast.estimate),
    )
    return judged(result, criteria, None)


def judged(ratio: CapacityRatio, criteria: Criteria, p_adjusted: float | None) -> CapacityRatio:
    """Return the ratio with its interval and its word."""
    contrast = Contrast(ratio.log or 0.0, ratio.error or 0.0, ratio.df or 1.0, criteria.minimum_n)
    interval = _wide(ratio, interval_of(contrast, criteria.alpha))
    narrow = _wide(ratio, interval_of(contrast, 2 * criteria.alpha))
    word, reason, badges = word_of(
        Interval(-interval.high, -interval.low),
        Interval(-narrow.high, -narrow.low),
        contrast.n,
        p_adjusted,
        criteria,
    )
    return replace(
        ratio,
        word=word,
        low=from_log(interval.low),
        high=from_log(interval.high),
        reason=reason,
        p_adjusted=p_adjusted,
        badges=badges,
    )


def _wide(ratio: CapacityRatio, interval: Interval) -> Interval:
    return Interval(interval.low - (ratio.early or 0.0), interval.high + (ratio.late or 0.0))


def _by_bounds(
    baseline: Sequence[Condition], candidate: Sequence[Condition], criteria: Criteria
) -> CapacityRatio:
    """Bound the ratio by the bounds of both capacities, each at half of alpha."""
    one, other = (capacity_of(side, alpha=criteria.alpha / 2) for side in (baseline, candidate))
    return by_bounds((one.low, one.high), (other.low, other.high), criteria)


def by_bounds(baseline: Bounds, candidate: Bounds, criteria: Criteria) -> CapacityRatio:
    """Bound the ratio by both ends of two capacities; an end is None where it is open."""
    low = candidate[0] / baseline[1] if candidate[0] and baseline[1] else None
    high = candidate[1] / baseline[0] if candidate[1] and baseline[0] else None
    if low is None and high is None:
        return without_numbers(Word.NOT_ENOUGH_DATA, "no_bound")
    cost = Interval(-math.log(high) if high else -math.inf, -math.log(low) if low else math.inf)
    word, _, badges = word_of(cost, cost, criteria.minimum_n, None, criteria)
    return CapacityRatio(word=word, ratio=None, low=low, high=high, bounds_only=True, badges=badges)


def line_that_binds(conditions: Sequence[Condition], capacity: Capacity) -> ValueCondition | None:
    """Return the binding condition, where its line gives an estimate and both bounds."""
    if capacity.estimate is None or capacity.low is None or capacity.high is None:
        return None
    for condition, found in zip(conditions, capacity.conditions, strict=True):
        if found.name == capacity.binding and _is_line(condition, found):
            return condition if isinstance(condition, ValueCondition) else None
    return None


def _is_line(condition: Condition, found: ConditionCapacity) -> bool:
    both = found.low is not None and found.high is not None
    return isinstance(condition, ValueCondition) and both and not found.levels_only


def _is_refused(capacity: Capacity) -> bool:
    is_short = capacity.word == CapacityWord.NOT_ENOUGH_DATA
    return is_short and capacity.reason != "no_bound"


def _terms(conditions: Sequence[Condition]) -> list[tuple[str, float, bool]]:
    """Return what two settings have to share; a condition is known by its name."""
    return sorted(
        (each.name, each.limit, isinstance(each, ShareCondition) or each.lower_is_better)
        for each in conditions
    )


def without_numbers(word: Word, reason: str) -> CapacityRatio:
    """Return a ratio that has a word alone."""
    return CapacityRatio(word=word, ratio=None, low=None, high=None, reason=reason)
