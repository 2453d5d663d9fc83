"""The ratio of two capacities, of which more is better. Pure. CAPACITY 4."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.capacity import (
    TOLERANCE,
    Capacity,
    CapacityRatio,
    CapacityWord,
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
    one, other = (capacity_of(side, alpha=alpha) for side in (baseline, candidate))
    if refused := refusal_of((one, other)):
        return without_numbers(Word.NOT_ENOUGH_DATA, refused)
    binding = (one.binding, other.binding)
    pair = line_that_binds(baseline, one), line_that_binds(candidate, other)
    if binding[0] == binding[1] and pair[0] and pair[1]:
        by_line = ratio_by_lines(pair[0], pair[1], criteria)
        if by_line:
            return replace(by_line, binding=binding)
    return replace(by_bounds(one, other), binding=binding)


def ratio_by_lines(
    baseline: ValueCondition, candidate: ValueCondition, criteria: Criteria
) -> CapacityRatio | None:
    """Return the ratio by one fit over both; None where one line has no crossing, or nothing connects them."""
    joint = crossings([baseline, candidate])
    return _by_lines(*joint, criteria) if joint else None


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


def by_bounds(baseline: Capacity, candidate: Capacity) -> CapacityRatio:
    """Bound the ratio by what both claim: one carries more for certain if it holds where the other fails.

    An end is None where it is open. The lower end errs only if a bound of either side does.
    """
    low = candidate.low / baseline.high if candidate.low and baseline.high else None
    high = candidate.high / baseline.low if candidate.high and baseline.low else None
    if low is None and high is None:
        return without_numbers(Word.NOT_ENOUGH_DATA, "no_bound")
    word = Word.NOT_ENOUGH_DATA
    if low is not None and low >= 1 - TOLERANCE:
        word = Word.BETTER
    elif high is not None and high <= 1 + TOLERANCE:
        word = Word.WORSE
    one, other = (each.estimate or each.about for each in (baseline, candidate))
    about = other / one if one and other else None
    if about and ((low and about < low) or (high and about > high)):
        about = None
    return CapacityRatio(word=word, ratio=None, low=low, high=high, bounds_only=True, about=about)


def line_that_binds(conditions: Sequence[Condition], capacity: Capacity) -> ValueCondition | None:
    """Return the binding condition, where its line is claimed."""
    if not capacity.by_line:
        return None
    for condition, found in zip(conditions, capacity.conditions, strict=True):
        if found.name == capacity.binding and found.estimate == capacity.estimate:
            return condition if isinstance(condition, ValueCondition) else None
    return None


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
