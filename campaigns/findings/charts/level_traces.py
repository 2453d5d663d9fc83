"""The layers of the figure of levels, from the back to the front. Pure.

Each trace names its series and what it shows, which are the entries of the legend that hide it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from campaigns.findings.charts.cells import SPOILED, LevelCell, LevelsChart, RunPoint
from campaigns.findings.charts.parts import error_bars, hover_lead, hover_note
from campaigns.findings.charts.places import Place
from campaigns.findings.charts.sampling import Quota
from campaigns.kit.charts.figure import (
    DASHES,
    SYMBOLS,
    Trace,
    grouped,
    is_finite,
    line,
    mark,
    markers,
    series_token,
    text,
)
from campaigns.kit.numbers import amount, counted, span

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of the runs that a box shows: its whiskers, its sides, and the line in it."""
BOX = 0.6
"""Half the width of a box, as a share of the offset of runs from their level."""
STATE_TEXTS = {
    "failed": "failed",
    "censored": "timed out, above {}",
    "bound": "{}, only a bound: the generator was saturated or starved",
    "excluded": "{}, excluded",
}
"""Hover texts of runs that have no accepted value, by what is drawn."""


def series_group(index: int) -> str:
    """Name the traces of the index-th series, from 0."""
    return f"s{index + 1}"


def _by_series(places: Sequence[Place]) -> Iterator[tuple[int, list[Place]]]:
    for index in sorted({each.series for each in places}):
        yield index, [each for each in places if each.series == index]


