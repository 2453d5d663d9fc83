"""The ratio of two capacities that were measured in no common block, as those of two campaigns. Pure. CAPACITY 4, STATISTICS 2.7.

Both fits are independent, so their variances add: an hour that was slow for all of one campaign does not drop out.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from campaigns.stats.capacity import Capacity, CapacityAlone, CapacityRatio, ConditionCapacity
from campaigns.stats.capacity_advice import line_of_window
from campaigns.stats.capacity_by_conditions import Condition
from campaigns.stats.capacity_line import bend_of, log_limit
from campaigns.stats.capacity_ratio import (
    DELTA,
    MARGIN,
    by_bounds,
    by_contrast,
    line_that_binds,
    refusal_of,
    without_numbers,
)
from campaigns.stats.capacity_sessions import contrast_over
from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import Contrast, Word


def alone(
    conditions: Sequence[Condition],
    capacity: Capacity,
    sessions: Sequence[Capacity],
    *,
    between: bool = False,
) -> CapacityAlone:
    """Return what a comparison with a capacity of other blocks needs. sessions: the capacity in each of them.

    between: all of it rests on their spread.
    """
    if not between:
        return replace(_by_line(conditions, capacity), low=capacity.low, high=capacity.high)
    result = CapacityAlone(low=capacity.low, high=capacity.high, between=True)
    own = [_of_session(each, capacity.binding) for each in sessions]
    estimates = [one.estimate for one in own if one.estimate]
    if not capacity.by_line or len(estimates) < len(sessions):
        return result
    spread = contrast_over([math.log(each) for each in estimates])
    return replace(
        result,
        log=spread.estimate,
        error=spread.standard_error,
        df=spread.df,
        early=float(np.mean([one.allowance[0] for one in own])),
        late=float(np.mean([one.allowance[1] for one in own])),
    )


def ratio_across(
    baseline: tuple[Capacity, CapacityAlone | None],
    candidate: tuple[Capacity, CapacityAlone | None],
    *,
    margin: float = MARGIN,
    delta: float = DELTA,
    alpha: float = 0.05,
) -> CapacityRatio:
    """Return the ratio of two capacities under the same conditions, candidate to baseline.

    By the sum of both variances (Welch, Satterthwaite) where the same condition ends both and both have a line; else by
    their bounds alone.
    """
    (one, one_alone), (other, other_alone) = baseline, candidate
    if refused := refusal_of((one, other)):
        return without_numbers(Word.NOT_ENOUGH_DATA, refused)
    if one_alone is None or other_alone is None:
        return without_numbers(Word.NOT_ENOUGH_DATA, "not_stored")
    criteria = Criteria(alpha=alpha, margin=margin, delta=delta)
    binding = (one.binding, other.binding)
    contrast = _contrast(one_alone, other_alone, criteria.minimum_n)
    if contrast is None or one.binding != other.binding:
        return replace(by_bounds(one, other), binding=binding)
    bends = one_alone.late + other_alone.early, one_alone.early + other_alone.late
    return replace(by_contrast(contrast, bends, criteria), binding=binding)


def _by_line(conditions: Sequence[Condition], capacity: Capacity) -> CapacityAlone:
    """Return ln C and its error by the fit of the binding condition; without numbers where its line is not claimed."""
    condition = line_that_binds(conditions, capacity)
    found = _of_session(capacity, capacity.binding)
    line = line_of_window(condition, found) if condition else None
    crossed = line.crossing(log_limit(condition)) if line and condition else None
    if line is None or crossed is None:
        return CapacityAlone()
    at, j = crossed
    g = -line.weights(np.array([at])) / line.slope(j)
    variance, df = (float(each[0]) for each in line.variance(g))
    early, late = bend_of(line, at, j)
    return CapacityAlone(log=at, error=math.sqrt(variance), df=df, early=early, late=late)


def _of_session(capacity: Capacity, binding: str) -> ConditionCapacity:
    """Return the condition that ends a capacity first; the first one where none is known to."""
    own = [each for each in capacity.conditions if each.name == binding]
    return (own or [*capacity.conditions])[0]


def _contrast(one: CapacityAlone, other: CapacityAlone, n: int) -> Contrast | None:
    """Return ln of the ratio with the sum of both variances; None where a side has no line."""
    sides = [
        (each.log, each.error**2, each.df)
        for each in (one, other)
        if each.log is not None and each.error is not None and each.df is not None
    ]
    if len(sides) < 2:
        return None
    (first, a, df_a), (second, b, df_b) = sides
    rest = a**2 / df_a + b**2 / df_b
    return Contrast(
        estimate=second - first,
        standard_error=math.sqrt(a + b),
        df=(a + b) ** 2 / rest if rest else df_a + df_b,
        n=n,
    )
