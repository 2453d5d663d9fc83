"""What all figures share: a quiet grid, no frame, labels in ink. Pure."""

from typing import Any

from campaigns.kit.charts.figure import SERIES, series_token

AXIS: dict[str, Any] = {
    "gridcolor": "@line",
    "linecolor": "@line-2",
    "zerolinecolor": "@line-2",
    "tickcolor": "@line-2",
    "ticks": "outside",
    "ticklen": 4,
    "showline": True,
    "zeroline": False,
    "automargin": True,
    "title": {"font": {"size": 12, "color": "@ink-2"}, "standoff": 8},
    "tickfont": {"size": 12, "color": "@ink-2"},
}
TEMPLATE: dict[str, dict[str, Any]] = {
    "layout": {
        "font": {"size": 12, "color": "@ink"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": [f"@{series_token(index)}" for index in range(SERIES)],
        "margin": {"l": 8, "r": 12, "t": 22, "b": 8},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": "@ink",
            "bordercolor": "@ink",
            "font": {"color": "@paper", "size": 12},
        },
        "xaxis": AXIS,
        "yaxis": AXIS,
        "dragmode": False,
        "legend": {
            "orientation": "h",
            "y": 1.02,
            "yanchor": "bottom",
            "x": 0,
            "font": {"size": 12},
        },
    },
}
"""The template of Plotly; its pages add the family of the font."""
