"""What all figures share: the plain dict, its colours, its words. Pure."""

import html
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from campaigns.kit.charts.formats import readable, short

Figure = dict[str, Any]
Trace = dict[str, Any]

LARGEST = 1e150
SERIES = 6
"""Colours of series in the style sheet, series-1 to series-6."""
SYMBOLS = ("circle", "square", "triangle-down", "cross", "star", "hexagram")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
LONGEST_TEXT = 60
FEWEST_PACKED = 200
"""So many numbers travel as bytes, fewer as text."""
MOST_SINGLE = 1e9
"""Instants (milliseconds) are above it, and need all their digits; six are enough for the rest."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is plotted: a metric as people call it, its unit, and which way is better."""

    label: str
    unit: str
    lower_is_better: bool | None = None

    def readable(self) -> tuple["Quantity", float]:
        """Return the quantity in the unit that is shown, and the factor for its values."""
        factor, unit = readable(1.0, self.unit)
        return replace(self, unit=unit), factor

    @property
    def better(self) -> str:
        """Return which way is better, or nothing where nobody knows."""
        if self.lower_is_better is None:
            return ""
        return "lower is better" if self.lower_is_better else "higher is better"


@dataclass(frozen=True, slots=True)
class KeyItem:
    """One entry of the HTML legend. Entries with a count of 0 are shown too, as "none".

    mark: the drawing, an open symbol of SYMBOLS or one of `diamond` (filled), `diamond-open`,
    `interval`, `bar`, `box`, `band`, `line` (dashed), `solid`, `dotted`, `failed`, `censored`, `bound-up`, `bound-down`, `excluded`.
    token: its colour, without `@`. group: what the entry hides and shows, traces that `grouped` names so and
    shapes of this name; without one it only explains.
    """

    mark: str
    text: str
    count: int | None = None
    token: str = ""
    group: str = ""


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


def grouped(traces: Sequence[Trace], *groups: str) -> list[Trace]:
    """Name the entries of the legend that traces belong to; who hides one of them hides the traces."""
    return [{**trace, "meta": [*trace.get("meta", ()), *groups]} for trace in traces]


def watermarked(drawn: Figure, label: str) -> Figure:
    """Write a text across the plot, so that copies and screenshots have it, too."""
    mark = {
        "text": text(label),
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


@lru_cache(maxsize=2048)
def text(value: str, limit: int = LONGEST_TEXT) -> str:
    """Make somebody's words safe in a figure: no markup, no colour name, not endless."""
    escaped = html.escape(short(value, limit), quote=False)
    return f"\u200b{escaped}" if escaped.startswith("@") else escaped


def series_token(index: int) -> str:
    """Colour of the index-th series, from 0; they begin again after six."""
    return f"series-{index % SERIES + 1}"


def dash_of(index: int) -> str:
    """Dashes of the index-th line, from 0; where colours begin again, they are others."""
    return DASHES[(index + index // SERIES) % len(DASHES)]


def symbol_of(index: int) -> str:
    """Symbol of the index-th series, from 0; where colours begin again, it is another."""
    return SYMBOLS[(index + index // SERIES) % len(SYMBOLS)]


def is_finite(value: float | None) -> bool:
    """Return whether a value can be drawn: an axis has no room for what is beyond all measure."""
    return value is not None and -LARGEST < value < LARGEST


def sentence(value: str) -> str:
    """Begin with a capital, as a sentence does."""
    return value[:1].upper() + value[1:]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return packed(value) or [_plain(inner) for inner in value]
    return value


def packed(values: Sequence[Any]) -> dict[str, str] | None:
    """Code many numbers as Plotly's typed arrays, None as NaN; None for few, or what is no number."""
    if len(values) < FEWEST_PACKED or not set(map(type, values)) <= {int, float, type(None)}:
        return None
    numbers = np.array(values, dtype=float)
    numbers[~np.isfinite(numbers)] = np.nan
    whole = bool((numbers == np.trunc(numbers)).all())  # NaN is not equal to itself
    largest = float(np.nanmax(np.abs(numbers))) if not np.isnan(numbers).all() else 0.0
    dtype = "f8" if largest >= MOST_SINGLE else "i4" if whole else "f4"
    data = numbers.astype(f"<{dtype}").tobytes()
    return {"dtype": dtype, "bdata": b64encode(data).decode()}
