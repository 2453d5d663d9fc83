"""Draws figures as SVG, for places without scripts: reports, prints, mails. Pure.

Colours stay names of CSS tokens, so that one drawing serves light, dark and paper; the page has the style sheet. It
draws what charts of results use: points, lines, error bars, bands and text.
"""

import html
import math
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from campaigns.kit.charts.axes import nice_step
from campaigns.kit.charts.figure import Axis, Figure, Layout, Style, Trace
from campaigns.kit.numbers import number

TOKEN = re.compile(r"@([a-z0-9-]+)(?:/(\d{1,3}))?\Z")
DASHES = {
    "dash": "7 4",
    "dot": "1.5 3",
    "dashdot": "7 3 1.5 3",
    "longdash": "11 4",
    "longdashdot": "11 3 1.5 3",
}
NONE = "none"


def paint(color: str | None, of: str) -> str:
    """Return the attributes of a colour; `of`: fill or stroke. Other colours than tokens are not drawn."""
    match = TOKEN.match(color or "")
    if match is None:
        return f'{of}="{NONE}"'
    token, alpha = match.groups()
    opacity = "" if alpha is None else f' {of}-opacity="{int(alpha) / 100:g}"'
    return f'{of}="var(--{token})"{opacity}'


def pen(color: str | None, width: float, dash: str = "") -> str:
    """Return the attributes of a line."""
    dashes = f' stroke-dasharray="{DASHES[dash]}"' if dash in DASHES else ""
    return f'{paint(color, "stroke")} stroke-width="{width:g}"{dashes}'


def escaped(text: object) -> str:
    """Escape a text of a figure for SVG; it may be escaped already."""
    return html.escape(html.unescape(str(text)))


def place(value: float) -> str:
    """Format a coordinate to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


LETTER = 6.4
"""The approximate width of a letter in pixels (12 px, sans-serif)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear or logarithmic axis, which maps `low` to `high` to pixels."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        shown = math.log10(value) if self.is_log else value
        return self.start + (shown - self.low) / (self.high - self.low) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Return whether a value lies on the axis."""
        if self.is_log and value <= 0:
            return False
        shown = math.log10(value) if self.is_log else value
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= shown <= self.high + slack

    def inside(self, value: float) -> float:
        """Return the pixel of a value, limited to the axis."""
        if self.is_log and value <= 0:
            return self.start
        low, high = sorted((self.start, self.end))
        return min(max(self.at(value), low), high)


def scale_of(axis: Axis, start: float, end: float) -> Scale:
    """Return the scale of an axis; an empty range is widened."""
    low, high = (float(bound) for bound in axis.get("range") or (0.0, 1.0))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    return Scale(low, high, start, end, axis.get("type") == "log")


def ticks_of(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Return (value, label) of each tick on the axis."""
    suffix = axis.get("ticksuffix", "")
    if axis.get("tickvals"):
        places = zip(axis["tickvals"], axis["ticktext"], strict=True)
        return [(float(at), f"{label}{suffix}") for at, label in places if scale.holds(float(at))]
    if scale.is_log:
        powers = range(math.ceil(scale.low), math.floor(scale.high) + 1)
        return [(10.0**power, f"{number(10.0**power)}{suffix}") for power in powers]
    step = float(axis.get("dtick") or nice_step(scale.high - scale.low))
    first, last = math.ceil(scale.low / step), math.floor(scale.high / step)
    return [(step * each, f"{number(step * each)}{suffix}") for each in range(first, last + 1)]


def values_of(coded: Any) -> Sequence[Any]:
    """Return the values of a trace, which is a list or a typed array of Plotly."""
    if not isinstance(coded, Mapping):
        return list(coded)
    held = np.frombuffer(b64decode(coded["bdata"]), dtype=f"<{coded['dtype']}")
    return [None if np.isnan(each) else float(each) for each in held.astype(float)]


def width_of(texts: Sequence[str]) -> float:
    """Return the approximate width of the longest text in pixels."""
    return LETTER * max(map(len, texts), default=0)


Point = tuple[float, float]


def symbol(x: float, y: float, marker: Style) -> str:
    """Draw one point."""
    name = str(marker.get("symbol", "circle"))
    size = float(marker.get("size", 6)) / 2
    color, line = marker.get("color"), marker.get("line") or {}
    is_open = name.endswith("-open") or name in ("x", "cross-thin")
    shape = name.removesuffix("-open")
    width = float(line.get("width", 1.2 if is_open else 0))
    if is_open:
        look = f'fill="{NONE}" {pen(color, width or 1.5)}'
    else:
        look = f"{paint(color, 'fill')} {pen(line.get('color'), width)}"
    if shape == "circle":
        return _circle(x, y, size, look)
    if shape == "circle-x":
        reach = size * math.sqrt(0.5)
        return _circle(x, y, size, look) + _strokes(_cross(x, y, reach), look)
    if shape == "x":
        return _strokes(_cross(x, y, size * 0.8), f'fill="{NONE}" {pen(color, 2.2)}')
    return f'<path d="{_path(_corners(shape, x, y, size))}Z" {look}/>'


