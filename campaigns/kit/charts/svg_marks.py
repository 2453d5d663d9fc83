"""Marks and pens of drawings as SVG, in pixels around their own place. Pure."""

import html
import math
import re
from collections.abc import Sequence

from campaigns.kit.charts.figure import Style

TOKEN = re.compile(r"@([a-z0-9-]+)(?:/(\d{1,3}))?\Z")
DASHES = {
    "dot": (1, 1),
    "dash": (3, 3),
    "longdash": (5, 5),
    "dashdot": (3, 1, 1, 1),
    "longdashdot": (5, 2, 1, 2),
}
"""Lengths of dashes and gaps in widths of the line, which count as LEAST pixels at least: those of Plotly."""
LEAST = 3.0
NONE = "none"
Point = tuple[float, float]


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
    lengths = " ".join(f"{max(width, LEAST) * each:g}" for each in DASHES.get(dash, ()))
    dashes = f' stroke-dasharray="{lengths}"' if lengths else ""
    return f'{paint(color, "stroke")} stroke-width="{width:g}"{dashes}'


def escaped(text: object) -> str:
    """Escape a text of a figure for SVG; it may be escaped already."""
    return html.escape(html.unescape(str(text)))


def place(value: float) -> str:
    """Format a coordinate to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def path_of(points: Sequence[Point]) -> str:
    """Return the data of a path through points."""
    return "M" + "L".join(f"{place(x)} {place(y)}" for x, y in points)


def look_of(marker: Style, color: str | None) -> tuple[str, str]:
    """Return the shape of a marker, and the attributes with which it is painted."""
    name = str(marker.get("symbol", "circle"))
    line = marker.get("line") or {}
    is_open = name.endswith("-open") or name == "x"
    width = float(line.get("width", 1.2 if is_open else 0))
    if name == "x":
        return name, f'fill="{NONE}" {pen(color, 2.2)}'
    if is_open:
        return name.removesuffix("-open"), f'fill="{NONE}" {pen(color, width or 1.5)}'
    edge = f" {pen(line.get('color'), width)}" if width else ""
    return name, f"{paint(color, 'fill')}{edge}"


def shape_of(name: str, size: float) -> str:
    """Return the data of a path that draws a symbol of `size` pixels around (0, 0)."""
    half = size / 2
    if name == "x":
        return "".join(map(path_of, _cross(half * 0.8)))
    if name == "circle-x":
        ring = f"M{place(-half)} 0a{place(half)} {place(half)} 0 1 0 {place(size)} 0a{place(half)} {place(half)} 0 1 0 {place(-size)} 0"
        return ring + "".join(map(path_of, _cross(half * math.sqrt(0.5))))
    return f"{path_of(_corners(name, half))}Z"


def _cross(reach: float) -> list[list[Point]]:
    return [[(-reach, -reach), (reach, reach)], [(-reach, reach), (reach, -reach)]]


def _corners(shape: str, half: float) -> list[Point]:
    match shape:
        case "diamond":
            reach = 1.3 * half
            return [(0, -reach), (reach, 0), (0, reach), (-reach, 0)]
        case "triangle-up":
            return _star(1.2 * half, 1.2 * half, 3, -90)
        case "triangle-down":
            return _star(1.2 * half, 1.2 * half, 3, 90)
        case "cross":
            far = {1: half / 2.5, -1: -half / 2.5, 3: half, -3: -half}
            signs = [(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)]
            signs += [(-a, -b) for a, b in signs]
            return [(far[a], far[b]) for a, b in signs]
        case "star":
            return _star(1.4 * half, 0.55 * half, 10, -90)
        case "hexagram":
            return _star(1.3 * half, 0.75 * half, 12, -90)
    return [(a * half, b * half) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def _star(far: float, near: float, corners: int, turn: float) -> list[Point]:
    """Return the corners of a star, which alternate between two radii, or of a triangle."""
    points = []
    for corner in range(corners):
        angle = math.radians(turn + 360 * corner / corners)
        reach = far if corner % 2 == 0 or corners == 3 else near
        points.append((reach * math.cos(angle), reach * math.sin(angle)))
    return points