def joined(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Join the means of each series of numbers; a level without a mean breaks the line."""
    if not chart.is_numeric:
        return []
    several = len(chart.series) > 1
    traces = []
    for index, cells in _by_series(places):
        own = sorted(cells, key=lambda each: each.x)
        if sum(is_finite(each.cell.mean) for each in own) > 1:
            pen = {
                "color": f"@{series_token(index)}/60" if several else "@ink-3/60",
                "width": 1,
                "dash": DASHES[index % len(DASHES)],
            }
            means_of = line([(each.x, each.cell.mean) for each in own], pen)
            traces += grouped([means_of], "mean", series_group(index))
    return traces


def intervals(places: Sequence[Place]) -> list[Trace]:
    """Draw each cell's own interval; that of two runs is pale, since its t is 12.7."""
    traces = []
    for index, own in _by_series(places):
        for color, runs_are_two in (("@ink-3", False), ("@ink-3/50", True)):
            drawn = [
                (each.x, each.cell.mean, each.cell.interval)
                for each in own
                if each.cell.mean is not None
                and each.cell.interval is not None
                and (each.cell.observed == 2) == runs_are_two
            ]
            bars = _bars(drawn, "95 % interval", color, thickness=1, width=4)
            traces += grouped([bars], "interval", series_group(index))
    return traces


def readings(places: Sequence[Place]) -> list[Trace]:
    """Draw the bounds for comparing levels as broad bars, behind the cells' own intervals."""
    traces = []
    for index, own in _by_series(places):
        drawn = [
            (each.x, each.cell.mean, each.cell.reading)
            for each in own
            if each.cell.mean is not None and each.cell.reading is not None
        ]
        bars = _bars(drawn, "for comparing levels", "@series-1/30", thickness=6, width=0)
        traces += grouped([bars], "reading", series_group(index))
    return traces


def _bars(
    drawn: Sequence[tuple[float, float, tuple[float, float]]],
    name: str,
    color: str,
    *,
    thickness: int,
    width: int,
) -> Trace:
    """Draw an interval around each mean."""
    bounds = [(mean, interval) for _, mean, interval in drawn]
    error = error_bars(bounds, color, thickness=thickness, width=width)
    points = [(x, mean) for x, mean, _ in drawn]
    return markers(points, {"size": 1, "color": color}, name=name, error_y=error)


def means(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw the geometric means, filled: a diamond, or the symbol of each series."""
    several = len(chart.series) > 1
    traces = []
    for index, series in enumerate(chart.series):
        own = [each for each in places if each.series == index and is_finite(each.cell.mean)]
        symbol = SYMBOLS[index % len(SYMBOLS)] if several else "diamond"
        color = f"@{series_token(index)}" if several else "@ink"
        points = markers(
            [(each.x, each.cell.mean) for each in own],
            mark(symbol, 8, color, 1.5, "@surface"),
            name=text(f"geometric mean {series}".strip()),
            notes=[] if chart.is_still else [_mean_hover(each, chart) for each in own],
        )
        traces += grouped([points], "mean", series_group(index))
    return traces


def boxes(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw the quartiles of each crowded cell as a box, where its runs stand."""
    traces, crowded_from = [], chart.quota.crowded_from
    for index, own in _by_series(places):
        sides: list[tuple[float | None, float | None]] = []
        inner: list[tuple[float | None, float | None]] = []
        medians: list[tuple[float, float]] = []
        notes: list[str] = []
        for each in own:
            if each.cell.observed < crowded_from:
                continue
            values = [each.cell.values[place] or 0.0 for place in each.cell.ordered("ok")]
            low, first, median, third, high = (_quantile(values, share) for share in QUANTILES)
            x, half = each.x - each.offset, BOX * each.offset
            left, right = x - half, x + half
            sides += [(left, first), (right, first), (right, third), (left, third), (left, first)]
            sides.append((None, None))
            inner += [(left, median), (right, median), (None, None)]
            inner += [(x, low), (x, first), (None, None), (x, third), (x, high), (None, None)]
            medians.append((x, median))
            if not chart.is_still:
                notes.append(_box_hover(each, chart, (first, median, third)))
        color = f"@{series_token(index)}"
        fill = {"fill": "toself", "fillcolor": f"{color}/28"}
        drawn = [
            line(sides, {"color": color, "width": 1.5}, name="middle half of the runs", **fill),
            line(inner, {"color": color, "width": 2}, name="median and whiskers"),
            markers(medians, {"size": 1, "color": color}, name="median", notes=notes),
        ]
        traces += grouped(drawn, "box", series_group(index))
    return traces


def observed(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw runs that count as open rings, or the open symbols of their series."""
    traces = []
    size, width = (5, 1) if chart.is_crowded else (8, 1.8)
    for index, own in _by_series(places):
        color = f"@{series_token(index)}"
        marker = mark(SYMBOLS[index % len(SYMBOLS)], size, "@surface", width, color)
        name = text(f"run {chart.series[index]}".strip())
        traces += grouped([_points(chart, own, "ok", marker, name)], "runs", series_group(index))
    return traces


def special(chart: LevelsChart, places: Sequence[Place]) -> list[Trace]:
    """Draw what has a value that does not count: timed out, a bound, excluded."""
    bound = "triangle-down-open" if chart.quantity.lower_is_better else "triangle-up-open"
    marks = (
        ("censored", "triangle-up-open", "@warn", "timed out"),
        ("bound", bound, "@series-4", "bound"),
        ("excluded", "circle-x-open", "@ink-3", "excluded"),
    )
    traces = []
    for state, symbol, color, name in marks:
        marker = mark(symbol, 10, color, 1.8)
        for index, own in _by_series(places):
            points = _points(chart, own, state, marker, name)
            traces += grouped([points], state, series_group(index))
    return traces


def failed(
    chart: LevelsChart, places: Sequence[Place], rail: float, extent: Sequence[float]
) -> list[Trace]:
    """Draw failed runs as crosses on a dotted rail above the plot; without any there is no rail."""
    marker = mark("x", 10, "@fail")
    crosses = [
        trace
        for index, own in _by_series(places)
        for trace in grouped(
            [_points(chart, own, "failed", marker, "failed", rail)], "failed", series_group(index)
        )
        if trace["x"]
    ]
    if not crosses:
        return []
    pen = {"color": "@fail", "width": 1, "dash": "dot"}
    dotted = line([(extent[0], rail), (extent[1], rail)], pen, name="rail")
    return [*grouped([dotted], "failed"), *crosses]


def shown(cell: LevelCell, state: str, quota: Quota) -> list[tuple[int, RunPoint]]:
    """Return the runs of a state that are drawn, each with its place in the cell."""
    return [(place, cell.runs[place]) for place in sorted(quota.of(cell.ordered(state)))]


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of ordered values, with a linear way between two of them, as numpy has it."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def _points(
    chart: LevelsChart,
    places: Sequence[Place],
    state: str,
    marker: Mapping[str, Any],
    name: str,
    rail: float | None = None,
) -> Trace:
    levels, quota = [_level(each, chart) for each in places], chart.quota
    drawn = [
        (each.run_x(index), run.value if rail is None else rail, run, level, each.cell)
        for each, level in zip(places, levels, strict=True)
        for index, run in shown(each.cell, state, quota)
    ]
    return markers(
        [(x, y) for x, y, *_ in drawn],
        marker,
        name=name,
        notes=[]
        if chart.is_still
        else [
            _run_hover(level, run, chart.quantity.unit, cell) for _, _, run, level, cell in drawn
        ],
        pages=[run.page for _, _, run, *_ in drawn],
    )


def _level(place: Place, chart: LevelsChart) -> str:
    return text(f"{place.cell.name} {chart.factor_unit}".strip())


def _run_hover(level: str, run: RunPoint, unit: str, cell: LevelCell) -> str:
    value = "failed" if run.value is None else amount(run.value, unit)
    current = STATE_TEXTS.get(run.drawn, "{}").format(value)
    if run.drawn == "failed" and cell.spoiled:
        current = f"no value: {SPOILED}"
    note = run.note if isinstance(run.note, str) else run.note()
    return f"{hover_lead(run.name)}{level}<br>{current}{hover_note(note)}"


def _mean_hover(place: Place, chart: LevelsChart) -> str:
    cell, unit = place.cell, chart.quantity.unit
    own = f"<br>this cell only {span(cell.interval, unit)}" if cell.interval else ""
    return (
        f"<b>{_level(place, chart)}</b><br>geometric mean {amount(cell.mean or 0.0, unit)}"
        f" of {counted(cell.observed, 'run')}{own}"
    )


def _box_hover(place: Place, chart: LevelsChart, quartiles: tuple[float, float, float]) -> str:
    cell, unit = place.cell, chart.quantity.unit
    first, median, third = quartiles
    return (
        f"<b>{_level(place, chart)}</b><br>median {amount(median, unit)} of"
        f" {counted(cell.observed, 'run')}, half of them {span((first, third), unit)}"
    )