def _circle(x: float, y: float, radius: float, look: str) -> str:
    return f'<circle cx="{place(x)}" cy="{place(y)}" r="{place(radius)}" {look}/>'


def _strokes(lines: Sequence[Sequence[Point]], look: str) -> str:
    return f'<path d="{"".join(map(_path, lines))}" {look}/>'


def _cross(x: float, y: float, reach: float) -> list[list[Point]]:
    return [
        [(x - reach, y - reach), (x + reach, y + reach)],
        [(x - reach, y + reach), (x + reach, y - reach)],
    ]


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{place(x)} {place(y)}" for x, y in points)


def _corners(shape: str, x: float, y: float, size: float) -> list[Point]:
    match shape:
        case "diamond":
            reach = 1.3 * size
            return [(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)]
        case "triangle-up":
            return _star(x, y, 1.2 * size, 1.2 * size, 3, -90)
        case "triangle-down":
            return _star(x, y, 1.2 * size, 1.2 * size, 3, 90)
        case "cross":
            third = size / 2.5
            signs = [(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)]
            signs += [(-a, -b) for a, b in signs]
            far = {1: third, -1: -third, 3: size, -3: -size}
            return [(x + far[a], y + far[b]) for a, b in signs]
        case "star":
            return _star(x, y, 1.4 * size, 0.55 * size, 10, -90)
        case "hexagram":
            return _star(x, y, 1.3 * size, 0.75 * size, 12, -90)
    return [(x + a * size, y + b * size) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def _star(x: float, y: float, far: float, near: float, corners: int, turn: float) -> list[Point]:
    """Return the corners of a star, which alternate between two radii, or of a triangle."""
    points = []
    for corner in range(corners):
        angle = math.radians(turn + 360 * corner / corners)
        reach = far if corner % 2 == 0 or corners == 3 else near
        points.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
    return points


TOP, RIGHT, BOTTOM, LEFT = 30.0, 18.0, 46.0, 16.0
LINE_GAP = 10.0


def drawn(figure: Figure, *, width: int, height: int, label: str, narrow: bool = False) -> str:
    """Draw a figure as an SVG element of `width` by `height` pixels, which scales with its container.

    label: for screen readers. narrow: use the layout of narrow screens.
    """
    layout = _merged(figure["layout"], figure.get("narrow", {}) if narrow else {})
    xaxis, yaxis = layout.get("xaxis", {}), layout.get("yaxis", {})
    bottom = height - BOTTOM
    tall = scale_of(yaxis, bottom, TOP)
    names = [label for _, label in ticks_of(yaxis, tall)]
    left = min(LEFT + width_of(names), 0.45 * width)
    wide = scale_of(xaxis, left, width - RIGHT)
    shapes = [_shape(shape, wide, tall) for shape in layout.get("shapes", ())]
    parts = [
        *_grid(yaxis, wide, tall),
        *shapes,
        *(part for trace in figure["data"] for part in _trace(trace, wide, tall)),
        *_below(xaxis, wide, tall),
        _text(4, 14, _title_of(yaxis)) if _title_of(yaxis) else "",
        *(_annotation(each, width, height) for each in layout.get("annotations", ())),
    ]
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escaped(label)}" font-size="12">{"".join(parts)}</svg>'
    )


def _merged(layout: Layout, changes: Layout) -> Layout:
    merged = dict(layout)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def _text(x: float, y: float, text: object, *, anchor: str = "start", color: str = "@ink-2") -> str:
    return (
        f'<text x="{place(x)}" y="{place(y)}" text-anchor="{anchor}" {paint(color, "fill")}>'
        f"{escaped(text)}</text>"
    )


def _line(x0: float, y0: float, x1: float, y1: float, look: str) -> str:
    return f'<path d="M{place(x0)} {place(y0)}L{place(x1)} {place(y1)}" fill="{NONE}" {look}/>'


def _grid(axis: Axis, wide: Scale, tall: Scale) -> list[str]:
    look = pen("@line" if axis.get("showgrid", True) else None, 1)
    parts = []
    for value, label in ticks_of(axis, tall):
        y = tall.at(value)
        parts.append(_line(wide.start, y, wide.end, y, look))
        parts.append(_text(wide.start - 7, y + 4, label, anchor="end"))
    return parts


def _below(axis: Axis, wide: Scale, tall: Scale) -> list[str]:
    """Draw the x axis, without tick labels that would overlap."""
    look = pen("@line-2", 1)
    parts = [_line(wide.start, tall.start, wide.end, tall.start, look)]
    free = float("-inf")
    for value, label in ticks_of(axis, wide):
        x, half = wide.at(value), width_of([label]) / 2
        parts.append(_line(x, tall.start, x, tall.start + 4, look))
        if x - half >= free:
            parts.append(_text(x, tall.start + 18, label, anchor="middle"))
            free = x + half + LINE_GAP
    title = _title_of(axis)
    middle = (wide.start + wide.end) / 2
    return [*parts, _text(middle, tall.start + 38, title, anchor="middle")] if title else parts


def _title_of(axis: Axis) -> str:
    return str((axis.get("title") or {}).get("text", ""))


