"""Corrections for several comparisons. Pure."""

from collections.abc import Sequence

MOST_BY_HOLM = 20
"""A table of more comparisons is adjusted by its false discovery rate. STATISTICS 2.3."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values so that the family errs at most as often as one of them (Holm, 1979)."""
    ascending = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(ascending):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p values so that of those below alpha a share of alpha is false (Benjamini and Hochberg, 1995)."""
    descending = sorted(range(len(p_values)), key=lambda index: -p_values[index])
    adjusted = [0.0] * len(p_values)
    lowest = 1.0
    for place, index in enumerate(descending):
        lowest = min(lowest, p_values[index] * len(p_values) / (len(p_values) - place))
        adjusted[index] = lowest
    return adjusted


def of_table(p_values: Sequence[float]) -> list[float]:
    """Adjust the p values of a table: by Holm up to `MOST_BY_HOLM`, beyond by Benjamini and Hochberg."""
    adjust = holm if len(p_values) <= MOST_BY_HOLM else benjamini_hochberg
    return adjust(p_values)
