"""Colours, dashes and words in SVG. Pure."""

import html
import re

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
    """Give the attributes of a colour; `of` is fill or stroke. What is no token is not painted."""
    found = TOKEN.match(color or "")
    if found is None:
        return f'{of}="{NONE}"'
    token, alpha = found.groups()
    opacity = "" if alpha is None else f' {of}-opacity="{int(alpha) / 100:g}"'
    return f'{of}="var(--{token})"{opacity}'


def pen(color: str | None, width: float, dash: str = "") -> str:
    """Give the attributes of a line."""
    dashes = f' stroke-dasharray="{DASHES[dash]}"' if dash in DASHES else ""
    return f'{paint(color, "stroke")} stroke-width="{width:g}"{dashes}'


def words(text: object) -> str:
    """Make words of a figure safe in SVG; they may be escaped already."""
    return html.escape(html.unescape(str(text)))


def place(value: float) -> str:
    """Write a coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
