"""Puts a figure together as SVG. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.charts.figure import Figure
from campaigns.kit.charts.svg.paint import NONE, paint, pen, place, words
from campaigns.kit.charts.svg.scales import Scale, scale_of, ticks_of, values_of, width_of
from campaigns.kit.charts.svg.symbols import symbol

TOP, RIGHT, BOTTOM, LEFT = 30.0, 18.0, 46.0, 16.0
LINE_GAP = 10.0


def drawn(figure: Figure, *, width: int, height: int, label: str, narrow: bool = False) -> str:
    """Draw a figure, so many pixels wide and high, as an element of HTML that scales with its place.

    label: what somebody who cannot see it hears. narrow: with the axes of a phone.
    """
    layout = _merged(figure["layout"], figure.get("narrow", {}) if narrow else {})
    xaxis, yaxis = layout.get("xaxis", {}), layout.get("yaxis", {})
    bottom = height - BOTTOM
    tall = scale_of(yaxis, bottom, TOP)
    names = [said for _, said in ticks_of(yaxis, tall)]
    left = min(LEFT + width_of(names), 0.45 * width)
    wide = scale_of(xaxis, left, width - RIGHT)
    shapes = [_shape(shape, wide, tall) for shape in layout.get("shapes", ())]
    parts = [
        *_grid(yaxis, wide, tall),
        *shapes,
        *(part for trace in figure["data"] for part in _trace(trace, wide, tall)),
        *_below(xaxis, wide, tall),
        _title(yaxis),
        *(_annotation(each, width, height) for each in layout.get("annotations", ())),
    ]
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{words(label)}" font-size="12">{"".join(parts)}</svg>'
    )


def _merged(layout: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(layout)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def _text(x: float, y: float, said: object, *, anchor: str = "start", color: str = "@ink-2") -> str:
    return (
        f'<text x="{place(x)}" y="{place(y)}" text-anchor="{anchor}" {paint(color, "fill")}>'
        f"{words(said)}</text>"
    )


def _line(x0: float, y0: float, x1: float, y1: float, look: str) -> str:
    return f'<path d="M{place(x0)} {place(y0)}L{place(x1)} {place(y1)}" fill="{NONE}" {look}/>'


def _grid(axis: Mapping[str, Any], wide: Scale, tall: Scale) -> list[str]:
    look = pen("@line" if axis.get("showgrid", True) else None, 1)
    parts = []
    for value, said in ticks_of(axis, tall):
        y = tall.at(value)
        parts.append(_line(wide.start, y, wide.end, y, look))
        parts.append(_text(wide.start - 7, y + 4, said, anchor="end"))
    return parts


def _below(axis: Mapping[str, Any], wide: Scale, tall: Scale) -> list[str]:
    """The axis at the bottom; ticks whose words would touch the ones before have none."""
    look = pen("@line-2", 1)
    parts = [_line(wide.start, tall.start, wide.end, tall.start, look)]
    free = float("-inf")
    for value, said in ticks_of(axis, wide):
        x, half = wide.at(value), width_of([said]) / 2
        parts.append(_line(x, tall.start, x, tall.start + 4, look))
        if x - half >= free:
            parts.append(_text(x, tall.start + 18, said, anchor="middle"))
            free = x + half + LINE_GAP
    title = (axis.get("title") or {}).get("text", "")
    middle = (wide.start + wide.end) / 2
    return [*parts, _text(middle, tall.start + 38, title, anchor="middle")] if title else parts


def _title(axis: Mapping[str, Any]) -> str:
    title = (axis.get("title") or {}).get("text", "")
    return _text(4, 14, title) if title else ""


def _shape(shape: Mapping[str, Any], wide: Scale, tall: Scale) -> str:
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


def _ends(shape: Mapping[str, Any], axis: str, scale: Scale) -> tuple[float, float]:
    return scale.inside(float(shape[f"{axis}0"])), scale.inside(float(shape[f"{axis}1"]))


def _trace(trace: Mapping[str, Any], wide: Scale, tall: Scale) -> list[str]:
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
    trace: Mapping[str, Any], places: Sequence[tuple[int, float, float]], wide: Scale, tall: Scale
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


def _polyline(
    xs: Sequence[Any], ys: Sequence[Any], trace: Mapping[str, Any], wide: Scale, tall: Scale
) -> str:
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
    error: Mapping[str, Any],
    axis: str,
    xs: Sequence[Any],
    ys: Sequence[Any],
    values: Sequence[Any],
    scales: tuple[Scale, Scale],
) -> list[str]:
    """Bars to both sides; one that leaves the axis is cut off there, without a cap."""
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


def _annotation(note: Mapping[str, Any], width: int, height: int) -> str:
    """Words across the plot, by shares of it; others are not drawn."""
    if note.get("xref") != "paper" or note.get("yref") != "paper":
        return ""
    font = note.get("font") or {}
    return (
        f'<text x="{place(width * float(note["x"]))}" y="{place(height * (1 - float(note["y"])))}" '
        f'text-anchor="middle" font-size="{font.get("size", 12)}" '
        f"{paint(font.get('color'), 'fill')}>{words(note['text'])}</text>"
    )
