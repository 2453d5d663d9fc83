import json
import re
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from campaigns.kit.charts.drawings import drawings_of

TOKENS = {
    *("paper", "surface", "ink", "ink-2", "ink-3", "line", "line-2", "accent", "band"),
    *("better", "worse", "equal", "fail", "warn", "thin"),
    *(f"series-{number}" for number in range(1, 7)),
}

BUNDLED = {"scatter", "bar"}
"""Traces that the bundle of Plotly that pages load can draw; `pie` is none of ours."""


def resolved(value):
    """Replace the names of tokens by a colour, as charts.js does."""
    if isinstance(value, str):
        name = re.fullmatch(r"@([\w-]+)(/\d+)?", value)
        if not name:
            return value
        assert name[1] in TOKENS, f"{value} is no token of the style sheet"
        return "#123456"
    if isinstance(value, list):
        return [resolved(inner) for inner in value]
    if isinstance(value, dict):
        return {key: resolved(inner) for key, inner in value.items()}
    return value


@pytest.fixture
def checked():
    """Validate a figure as Plotly does, on every scale and on a phone, and return it."""

    def check(figure):
        assert set(figure) == {"data", "layout", "scales", "narrow"}
        assert {trace["type"] for trace in figure["data"]} <= BUNDLED
        plain = resolved(json.loads(json.dumps(figure, allow_nan=False)))
        for changes in ({}, plain["narrow"], *plain["scales"].values()):
            layout = dict(plain["layout"])
            for name, change in changes.items():
                layout[name] = {**layout.get(name, {}), **change}
            go.Figure(data=plain["data"], layout=layout)
        _, drawings = drawings_of(figure, "22rem", "All of it.", "all")
        for drawing in drawings or ():
            ElementTree.fromstring(drawing)  # noqa: S314  our own
        return figure

    return check


@pytest.fixture
def traces(checked):
    """Validate a figure and give its traces by name."""

    def by_name(figure):
        return {trace["name"]: trace for trace in checked(figure)["data"] if "name" in trace}

    return by_name
