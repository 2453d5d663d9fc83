"""Draws figures as SVG: what pages show before Plotly has come, and places without scripts show at all. Pure.

A drawing has a height in pixels and takes the width of its container: horizontal places are percentages of the plot, so
that letters and marks keep their size, and the plot lies exactly where Plotly's will. Colours stay names of CSS tokens,
so that one drawing serves light, dark and paper; the page has the style sheet.
"""

import math
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from campaigns.kit.charts.axes import nice_step
from campaigns.kit.charts.figure import Axis, Figure, Layout, Style, Trace
from campaigns.kit.charts.svg_marks import (
    NONE,
    escaped,
    look_of,
    paint,
    path_of,
    pen,
    place,
    shape_of,
)
from campaigns.kit.numbers import number

MOST_MARKS, MOST_POINTS = 2000, 20_000
"""Figures of more marks, or of lines through more points, are not drawn here: the drawing would be heavier than Plotly."""
CROWDED, FEWEST_DOTS = 300, 20
"""In a figure of so many marks, traces of so many draw each mark as a dot and each error bar without caps: a tenth of the bytes."""
WIDE, STRETCH = 1000.0, 1000.0
"""Units of the width of paths, which are stretched to the plot, and of their height, which are pixels."""
STRETCHED = (
    f'<svg width="100%" height="{STRETCH:g}" viewBox="0 0 {WIDE:g} {STRETCH:g}" preserveAspectRatio="none"'
    ' overflow="visible">'
)
ROUND = 'stroke-linecap="round"'
LETTER = 7.5
"""The approximate width of a letter in pixels (12 px, sans-serif)."""
TICK, TITLE, ABOVE, RIGHT, AROUND = 8.0, 24.0, 22.0, 12.0, 8.0
"""Pixels beside the plot: from it to the labels of its ticks; of a title; above and right of it; and around all."""
LINE = 16.0
APART = 40.0
"""The least distance of ticks of an upright axis in pixels."""
FEW_POWERS = 3
"""So many powers of ten have ticks between them."""
ROOM = 0.6
"""Labels below the plot are left out where they would overlap in a plot of so many pixels a unit of WIDE."""
NARROW_ROOM = 0.27


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear or logarithmic axis, which maps `low` to `high` to `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value."""
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
        """Return the place of a value, limited to the axis."""
        if self.is_log and value <= 0:
            return self.start
        low, high = sorted((self.start, self.end))
        return min(max(self.at(value), low), high)


def can_draw(figure: Figure) -> bool:
    """Return whether a figure is drawn here: of numbers, and not too many."""
    layout, data = figure["layout"], figure["data"]
    numeric = all(
        (layout.get(name) or {}).get("type", "linear") in ("linear", "log")
        for name in ("xaxis", *_uprights(layout).values())
    )
    upright = all(trace.get("orientation", "v") == "v" for trace in data)
    points = sum(_length(trace["x"]) for trace in data)
    return numeric and upright and points <= MOST_POINTS and _marks_of(figure) <= MOST_MARKS


def _marks_of(figure: Figure) -> int:
    """Return how many marks a figure has, besides its lines."""
    return sum(
        _length(trace["x"])
        for trace in figure["data"]
        if trace["type"] != "scatter" or trace.get("mode", "markers") != "lines"
    )


def _length(coded: Any) -> int:
    """Return how many values a trace has; of a typed array, whose texts are not decoded for it."""
    if not isinstance(coded, Mapping):
        return len(coded)
    return len(coded["bdata"]) * 3 // 4 // np.dtype(coded["dtype"]).itemsize


def scale_of(axis: Axis, start: float, end: float, values: Sequence[float] = ()) -> Scale:
    """Return the scale of an axis, by its values where it has no range; an empty range is widened."""
    is_log = axis.get("type") == "log"
    shown = axis.get("range")
    if not shown and values:
        seen = [
            math.log10(value) if is_log else value for value in values if value > 0 or not is_log
        ]
        low, high = min(seen, default=0.0), max(seen, default=1.0)
        pad = 0.055 * (high - low)
        shown = low - pad, high + pad
    low, high = (float(bound) for bound in shown or (0.0, 1.0))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    return Scale(low, high, start, end, is_log)


def ticks_of(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Return (value, label) of each tick on the axis."""
    suffix = axis.get("ticksuffix", "")
    if axis.get("tickvals"):
        places = zip(axis["tickvals"], axis["ticktext"], strict=True)
        return [(float(at), f"{label}{suffix}") for at, label in places if scale.holds(float(at))]
    if scale.is_log:
        powers = range(math.floor(scale.low), math.floor(scale.high) + 1)
        factors = (1,) if len(powers) > FEW_POWERS else (1, 2, 5)
        values = [factor * 10.0**power for power in powers for factor in factors]
        return [(each, f"{number(each)}{suffix}") for each in values if scale.holds(each)]
    step = float(axis.get("dtick") or _step(scale, axis.get("nticks")))
    first, last = math.ceil(scale.low / step), math.floor(scale.high / step)
    return [(step * each, f"{number(step * each)}{suffix}") for each in range(first, last + 1)]


def _step(scale: Scale, most: int | None) -> float:
    """Return the step between ticks of a linear axis: upright as Plotly chooses it, by the height; else at most six."""
    extent = scale.high - scale.low
    if scale.start < scale.end:
        return nice_step(extent, most or 6)
    rough = extent / (most or max(4.0, min(9.0, (scale.start - scale.end) / APART)) + 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor for factor in (2, 5, 10) if factor * power >= rough * (1 - 1e-9)) * power


def values_of(coded: Any) -> Sequence[Any]:
    """Return the values of a trace, which is a list or a typed array of Plotly."""
    if not isinstance(coded, Mapping):
        return list(coded)
    held = np.frombuffer(b64decode(coded["bdata"]), dtype=f"<{coded['dtype']}")
    return [None if np.isnan(each) else float(each) for each in held.astype(float)]


def width_of(texts: Sequence[str]) -> float:
    """Return the approximate width of the longest text in pixels."""
    return math.ceil(LETTER * max(map(len, texts), default=0))


@dataclass(frozen=True, slots=True)
class Plan:
    """Where everything stands: the margins around the plot in pixels, and its scales."""

    left: float
    top: float
    bottom: float
    wide: Scale
    talls: Mapping[str, Scale]

    @property
    def margin(self) -> dict[str, float]:
        """The margins as Plotly's layout has them."""
        return {"l": self.left, "r": RIGHT, "t": self.top, "b": self.bottom}


def plan_of(figure: Figure, layout: Layout, height: float) -> Plan:
    """Place the axes of a figure; layout: as it is drawn, on a wide screen or on a narrow one."""
    top = max(ABOVE if not layout.get("margin") else AROUND, AROUND)
    bottom = TICK + LINE + (TITLE if _title_of(layout.get("xaxis", {})) else AROUND)
    uprights = _uprights(layout)
    talls, widest, titled = {}, 0.0, False
    for short, name in uprights.items():
        axis = layout.get(name, {})
        low, high = axis.get("domain") or (0.0, 1.0)
        plot = height - top - bottom
        values = [
            value
            for trace in figure["data"]
            if trace.get("yaxis", "y") == short
            for value in values_of(trace["y"])
            if value is not None
        ]
        talls[short] = scale_of(axis, height - bottom - low * plot, top + (1 - high) * plot, values)
        widest = max(widest, width_of([label for _, label in ticks_of(axis, talls[short])]))
        titled = titled or bool(_title_of(axis))
    across = [v for trace in figure["data"] for v in values_of(trace["x"]) if v is not None]
    wide = scale_of(layout.get("xaxis", {}), 0.0, WIDE, across)
    return Plan(TICK + widest + (TITLE if titled else AROUND), top, bottom, wide, talls)


def _uprights(layout: Layout) -> dict[str, str]:
    """Return the upright axes of a layout, by the names that traces give them: y, y2 and so on."""
    others = sorted(name for name in layout if name.startswith("yaxis") and name != "yaxis")
    return {name.replace("axis", ""): name for name in ("yaxis", *others)}


def layout_of(figure: Figure, *, narrow: bool) -> dict[str, Any]:
    """Return the layout of a figure, with the changes for narrow screens where it is one."""
    merged = dict(figure["layout"])
    for key, value in (figure.get("narrow", {}) if narrow else {}).items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def drawn(
    figure: Figure, *, height: int, label: str, narrow: bool = False, marks: str | None = None
) -> str:
    """Draw a figure as an SVG element of `height` pixels, as wide as its container.

    label: for screen readers. narrow: use the layout of narrow screens. marks: those of `marks_of`, where they are
    drawn already.
    """
    layout = layout_of(figure, narrow=narrow)
    plan = plan_of(figure, layout, height)
    xaxis, shapes = layout.get("xaxis", {}), layout.get("shapes", ())
    axes = {short: layout.get(name, {}) for short, name in _uprights(layout).items()}
    parts = [
        *(_shape(shape, plan) for shape in shapes if shape.get("layer") == "below"),
        *_upright_grid(xaxis, plan),
        *(part for name, tall in plan.talls.items() for part in _grid(axes[name], tall, plan)),
        *(_shape(shape, plan) for shape in shapes if shape.get("layer") != "below"),
        marks_of(figure, plan) if marks is None else marks,
        *_below(xaxis, plan, narrow=narrow),
        *(_annotation(each, plan) for each in layout.get("annotations", ())),
    ]
    padding = f"padding:0 {place(RIGHT)}px 0 {place(plan.left)}px"
    return (
        f'<svg class="plot" height="{height}" style="{padding}" role="img" '
        f'aria-label="{escaped(label)}" font-size="12">{"".join(parts)}</svg>'
    )


def marks_of(figure: Figure, plan: Plan) -> str:
    """Draw the traces of a figure."""
    crowded = _marks_of(figure) > CROWDED
    drawn = "".join(
        part
        for trace in figure["data"]
        for part in _trace(trace, plan, dots=crowded and _length(trace["x"]) >= FEWEST_DOTS)
    )
    return drawn.replace(f"</svg>{STRETCHED}", "")


def _x(value: float) -> str:
    """Format a horizontal place as a share of the plot."""
    return f"{value / WIDE * 100:.2f}".rstrip("0").removesuffix(".") + "%"


def _text(
    x: float, y: float, text: object, *, anchor: str = "start", color: str = "@ink-2", dx: float = 0
) -> str:
    shift = f' dx="{place(dx)}"' if dx else ""
    return (
        f'<text x="{_x(x)}"{shift} y="{place(y)}" text-anchor="{anchor}" {paint(color, "fill")}>'
        f"{escaped(text)}</text>"
    )


def _line(x0: float, y0: float, x1: float, y1: float, look: str = "") -> str:
    ends = f'x1="{_x(x0)}" y1="{place(y0)}" x2="{_x(x1)}" y2="{place(y1)}"'
    return f"<line {ends} {look}/>"


def _stretched(path: str, look: str) -> str:
    """Draw a path whose horizontal places are parts of WIDE; the style sheet lets its pen keep its width."""
    if not path:
        return ""
    return f'{STRETCHED}<path d="{path}" {look}/></svg>'


def _grid(axis: Axis, tall: Scale, plan: Plan) -> Iterator[str]:
    look = pen("@line" if axis.get("showgrid", True) else None, 1)
    for value, label in ticks_of(axis, tall):
        y = tall.at(value)
        yield _line(0, y, WIDE, y, look)
        yield _tick(y)
        yield _text(0, y + 4, label, anchor="end", dx=-TICK)
    yield _line(0, tall.start, 0, tall.end, pen("@line-2", 1))
    if title := _title_of(axis):
        middle, x = (tall.start + tall.end) / 2, 16 - plan.left
        yield (
            f'<text transform="translate({place(x)} {place(middle)}) rotate(-90)" text-anchor="middle" '
            f"{paint('@ink-2', 'fill')}>{escaped(title)}</text>"
        )


def _upright_grid(axis: Axis, plan: Plan) -> Iterator[str]:
    if not axis.get("showgrid", True):
        return
    for tall in plan.talls.values():
        for value, _ in ticks_of(axis, plan.wide):
            x = plan.wide.at(value)
            yield _line(x, tall.start, x, tall.end, pen("@line", 1))


def _tick(y: float) -> str:
    return f'<path d="M-4 {place(y)}h4" {pen("@line-2", 1)}/>'


def _below(axis: Axis, plan: Plan, *, narrow: bool) -> Iterator[str]:
    """Draw the x axis, without labels of ticks that would overlap."""
    bottom = max(tall.start for tall in plan.talls.values())
    look = pen("@line-2", 1)
    yield _line(0, bottom, WIDE, bottom, look)
    room, free = NARROW_ROOM if narrow else ROOM, float("-inf")
    for value, label in ticks_of(axis, plan.wide):
        x = plan.wide.at(value)
        half = width_of([label]) / 2 / room
        yield _line(x, bottom, x, bottom + 4, look)
        if x - half >= free:
            yield _text(x, bottom + 19, label, anchor="middle")
            free = x + half + TICK / room
    if title := _title_of(axis):
        yield _text(WIDE / 2, bottom + 38, title, anchor="middle")


def _title_of(axis: Axis) -> str:
    return str((axis.get("title") or {}).get("text", ""))


def _shape(shape: Style, plan: Plan) -> str:
    tall = plan.talls.get(shape.get("yref", "y"), plan.talls["y"])
    height = max(each.start for each in plan.talls.values())
    x0, x1 = _ends(shape, "x", plan.wide) if shape.get("xref") != "paper" else (0.0, WIDE)
    y0, y1 = _ends(shape, "y", tall) if shape.get("yref") != "paper" else (height, plan.top)
    line = shape.get("line") or {}
    if shape["type"] == "line":
        look = pen(line.get("color"), float(line.get("width", 1)), line.get("dash", ""))
        return _line(x0, y0, x1, y1, look)
    return _box(x0, y0, x1, y1, paint(shape.get("fillcolor"), "fill"))


def _ends(shape: Style, axis: str, scale: Scale) -> tuple[float, float]:
    return scale.inside(float(shape[f"{axis}0"])), scale.inside(float(shape[f"{axis}1"]))


def _box(x0: float, y0: float, x1: float, y1: float, look: str) -> str:
    return (
        f'<rect x="{_x(min(x0, x1))}" y="{place(min(y0, y1))}" width="{_x(abs(x1 - x0))}" '
        f'height="{place(abs(y1 - y0))}" {look}/>'
    )


def _trace(trace: Trace, plan: Plan, *, dots: bool) -> Iterator[str]:
    wide, tall = plan.wide, plan.talls[trace.get("yaxis", "y")]
    xs, ys = values_of(trace["x"]), values_of(trace["y"])
    if trace["type"] == "bar":
        yield from _bars(trace, xs, ys, wide, tall)
        return
    mode = trace.get("mode", "markers")
    if "lines" in mode:
        yield _polyline(xs, ys, trace, wide, tall)
    for axis, values in (("error_x", xs), ("error_y", ys)):
        if axis in trace:
            look = pen(trace[axis].get("color"), float(trace[axis].get("thickness", 1)))
            if dots and axis == "error_y":
                yield _uncapped(trace[axis], xs, ys, (wide, tall), look)
                continue
            bars = "".join(_errors(trace[axis], axis, xs, ys, values, (wide, tall)))
            yield f'<g fill="{NONE}" {look}>{bars}</g>'
    places = [
        (index, wide.at(x), tall.at(y))
        for index, (x, y) in enumerate(zip(xs, ys, strict=True))
        if x is not None and y is not None and wide.holds(x) and tall.holds(y)
    ]
    if "markers" in mode:
        marker = trace.get("marker") or {}
        if dots:
            yield from _dots(marker, places)
            return
        _, look = look_of(
            marker, None if isinstance(marker.get("color"), list) else marker.get("color")
        )
        yield f"<g {look}>{''.join(_marks(marker, places))}</g>"
    if mode == "text":
        yield from _texts(trace, places)


def _at(x: float, y: float, inside: str) -> str:
    """Draw what has places of its own, in pixels, at a place of the plot."""
    return f'<svg x="{_x(x)}" y="{place(y)}" overflow="visible">{inside}</svg>'


def _marks(marker: Style, places: Sequence[tuple[int, float, float]]) -> Iterator[str]:
    """Draw the points of a trace; what is only there for its bars is a speck, and left out."""
    sizes, colors = marker.get("size", 6), marker.get("color")
    for index, x, y in places:
        size = float(sizes if isinstance(sizes, int | float) else sizes[index])
        if size <= 1:
            continue
        name, look = look_of(marker, colors[index] if isinstance(colors, list) else colors)
        if name == "circle":
            mark = f'<circle cx="{_x(x)}" cy="{place(y)}" r="{place(size / 2)}"/>'
        else:
            mark = _at(x, y, f'<path d="{shape_of(name, size)}"/>')
        yield f"<g {look}>{mark}</g>" if isinstance(colors, list) else mark


def _dots(marker: Style, places: Sequence[tuple[int, float, float]]) -> Iterator[str]:
    """Draw the points of a trace as dots, all of one size and colour in one path; rings are drawn twice."""
    sizes, colors = marker.get("size", 6), marker.get("color")
    moves: dict[tuple[str | None, float], list[str]] = {}
    for index, x, y in places:
        size = float(sizes if isinstance(sizes, int | float) else sizes[index])
        if size > 1:
            color = colors[index] if isinstance(colors, list) else colors
            moves.setdefault((color, size), []).append(f"M{place(x)} {place(y)}h0")
    edge = marker.get("line") or {}
    width = 0.0 if edge.get("color") in (None, "@surface") else float(edge.get("width", 0))
    for (color, size), each in moves.items():
        path = "".join(each)
        if width:
            yield _stretched(path, f"{pen(edge['color'], size + width)} {ROUND}")
        yield _stretched(path, f"{pen(color, size - width)} {ROUND}")


def _uncapped(
    error: Style,
    xs: Sequence[Any],
    ys: Sequence[Any],
    scales: tuple[Scale, Scale],
    look: str,
) -> str:
    """Draw upright error bars as one path."""
    wide, tall = scales
    rows = zip(xs, ys, values_of(error["array"]), values_of(error["arrayminus"]), strict=True)
    path = "".join(
        f"M{place(wide.at(x))} {place(tall.inside(y - down))}V{place(tall.inside(y + up))}"
        for x, y, up, down in rows
        if None not in (x, y, up, down) and wide.holds(x)
    )
    return _stretched(path, f'fill="{NONE}" {look}')


def _texts(trace: Trace, places: Sequence[tuple[int, float, float]]) -> Iterator[str]:
    colors = (trace.get("textfont") or {}).get("color", "@ink")
    anchor = "end" if "left" in trace.get("textposition", "") else "start"
    for index, x, y in places:
        color = colors if isinstance(colors, str) else colors[index]
        yield _text(x, y + 4, trace["text"][index], anchor=anchor, color=color)


def _bars(
    trace: Trace, xs: Sequence[Any], ys: Sequence[Any], wide: Scale, tall: Scale
) -> Iterator[str]:
    """Draw upright bars; their hatching is left to Plotly, so they are a little darker."""
    widths, offset = trace.get("width"), trace.get("offset")
    look = paint((trace.get("marker") or {}).get("color"), "fill")
    for index, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if x is None or y is None:
            continue
        width = widths[index] if isinstance(widths, list) else float(widths or 0.8)
        left = x + (offset if offset is not None else -width / 2)
        edges = wide.inside(left), wide.inside(left + width)
        yield _box(edges[0], tall.start, edges[1], tall.inside(y), look)


def _polyline(xs: Sequence[Any], ys: Sequence[Any], trace: Trace, wide: Scale, tall: Scale) -> str:
    line, fill = trace.get("line") or {}, trace.get("fill")
    stepped = line.get("shape") == "hv"
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if x is None or y is None:
            pieces.append([])
            continue
        at = wide.inside(x), tall.inside(y)
        if stepped and pieces[-1]:
            pieces[-1].append((at[0], pieces[-1][-1][1]))
        pieces[-1].append(at)
    pieces = [piece for piece in pieces if piece]
    if not pieces:
        return ""
    look = pen(line.get("color"), float(line.get("width", 1.5)), line.get("dash", ""))
    path = "".join(map(_outline, pieces))
    inside = paint(trace.get("fillcolor"), "fill") if fill else f'fill="{NONE}"'
    if not fill or all(piece[0] == piece[-1] for piece in pieces):
        return _stretched(path, f"{inside} {look}")
    if fill == "tozeroy":
        pieces = [[(p[0][0], tall.start), *p, (p[-1][0], tall.start)] for p in pieces]
    area = "".join(f"{path_of(piece)}Z" for piece in pieces)
    return _stretched(area, inside) + _stretched(path, f'fill="{NONE}" {look}')


def _outline(piece: Sequence[tuple[float, float]]) -> str:
    """Return the data of a path through points, closed where it ends at its first point."""
    closed = len(piece) > 2 and piece[0] == piece[-1]
    return f"{path_of(piece[:-1])}Z" if closed else path_of(piece)


def _errors(
    error: Style,
    axis: str,
    xs: Sequence[Any],
    ys: Sequence[Any],
    values: Sequence[Any],
    scales: tuple[Scale, Scale],
) -> Iterator[str]:
    """Draw error bars; a bar that leaves the axis ends there without a cap."""
    wide, tall = scales
    across = axis == "error_x"
    along, other_scale = (wide, tall) if across else (tall, wide)
    above, below = values_of(error["array"]), values_of(error["arrayminus"])
    cap = float(error.get("width", 0))
    for value, other, up, down in zip(values, ys if across else xs, above, below, strict=True):
        if None in (value, other, up, down) or not other_scale.holds(other):
            continue
        at, ends = other_scale.at(other), (value - down, value + up)
        first, last = (along.inside(end) for end in ends)
        yield _line(first, at, last, at) if across else _line(at, first, at, last)
        for end, edge in zip(ends, (first, last), strict=True):
            if cap and along.holds(end):
                x, y = (edge, at) if across else (at, edge)
                reach = (0, cap) if across else (cap, 0)
                cap_path = path_of([(-reach[0], -reach[1]), reach])
                yield _at(x, y, f'<path d="{cap_path}"/>')


def _annotation(note: Style, plan: Plan) -> str:
    """Draw an annotation; vertical places are shares of the plot, or values of its axis."""
    height = max(each.start for each in plan.talls.values())
    across, along = float(note["x"]), float(note["y"])
    x = WIDE * across if note.get("xref") == "paper" else plan.wide.inside(across)
    if note.get("yref") == "paper":
        y = height + (plan.top - height) * along
    else:
        y = plan.talls.get(note.get("yref", "y"), plan.talls["y"]).inside(along)
    anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", ""), "middle")
    down = {"top": 11, "bottom": -3}.get(note.get("yanchor", ""), 4)
    font = note.get("font") or {}
    return (
        f'<text x="{_x(x)}" y="{place(y + down)}" text-anchor="{anchor}" font-size="{font.get("size", 12)}" '
        f"{paint(font.get('color'), 'fill')}>{escaped(note['text'])}</text>"
    )
