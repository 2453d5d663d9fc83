"""The layers of the figure of levels, from the back to the front. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.charts.cells import LevelsChart, RunPoint
from campaigns.charts.figure import (
    DASHES,
    SYMBOLS,
    Trace,
    is_finite,
    line,
    markers,
    series_token,
    text,
)
from campaigns.charts.formats import amount, counted, span
from campaigns.charts.places import Place

HOVER = "%{text}<extra></extra>"
LONGEST_NOTE = 200
SAID = {
    "failed": "failed",
    "censored": "timed out, above {}",
    "bound": "{}, only a bound: the generator was saturated",
    "excluded": "{}, excluded",
}
"""Of a value that is no plain one, by what is drawn."""


def joined(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Join the means of each series of numbers; a level without a mean breaks the line."""
    if not chart.is_numeric:
        return []
    several = len(chart.series) > 1
    traces = []
    for index in range(len(chart.series)):
        own = sorted((each for each in places if each.series == index), key=lambda each: each.x)
        if sum(is_finite(each.cell.mean) for each in own) > 1:
            pen = {
                "color": f"@{series_token(index)}/60" if several else "@ink-3/60",
                "width": 1,
                "dash": DASHES[index % len(DASHES)],
            }
            traces.append(line([(each.x, each.cell.mean) for each in own], pen))
    return traces


def intervals(places: Sequence[Place]) -> list[Trace]:
    """Draw each cell's own interval; that of two runs is pale, since its t is 12.7."""
    traces = []
    for color, runs_are_two in (("@ink-3", False), ("@ink-3/50", True)):
        drawn = [
            (each.x, each.cell.mean, each.cell.interval)
            for each in places
            if each.cell.mean is not None
            and each.cell.interval is not None
            and (each.cell.observed == 2) == runs_are_two
        ]
        error = {
            "type": "data",
            "symmetric": False,
            "array": [interval[1] - mean for _, mean, interval in drawn],
            "arrayminus": [mean - interval[0] for _, mean, interval in drawn],
            "thickness": 1,
            "width": 4,
            "color": color,
        }
        points = [(x, mean) for x, mean, _ in drawn]
        traces.append(
            markers(points, {"size": 1, "color": color}, name="95 % interval", error_y=error)
        )
    return traces


def readings(places: Sequence[Place]) -> list[Trace]:
    """Draw the bounds for comparing levels as broad bars, behind the cells' own intervals."""
    drawn = [
        (each.x, each.cell.mean, each.cell.reading)
        for each in places
        if each.cell.mean is not None and each.cell.reading is not None
    ]
    error = {
        "type": "data",
        "symmetric": False,
        "array": [bounds[1] - mean for _, mean, bounds in drawn],
        "arrayminus": [mean - bounds[0] for _, mean, bounds in drawn],
        "thickness": 6,
        "width": 0,
        "color": "@series-1/30",
    }
    marker = {"size": 1, "color": "@series-1/30"}
    points = [(x, mean) for x, mean, _ in drawn]
    return [markers(points, marker, name="for comparing levels", error_y=error)]


def means(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw the geometric means, filled: a diamond, or the symbol of each series."""
    several = len(chart.series) > 1
    traces = []
    for index, series in enumerate(chart.series):
        own = [each for each in places if each.series == index and is_finite(each.cell.mean)]
        marker = {
            "symbol": SYMBOLS[index % len(SYMBOLS)] if several else "diamond",
            "size": 8,
            "color": f"@{series_token(index)}" if several else "@ink",
            "line": {"color": "@surface", "width": 1.5},
        }
        traces.append(
            markers(
                [(each.x, each.cell.mean) for each in own],
                marker,
                name=text(f"geometric mean {series}".strip()),
                text=[_mean_hover(each, chart) for each in own],
                hovertemplate=HOVER,
            )
        )
    return traces


def observed(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw every run that counts as an open ring, or the open symbol of its series."""
    return [
        _points(
            chart,
            [each for each in places if each.series == index],
            "ok",
            {
                "symbol": SYMBOLS[index % len(SYMBOLS)],
                "size": 8,
                "color": "@surface",
                "line": {"color": f"@{series_token(index)}", "width": 1.8},
            },
            text(f"run {series}".strip()),
        )
        for index, series in enumerate(chart.series)
    ]


def special(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw what has a value that does not count: timed out, a bound, excluded."""
    bound = "triangle-down-open" if chart.quantity.lower_is_better else "triangle-up-open"
    marks = (
        ("censored", "triangle-up-open", "@warn", "timed out"),
        ("bound", bound, "@series-4", "bound"),
        ("excluded", "circle-x-open", "@ink-3", "excluded"),
    )
    return [
        _points(
            chart,
            places,
            state,
            {"symbol": symbol, "size": 10, "color": color, "line": {"width": 1.8}},
            name,
        )
        for state, symbol, color, name in marks
    ]


def failed(
    chart: LevelsChart, places: Sequence[Place], rail: float, extent: Sequence[float]
) -> list[Trace]:
    """Draw failed runs as crosses on a dotted rail above the plot; without any there is no rail."""
    crosses = _points(
        chart, places, "failed", {"symbol": "x", "size": 10, "color": "@fail"}, "failed", rail
    )
    if not crosses["x"]:
        return []
    pen = {"color": "@fail", "width": 1, "dash": "dot"}
    return [line([(extent[0], rail), (extent[1], rail)], pen, name="rail"), crosses]


def _points(
    chart: LevelsChart,
    places: Sequence[Place],
    state: str,
    marker: Mapping[str, Any],
    name: str,
    rail: float | None = None,
) -> Trace:
    levels = [_level(each, chart) for each in places]
    drawn = [
        (each.run_x(index), run.value if rail is None else rail, run, level)
        for each, level in zip(places, levels, strict=True)
        for index, run in enumerate(each.cell.runs)
        if run.drawn == state
    ]
    return markers(
        [(x, y) for x, y, _, _ in drawn],
        marker,
        name=name,
        text=[_run_hover(level, run, chart.quantity.unit) for _, _, run, level in drawn],
        customdata=[run.page for _, _, run, _ in drawn],
        hovertemplate=HOVER,
    )


def _level(place: Place, chart: LevelsChart) -> str:
    return text(f"{place.cell.name} {chart.factor_unit}".strip())


def _run_hover(level: str, run: RunPoint, unit: str) -> str:
    value = "failed" if run.value is None else amount(run.value, unit)
    said = SAID.get(run.drawn, "{}").format(value)
    name = f"<b>{text(run.name)}</b>, " if run.name else ""
    note = f"<br>{text(run.note, LONGEST_NOTE)}" if run.note else ""
    return f"{name}{level}<br>{said}{note}"


def _mean_hover(place: Place, chart: LevelsChart) -> str:
    cell, unit = place.cell, chart.quantity.unit
    own = f"<br>own runs {span(cell.interval, unit)}" if cell.interval else ""
    return (
        f"<b>{_level(place, chart)}</b><br>geometric mean {amount(cell.mean or 0.0, unit)}"
        f" of {counted(cell.observed, 'run')}{own}"
    )
