"""Parts of Plotly figures, which are plain dicts. Pure."""

import html
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from campaigns.kit.numbers import readable, short

Figure = dict[str, Any]
"""A figure of Plotly: `data`, `layout`, and what else its page reads."""
Trace = dict[str, Any]
"""A series of a figure."""
Axis = dict[str, Any]
"""An axis of a layout, or a part of one."""
Layout = Mapping[str, Any]
"""The layout of a figure, or changes of it by name."""
Style = Mapping[str, Any]
"""How a marker or a line is drawn."""

HOVER = "%{text}<extra></extra>"
LARGEST = 1e150
SERIES = 6
"""Colours of series in the style sheet, series-1 to series-6."""
SYMBOLS = ("circle", "square", "triangle-down", "cross", "star", "hexagram")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
LONGEST_TEXT = 60
FEWEST_PACKED = 200
"""Lists of at least so many numbers are sent as bytes, shorter ones as text."""
MOST_SINGLE = 1e9
"""Larger numbers are instants in milliseconds, which need all digits; six are enough for others."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric that is plotted: label, unit, and which way is better."""

    label: str
    unit: str
    lower_is_better: bool | None = None

    def readable(self) -> tuple["Quantity", float]:
        """Return the quantity in the unit that is shown, and the factor for its values."""
        factor, unit = readable(1.0, self.unit)
        return replace(self, unit=unit), factor

    @property
    def better(self) -> str:
        """Which way is better as text; empty where that is unknown."""
        if self.lower_is_better is None:
            return ""
        return "lower is better" if self.lower_is_better else "higher is better"


@dataclass(frozen=True, slots=True)
class KeyItem:
    """One entry of the HTML legend. Entries with a count of 0 are shown too, as "none".

    mark: the drawing, an open symbol of SYMBOLS or one of `diamond` (filled), `diamond-open`,
    `interval`, `bar`, `box`, `band`, `hatch`, `line` (dashed), `solid`, `dotted`, `failed`, `censored`, `bound-up`, `bound-down`, `excluded`.
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
    layout: Layout,
    *,
    scales: Layout | None = None,
    narrow: Layout | None = None,
) -> Figure:
    """Return a figure for JSON: without NaN and empty traces, with six digits."""
    drawn = [trace for trace in data if len(trace["x"])]
    return {
        "data": _plain(drawn),
        "layout": _plain(layout),
        "scales": _plain(scales or {}),
        "narrow": _plain(narrow or {}),
    }


def markers(points: Sequence[tuple[Any, Any]], marker: Style, **more: Any) -> Trace:
    """Return a trace of points; see `hovering` for what else it takes."""
    return {**_trace("markers", points), "marker": dict(marker), **hovering(**more)}


def line(points: Sequence[tuple[Any, Any]], pen: Style, **more: Any) -> Trace:
    """Return a trace of a line; a y of None interrupts it. See `hovering` for what else it takes."""
    return {**_trace("lines", points), "line": dict(pen), **hovering(**more)}


def mark(symbol: str, size: Any, color: Any, edge: float = 0.0, edge_color: str = "") -> Style:
    """Return the look of markers. edge: the width of their outline, where they have one of their own."""
    outline = {"color": edge_color} if edge_color else {}
    return {
        "symbol": symbol,
        "size": size,
        "color": color,
        **({"line": {**outline, "width": edge}} if edge else {}),
    }


def hovering(
    *, notes: Sequence[str] | None = None, pages: Sequence[int] | None = None, **more: Any
) -> Trace:
    """Return what a trace shows under the pointer, and `more` as it is; without notes or a `hovertemplate` that is nothing.

    notes: a text for each point; pages: the position of the run that a click opens.
    """
    if notes is not None:
        more |= {"text": notes, "hovertemplate": HOVER}
    if pages is not None:
        more["customdata"] = pages
    return more if "hovertemplate" in more else {"hoverinfo": "skip", **more}


def _trace(mode: str, points: Sequence[tuple[Any, Any]]) -> Trace:
    return {
        "type": "scatter",
        "mode": mode,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
    }


def grouped(traces: Sequence[Trace], *groups: str) -> list[Trace]:
    """Assign traces to entries of the legend; hiding one of these hides the traces."""
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

    def onto(layout: Layout) -> Layout:
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
    """Return a user's text in a form that is safe in a figure: no markup, no colour name, limited length."""
    escaped = html.escape(short(value, limit), quote=False)
    return f"\u200b{escaped}" if escaped.startswith("@") else escaped


def series_token(index: int) -> str:
    """Return the colour of the index-th series, from 0; colours repeat after six."""
    return f"series-{index % SERIES + 1}"


def dash_of(index: int) -> str:
    """Return the dashes of the index-th line, from 0; they differ where colours repeat."""
    return DASHES[(index + index // SERIES) % len(DASHES)]


def symbol_of(index: int) -> str:
    """Return the symbol of the index-th series, from 0; it differs where colours repeat."""
    return SYMBOLS[(index + index // SERIES) % len(SYMBOLS)]


def is_finite(value: float | None) -> bool:
    """Return whether a value can be drawn: neither missing nor too large for an axis."""
    return value is not None and -LARGEST < value < LARGEST


def sentence(value: str) -> str:
    """Return a text with a capital at its beginning."""
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
    """Encode many numbers as a typed array of Plotly, None as NaN; return None for few values or other types."""
    if len(values) < FEWEST_PACKED or not set(map(type, values)) <= {int, float, type(None)}:
        return None
    numbers = np.array(values, dtype=float)
    numbers[~np.isfinite(numbers)] = np.nan
    whole = bool((numbers == np.trunc(numbers)).all())  # NaN is not equal to itself
    largest = float(np.nanmax(np.abs(numbers))) if not np.isnan(numbers).all() else 0.0
    dtype = "f8" if largest >= MOST_SINGLE else "i4" if whole else "f4"
    data = numbers.astype(f"<{dtype}").tobytes()
    return {"dtype": dtype, "bdata": b64encode(data).decode()}
