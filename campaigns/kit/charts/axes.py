"""Ranges, ticks and titles of axes. Pure."""

import math
from collections.abc import Sequence
from typing import Any

from campaigns.kit.charts.figure import Axis, Quantity, text
from campaigns.kit.numbers import CLOCK_FROM_SECONDS, clock, grouped, number

CLOCK_STEPS = (15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
LARGEST_STEPS = 8
TICK_GAP = 0.035
"""The least distance of ticks, as a share of the axis, so that their labels do not overlap."""
CLOSER = ((1, 2, 5), (1, 1.5, 2, 3, 5, 7))
"""Where ticks of a log axis are within a power of ten: closer ones where there are too few."""
FEWEST_TICKS = 3
NARROW_AXIS = 250.0
LETTER, BETWEEN = 7.5, 8.0
"""On a narrow screen the length of an axis, the width of a letter of a label, and the room between labels, in pixels."""
WIDE = 8.0
"""Loads whose largest is so many times the smallest stand on a logarithmic axis."""
LOWEST_POWER, HIGHEST_POWER = -323.0, 306.0
"""Powers of ten that are numbers, as those beside them are."""


def has_clock(unit: str, largest: float) -> bool:
    """Return whether the axis is written in min:s."""
    return unit == "s" and largest >= CLOCK_FROM_SECONDS


def titled(title: str, span: Sequence[float] | None = None, **more: Any) -> Axis:
    """Return an axis with a title. span: where it begins and ends."""
    return {"title": {"text": title}, **({"range": list(span)} if span else {}), **more}


def value_axis(quantity: Quantity, low: float, high: float, *, with_clock: bool = False) -> Axis:
    """Return a linear axis of values."""
    ticks = clock_ticks(low, high) if with_clock else {}
    return titled(value_title(quantity, with_clock=with_clock), (low, high), **ticks)


def seconds_axis(begin: float, end: float, title: str) -> Axis:
    """Return a linear axis of durations."""
    ticks = clock_ticks(begin, end) if has_clock("s", end) else {"ticksuffix": " s"}
    return titled(title, (begin, end), **ticks)


def value_title(quantity: Quantity, *, with_clock: bool) -> str:
    """Return the title of an axis of values: metric, unit, and which way is better."""
    unit = (
        "min:s"
        if with_clock
        else {"share": "share of 1", "count": ""}.get(quantity.unit, quantity.unit)
    )
    named = text(quantity.label) + (f" ({unit})" if unit else "")
    return f"{named}, {quantity.better}" if quantity.better else named


def short_title(quantity: Quantity, *, with_clock: bool) -> str:
    """Return the shorter title for narrow screens."""
    unit = "min:s" if with_clock else quantity.unit
    return f"{unit}, {quantity.better}" if quantity.better else unit


def nice_step(extent: float, most: int = 6) -> float:
    """Return the step of 1, 2, 2.5 or 5 times a power of ten that divides an extent into at most `most` parts."""
    if extent <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(extent / most))
    for factor in (1, 2, 2.5, 5):
        if extent / (factor * power) <= most:
            return factor * power
    return 10 * power


def clock_ticks(low: float, high: float) -> Axis:
    """Place the ticks of a linear axis of durations at whole minutes or parts of them."""
    step = next(
        (step for step in CLOCK_STEPS if (high - low) / step <= LARGEST_STEPS),
        86400 * math.ceil((high - low) / 86400 / LARGEST_STEPS),
    )
    values = [step * index for index in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return {"tickvals": values, "ticktext": [clock(value) for value in values]}


def log_clock_ticks(low: float, high: float) -> Axis:
    """Place the ticks of a log axis of durations (low > 0) at round values."""
    steps = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0]
    steps += [60.0 * factor * 10**power for power in range(6) for factor in (1, 2, 3, 5)]
    inside = [step for step in steps if low <= step <= high]
    if len(inside) < 3:
        return clock_ticks(low, high)
    return {"tickvals": inside, "ticktext": [clock(value) for value in inside]}


def log_ticks(low: float, high: float) -> Axis:
    """Place the ticks of a log axis (low > 0) at 1, 2 and 5 times powers of ten, or more closely; Plotly's choice shows them all."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ways = CLOSER if len(powers) <= 4 else ((1,),)
    for factors in ways:
        values = [factor * 10.0**power for power in powers for factor in factors]
        inside = [value for value in values if low <= value <= high]
        if len(inside) >= FEWEST_TICKS:
            return {"tickvals": inside, "ticktext": [number(value) for value in inside]}
    if not low < high < math.inf:
        return {}
    step = nice_step(high - low)
    inside = [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return {"tickvals": inside, "ticktext": [grouped(value) for value in inside]} if inside else {}


def log_range(low: float, high: float, pad: float = 0.05) -> list[float]:
    """Return the range of a log axis (low > 0) as exponents of ten, as Plotly expects it; both powers are numbers."""
    start, end = math.log10(low), math.log10(high)
    margin = pad * (end - start) or 0.1
    return [max(LOWEST_POWER, start - margin), min(HIGHEST_POWER, end + margin)]


def is_wide(low: float, high: float) -> bool:
    """Return whether loads from low to high stand on a logarithmic axis."""
    return low > 0 and high >= WIDE * low


def thinned(places: Sequence[float], extent: float) -> list[int]:
    """Return the indices of ascending places that get a tick; the last one always does."""
    chosen: list[int] = []
    for index in range(len(places) - 1, -1, -1):
        if not chosen or places[chosen[-1]] - places[index] >= TICK_GAP * extent:
            chosen.append(index)
    return chosen[::-1]


def narrow_ticks(axis: Axis, *others: Axis) -> Axis:
    """Return those ticks of a horizontal axis of numbers whose labels stand side by side on a narrow screen; {} where all do.

    others: what the axis may become, such as the logarithmic one. They have their own places, and there, too, no labels overlap.
    """
    values, labels = axis["tickvals"], axis["ticktext"]
    gap = (LETTER * max(map(len, labels), default=0) + BETWEEN) / NARROW_AXIS
    chosen: list[int] = []
    for index in range(len(values) - 1, -1, -1):
        if not chosen or all(
            _share_between(each, values[index], values[chosen[-1]]) >= gap
            for each in (axis, *others)
        ):
            chosen.append(index)
    if len(chosen) == len(values):
        return {}
    chosen.reverse()
    return {
        "tickvals": [values[index] for index in chosen],
        "ticktext": [labels[index] for index in chosen],
    }


def _share_between(axis: Axis, low: float, high: float) -> float:
    start, end = axis["range"]
    if axis.get("type") == "log":
        low, high = math.log10(low), math.log10(high)
    return float((high - low) / (end - start))
