"""Figures as HTML that draws itself, in light and dark and at any width, beside Plotly's script. Pure."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from campaigns.kit.charts.figure import Figure, Layout
from campaigns.kit.charts.template import TEMPLATE

CONFIG = {
    "displaylogo": False,
    "modeBarButtons": [["zoomIn2d", "zoomOut2d", "resetScale2d"]],
    "scrollZoom": False,
    "doubleClick": "reset",
}
ROOM = 20
"""Pixels for Plotly's buttons above a plot."""
COLOUR = re.compile(r"@([\w-]+)(?:/(\d+))?")


def chosen(figure: Figure, scale: str, hidden: Collection[str]) -> Figure:
    """Return a figure as a reader has it: on one of its scales, without what was switched off in the legend."""
    off = set(hidden)
    layout = merged(figure["layout"], figure["scales"].get(scale, {}))
    return {
        **figure,
        "data": [
            {**trace, "visible": False} if off.intersection(trace.get("meta", ())) else trace
            for trace in figure["data"]
        ],
        "layout": _without(layout, off),
        "narrow": _without(figure["narrow"], off),
    }


def _without(layout: Layout, off: Collection[str]) -> Layout:
    if "shapes" not in layout:
        return layout
    return {**layout, "shapes": [each for each in layout["shapes"] if each.get("name") not in off]}


def merged(layout: Layout, changes: Layout) -> dict[str, Any]:
    """Return a layout with changes: objects are merged key by key, everything else is replaced."""
    return {
        **layout,
        **{
            name: {**(layout.get(name) or {}), **change} if isinstance(change, Mapping) else change
            for name, change in changes.items()
        },
    }


def html_of(figure: Figure, name: str, colours: Mapping[str, str], font: str) -> str:
    """Return a figure as an element with the script that draws it, by Plotly's Python package.

    It is drawn in light colours for a wide place. What chart_page.js needs for others comes with it as JSON. name: of the
    element.
    """
    from plotly.io import to_html  # takes 10 MB, and few processes need it

    layout = {
        **figure["layout"],
        "template": TEMPLATE,
        "font": {"family": font},
        "margin": _with_room(figure["layout"].get("margin", TEMPLATE["layout"]["margin"])),
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "@ink-3", "activecolor": "@ink"},
        "dragmode": "zoom",
        "autosize": True,
        "uirevision": "kept",  # whoever has zoomed stays there when it is drawn anew
    }
    narrow = dict(figure["narrow"])
    if "margin" in narrow:
        narrow["margin"] = _with_room(narrow["margin"])
    named = {"data": figure["data"], "layout": layout, "narrow": narrow}
    drawn = painted(named, colours)
    element = to_html(
        {"data": drawn["data"], "layout": drawn["layout"]},
        config=CONFIG,
        include_plotlyjs=False,
        full_html=False,
        validate=False,  # tests do; it takes as much memory again
        div_id=name,
    )
    kept = {
        "layout": drawn["layout"],
        "narrow": drawn["narrow"],
        "colours": list(colours_in(named, colours)),
    }
    return (
        f'{element}<script type="application/json" data-chart="{name}">{in_script(kept)}</script>'
    )


def _with_room(margin: Mapping[str, float]) -> dict[str, float]:
    return {**margin, "t": margin.get("t", TEMPLATE["layout"]["margin"]["t"]) + ROOM}


def in_script(value: Any) -> str:
    """Return JSON in which HTML finds neither the end of a script nor the begin of anything."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def painted(value: Any, colours: Mapping[str, str]) -> Any:
    """Return a part of a figure with colours in the place of the names of tokens."""
    if isinstance(value, str):
        named = _token(value, colours)
        return _colour(colours[named[1]], named[2]) if named else value
    if isinstance(value, Mapping):
        return {key: painted(inner, colours) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [painted(inner, colours) for inner in value]
    return value


def colours_in(
    value: Any, colours: Mapping[str, str], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield where a part of a figure names tokens: the keys that lead there, and the name."""
    if isinstance(value, str):
        if _token(value, colours):
            yield path, value
        return
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    for key, inner in parts:
        yield from colours_in(inner, colours, (*path, key))


def _token(text: str, colours: Mapping[str, str]) -> re.Match[str] | None:
    """Match the name of a token; text that is none of them is shown as it is."""
    named = COLOUR.fullmatch(text) if text.startswith("@") else None
    return named if named and named[1] in colours else None


def _colour(code: str, percent: str | None) -> str:
    """Return a colour, `#rrggbb` or `#rrggbbaa`, in the form that all of Plotly reads."""
    red, green, blue, *rest = bytes.fromhex(code.removeprefix("#"))
    alpha = int(percent) / 100 if percent else rest[0] / 255 if rest else 1
    return f"rgba({red},{green},{blue},{alpha:.3g})"
