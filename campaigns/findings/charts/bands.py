"""What is shaded behind the runs of a curve: where it bends, and which level is recommended. Pure.

On a log axis shapes keep the values of the data. Their names are the entries of the legend that hide them.
"""

from collections.abc import Sequence
from typing import Any

from campaigns.findings.charts.cells import LevelsChart
from campaigns.findings.charts.places import Place

Shape = dict[str, Any]
HALF_WIDTH = 0.03
"""Of the band of a level of numbers, as a share of the level."""
HALF_CATEGORY = 0.4


def knee_band(chart: LevelsChart) -> list[Shape]:
    """Shade where the curve bends."""
    if chart.knee is None or not chart.is_numeric:
        return []
    return [{**_upright(*chart.knee, "@warn/14"), "name": "knee"}]


def recommended_band(chart: LevelsChart, places: Sequence[Place]) -> list[Shape]:
    """Shade the recommended level, and dot a line at what is as good as the best."""
    if chart.recommended is None:
        return []
    limit = chart.recommended.limit
    dotted = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": limit,
        "y1": limit,
        "line": {"color": "@equal", "width": 1, "dash": "dot"},
        "layer": "below",
        "name": "limit",
    }
    at = next((p.level for p in places if p.cell.level == chart.recommended.level), None)
    if at is None:
        return [dotted]
    half = HALF_WIDTH * abs(at) if chart.is_numeric else HALF_CATEGORY
    return [{**_upright(at - half, at + half, "@equal/16"), "name": "recommended"}, dotted]


def _upright(low: float, high: float, color: str) -> Shape:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": low,
        "x1": high,
        "y0": 0,
        "y1": 1,
        "fillcolor": color,
        "line": {"width": 0},
        "layer": "below",
    }