def _shape(shape: Style, wide: Scale, tall: Scale) -> str:
    x0, x1 = (_ends(shape, "x", wide)) if shape.get("xref") != "paper" else (wide.start, wide.end)
    y0, y1 = (_ends(shape, "y", tall)) if shape.get("yref") != "paper" else (tall.start, tall.end)
    line = shape.get("line") or {}
    if shape["type"] == "line":
        look = pen(line.get("color"), float(line.get("width", 1)), line.get("dash", ""))
        return _line(x0, y0, x1, y1, look)
    return (
        f'<rect x="{place(min(x0, x1))}" y="{place(min(y0, y1))}" width="{place(abs(x1 - x0))}" '
        f'height="{place(abs(y1 - y0))}" {paint(shape.get("fillcolor"), "fill")}/>'
    )


def _ends(shape: Style, axis: str, scale: Scale) -> tuple[float, float]:
    return scale.inside(float(shape[f"{axis}0"])), scale.inside(float(shape[f"{axis}1"]))


def _trace(trace: Trace, wide: Scale, tall: Scale) -> list[str]:
    xs, ys = values_of(trace["x"]), values_of(trace["y"])
    mode = trace.get("mode", "markers")
    parts = []
    if "lines" in mode:
        parts.append(_polyline(xs, ys, trace, wide, tall))
    for axis, values in (("error_x", xs), ("error_y", ys)):
        if axis in trace:
            parts += _errors(trace[axis], axis, xs, ys, values, (wide, tall))
    places = [
        (index, x, y)
        for index, (x, y) in enumerate(zip(xs, ys, strict=True))
        if x is not None and y is not None and wide.holds(x) and tall.holds(y)
    ]
    if "markers" in mode:
        marker = trace.get("marker") or {}
        if float(marker.get("size", 6)) > 1:  # what is only there for its bars is a speck
            parts += [symbol(wide.at(x), tall.at(y), marker) for _, x, y in places]
    if mode == "text":
        parts += _texts(trace, places, wide, tall)
    return parts


def _texts(
    trace: Trace, places: Sequence[tuple[int, float, float]], wide: Scale, tall: Scale
) -> list[str]:
    colors = (trace.get("textfont") or {}).get("color", "@ink")
    anchor = "end" if "left" in trace.get("textposition", "") else "start"
    return [
        _text(
            wide.at(x),
            tall.at(y) + 4,
            trace["text"][index],
            anchor=anchor,
            color=colors if isinstance(colors, str) else colors[index],
        )
        for index, x, y in places
    ]


def _polyline(xs: Sequence[Any], ys: Sequence[Any], trace: Trace, wide: Scale, tall: Scale) -> str:
    line, filled = trace.get("line") or {}, trace.get("fill") == "toself"
    path, is_down = "", False
    for x, y in zip(xs, ys, strict=True):
        if x is None or y is None:
            is_down = False
            continue
        path += f"{'L' if is_down else 'M'}{place(wide.inside(x))} {place(tall.inside(y))}"
        is_down = True
    look = pen(line.get("color"), float(line.get("width", 1.5)), line.get("dash", ""))
    fill = paint(trace.get("fillcolor"), "fill") if filled else f'fill="{NONE}"'
    return f'<path d="{path}" {fill} {look}/>' if path else ""


def _errors(
    error: Style,
    axis: str,
    xs: Sequence[Any],
    ys: Sequence[Any],
    values: Sequence[Any],
    scales: tuple[Scale, Scale],
) -> list[str]:
    """Draw error bars; a bar that leaves the axis ends there without a cap."""
    wide, tall = scales
    along, across = (wide, tall) if axis == "error_x" else (tall, wide)
    others = ys if axis == "error_x" else xs
    above, below = values_of(error["array"]), values_of(error["arrayminus"])
    look = pen(error.get("color"), float(error.get("thickness", 1)))
    cap = float(error.get("width", 0))
    parts = []
    for value, other, up, down in zip(values, others, above, below, strict=True):
        if None in (value, other, up, down) or not across.holds(other):
            continue
        at = across.at(other)
        ends = (value - down, value + up)
        pixels = [along.inside(end) for end in ends]
        lines = [((pixels[0], at), (pixels[1], at))]
        if cap:
            lines += [
                ((pixel, at - cap), (pixel, at + cap))
                for pixel, end in zip(pixels, ends, strict=True)
                if along.holds(end)
            ]
        for first, last in lines:
            flat = (*first, *last) if axis == "error_x" else (*first[::-1], *last[::-1])
            parts.append(_line(*flat, look))
    return parts


def _annotation(note: Style, width: int, height: int) -> str:
    """Draw an annotation that is placed relative to the paper; others are not drawn."""
    if note.get("xref") != "paper" or note.get("yref") != "paper":
        return ""
    font = note.get("font") or {}
    return (
        f'<text x="{place(width * float(note["x"]))}" y="{place(height * (1 - float(note["y"])))}" '
        f'text-anchor="middle" font-size="{font.get("size", 12)}" '
        f"{paint(font.get('color'), 'fill')}>{escaped(note['text'])}</text>"
    )
