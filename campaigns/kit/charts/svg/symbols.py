"""The marks of points in SVG, by Plotly's names. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.charts.svg.paint import NONE, paint, pen, place

Point = tuple[float, float]


def symbol(x: float, y: float, marker: Mapping[str, Any]) -> str:
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
        case "square":
            return [(x + a * size, y + b * size) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
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
    found = []
    for corner in range(corners):
        angle = math.radians(turn + 360 * corner / corners)
        reach = far if corner % 2 == 0 else near
        if corners == 3:
            reach = far
        found.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
    return found
