"""The capacity of a class of hardware, from several targets of it. Pure. CAPACITY 5.

The target is the unit: how much targets of a class differ is what the interval rests on, and how well each was measured is a part of
that. Classes are taken to vary alike on the scale of logarithms, so their variances are pooled.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from campaigns.stats import student
from campaigns.stats.logs import ratio_of
from campaigns.stats.units import Count, Degrees, OnAxis

FEWEST_TARGETS = 3
"""Nothing is said of a class from fewer of its targets."""


@dataclass(frozen=True, slots=True)
class CapacityOfClass:
    """The geometric mean of the capacities of a class with its interval. df: targets of all classes less the classes."""

    estimate: OnAxis
    low: OnAxis
    high: OnAxis
    targets: Count
    df: Degrees


def capacities_of_classes(
    capacities: Mapping[str, Sequence[float]], *, alpha: float = 0.05
) -> dict[str, CapacityOfClass]:
    """Return the capacity of each class with FEWEST_TARGETS or more; the others take no part.

    capacities: above 0, one of each target, by class.
    """
    logs = {
        name: [math.log(each) for each in values]
        for name, values in capacities.items()
        if len(values) >= FEWEST_TARGETS
    }
    df = sum(map(len, logs.values())) - len(logs)
    means = {name: fmean(values) for name, values in logs.items()}
    squares = sum((each - means[name]) ** 2 for name, values in logs.items() for each in values)
    result = {}
    for name, values in logs.items():
        error = math.sqrt(squares / df / len(values))
        half = student.quantile(1 - alpha / 2, df) * error
        mean, low, high = (ratio_of(means[name] + side * half) for side in (0, -1, 1))
        result[name] = CapacityOfClass(mean, low, high, targets=len(values), df=df)
    return result
