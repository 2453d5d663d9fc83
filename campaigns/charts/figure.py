"""What all figures share: the plain dict, its colours, its words. Pure."""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.charts.formats import readable, short

Figure = dict[str, Any]
Trace = dict[str, Any]

SERIES = 6
"""Colours of series in the style sheet, series-1 to series-6."""
SYMBOLS = ("circle", "square", "triangle-down", "cross", "star", "hexagram")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
LONGEST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is plotted: a metric as people call it, its unit, and which way is better."""

    label: str
    unit: str
    lower_is_better: bool | None = None

    def readable(self) -> tuple["Quantity", float]:
        """Give the quantity in the unit that is shown, and the factor for its values."""
        factor, unit = readable(1.0, self.unit)
        return replace(self, unit=unit), factor

    @property
    def better(self) -> str:
        """Say which way is better, or nothing where nobody knows."""
        if self.lower_is_better is None:
            return ""
        return "lower is better" if self.lower_is_better else "higher is better"


@dataclass(frozen=True, slots=True)
class KeyItem:
    """One entry of the HTML legend. Entries with a count of 0 are shown too, as "none".

    mark: the drawing, an open symbol of SYMBOLS or one of `diamond` (filled), `diamond-open`,
    `interval`, `bar`, `band`, `line`, `failed`, `censored`, `bound-up`, `bound-down`, `excluded`.
    token: its colour, without `@`.
    """

    mark: str
    text: str
    count: int | None = None
    token: str = ""


def figure(
    data: Sequence[Trace],
    layout: Mapping[str, Any],
    *,
    scales: Mapping[str, Any] | None = None,
    narrow: Mapping[str, Any] | None = None,
) -> Figure:
    """Put a figure together as JSON can hold it: no NaN, six digits, no empty trace."""
    drawn = [trace for trace in data if len(trace["x"])]
    return {
        "data": _plain(drawn),
        "layout": _plain(layout),
        "scales": _plain(scales or {}),
        "narrow": _plain(narrow or {}),
    }


def markers(points: Sequence[tuple[Any, Any]], marker: Mapping[str, Any], **more: Any) -> Trace:
    """Draw points without a line; without a `hovertemplate` they have no hover."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "marker": dict(marker),
        **({} if "hovertemplate" in more else {"hoverinfo": "skip"}),
        **more,
    }


def line(points: Sequence[tuple[Any, Any]], pen: Mapping[str, Any], **more: Any) -> Trace:
    """Draw a line through points; a y of None breaks it."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": dict(pen),
        **({} if "hovertemplate" in more else {"hoverinfo": "skip"}),
        **more,
    }


def marked(drawn: Figure, words: str) -> Figure:
    """Write words across the plot, where every copy and every screenshot of it keeps them."""
    mark = {
        "text": text(words),
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.5,
        "showarrow": False,
        "font": {"size": 34, "color": "@ink-3/45"},
        "captureevents": False,
    }

    def onto(layout: Mapping[str, Any]) -> dict[str, Any]:
        return {**layout, "annotations": [*layout.get("annotations", ()), mark]}

    narrow = drawn["narrow"]
    return {
        **drawn,
        "layout": onto(drawn["layout"]),
        "narrow": onto(narrow) if "annotations" in narrow else narrow,
        "scales": {
            name: onto(changes) if "annotations" in changes else changes
            for name, changes in drawn["scales"].items()
        },
    }


def text(value: str, limit: int = LONGEST_TEXT) -> str:
    """Make somebody's words safe in a figure: no markup, no colour name, not endless."""
    escaped = html.escape(short(value, limit), quote=False)
    return f"\u200b{escaped}" if escaped.startswith("@") else escaped


def series_token(index: int) -> str:
    """Colour of the index-th series, from 0; they begin again after six."""
    return f"series-{index % SERIES + 1}"


def is_finite(value: float | None) -> bool:
    """Say whether a value can be drawn."""
    return value is not None and math.isfinite(value)


def sentence(value: str) -> str:
    """Begin with a capital, as a sentence does."""
    return value[:1].upper() + value[1:]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
