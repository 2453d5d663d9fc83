"""Parts of figures that several charts draw alike. Pure."""

from collections.abc import Sequence
from typing import Any

from campaigns.kit.charts.axes import (
    clock_ticks,
    has_clock,
    log_clock_ticks,
    log_range,
    log_ticks,
)
from campaigns.kit.charts.figure import Trace, is_finite, line, text
from campaigns.kit.numbers import counted

HOVER = "%{text}<extra></extra>"
LONGEST_NOTE = 200
MARGIN = {"l": 8, "r": 8, "t": 8, "b": 8}
MARGIN_BELOW_LEGEND = {"t": 44, "l": 8, "r": 12, "b": 8}
INTERVAL_ROOM = 0.5
"""Intervals may stretch the axis by so much of what the points take; longer ones are cut off."""


def zero_line(start: tuple[float, float], end: tuple[float, float], **more: Any) -> Trace:
    """Return the dashed line at "no change"."""
    return line([start, end], {"color": "@ink-2", "width": 1, "dash": "dash"}, **more)


def error_bars(
    drawn: Sequence[tuple[float, tuple[float, float]]], color: str, *, thickness: int, width: int
) -> dict[str, Any]:
    """Return the error bars of markers from their values and intervals."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value for value, (_, high) in drawn],
        "arrayminus": [value - low for value, (low, _) in drawn],
        "thickness": thickness,
        "width": width,
        "color": color,
    }


def extent(
    points: Sequence[float | None], intervals: Sequence[tuple[float, float] | None], pad: float
) -> tuple[float, float]:
    """Return the range of an axis of changes: 0, all points, and intervals as far as there is room."""
    values = [0.0, *(point for point in points if point is not None and is_finite(point))]
    low, high = min(values), max(values)
    room = INTERVAL_ROOM * ((high - low) or 1.0)
    bounds = [bound for interval in intervals for bound in interval or () if is_finite(bound)]
    low = min([low, *(max(bound, low - room) for bound in bounds)])
    high = max([high, *(min(bound, high + room) for bound in bounds)])
    pad *= (high - low) or 1.0
    return low - pad, high + pad


def seconds_axis(end: float, title: str) -> dict[str, Any]:
    """Return a linear axis of durations from 0."""
    ticks = clock_ticks(0, end) if has_clock("s", end) else {"ticksuffix": " s"}
    return {"title": {"text": title}, "range": [0, end], **ticks}


def log_scales(low: float | None, high: float, *, clock: bool = False) -> dict[str, Any]:
    """Return the scales between which readers switch the axis of values.

    Empty without values, and where the lowest is not above 0 and has no logarithm.
    """
    if low is None or low <= 0:
        return {}
    start, end = log_range(low, high)
    ticks = log_clock_ticks if clock else log_ticks
    axis = {"type": "log", "range": [start, end], **ticks(10**start, 10**end)}
    return {"linear": {}, "log": {"yaxis": axis}}


def legend_of(factor: str) -> dict[str, Any]:
    """Return the legend of Plotly, headed by a factor."""
    return {"title": {"text": f"{text(factor)} "}}


def hover_lead(name: str) -> str:
    """Return the name of a run as the beginning of its hover text."""
    return f"<b>{text(name)}</b>, " if name else ""


def hover_note(note: str) -> str:
    """Return a note on a run as the last line of its hover text."""
    return f"<br>{text(note, LONGEST_NOTE)}" if note else ""


def and_more(cells: int) -> str:
    """Return how many cells a description leaves out; else nothing."""
    return f"; and {counted(cells, 'cell')} more" if cells > 0 else ""
