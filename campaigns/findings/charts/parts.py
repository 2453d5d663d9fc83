"""Parts of figures that several charts draw alike. Pure."""

from collections.abc import Sequence
from typing import Any

from campaigns.kit.charts.axes import (
    log_clock_ticks,
    log_range,
    log_ticks,
)
from campaigns.kit.charts.figure import Style, Trace, is_finite, line, text
from campaigns.kit.numbers import counted

LONGEST_NOTE = 200
MARGIN = {"l": 8, "r": 8, "t": 8, "b": 8}
MARGIN_BELOW_LEGEND = {"t": 44, "l": 8, "r": 12, "b": 8}
Shape = dict[str, Any]
"""A shape of a layout."""
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


def band(start: float, end: float, color: str, name: str) -> Shape:
    """Return a shade between two places, from the bottom of a plot to its top. name: of the legend's entry that hides it."""
    look = {"fillcolor": color, "line": {"width": 0}, "layer": "below", "name": name}
    return {"type": "rect", **_upright(start, end), **look}


def upright(at: float, pen: Style, **more: Any) -> Shape:
    """Return a line at a place, from the bottom of a plot to its top."""
    return {"type": "line", **_upright(at, at), "line": pen, **more}


def across(value: float, pen: Style, **more: Any) -> Shape:
    """Return a line at a value, from the left of a plot to its right."""
    ends = {"xref": "paper", "x0": 0, "x1": 1, "y0": value, "y1": value}
    return {"type": "line", **ends, "line": pen, **more}


def _upright(start: float, end: float) -> Shape:
    return {"xref": "x", "yref": "paper", "x0": start, "x1": end, "y0": 0, "y1": 1}


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
