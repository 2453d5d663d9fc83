"""Percentiles of the samples of each cell, the far end stretched: HDR curves. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from campaigns.findings import values as stored
from campaigns.findings.charts.base import Chart, Column, Numbers, Panel, Shown
from campaigns.findings.charts.parts import and_more, legend_of, log_scales
from campaigns.kit.charts.axes import log_range, titled, value_axis
from campaigns.kit.charts.figure import (
    Figure,
    KeyItem,
    Quantity,
    Trace,
    dash_of,
    figure,
    is_finite,
    line,
    sentence,
    series_token,
    text,
)
from campaigns.kit.numbers import amount, counted, plain, plain_percent, span
from campaigns.results.run_plots import Plot

TICKS = (0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
DESCRIBED = (0.5, 0.95, 0.99)
MOST_DESCRIBED = 6
MOST_BANDS = 4
"""More bands would overlap; the intervals are in the hover and in the table."""
MOST_CURVES = 12
PREFIX = "percentiles:"
NAMED = (0.5, 0.9, 0.95, 0.99, 0.999)
"""These percentiles are first in the table."""
HOW = (
    ("To the right", "are the slow ones: at 99 % one in a hundred is slower. Lower is better."),
    (
        "Each run is one observation.",
        "The line is the geometric mean of the runs’ own percentiles; the band, from three runs on, "
        "is its 95 % interval. More samples in a run do not make it narrower.",
    ),
    (
        "Bands",
        "are drawn for four cells at most; the intervals of all stand in the hover and the table.",
    ),
    ("The line ends", "where the run with the fewest samples has fewer than ten above it."),
    (
        "The dotted line",
        "takes all runs together, to look further out. It has no interval, since samples of one run "
        "are not independent.",
    ),
)


@dataclass(frozen=True, slots=True)
class PercentilePoint:
    """A percentile of the runs of a cell; interval: over runs, where there are enough of them."""

    share: float
    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class PercentileCell:
    """One curve. together: (share, value) of all samples of all its runs in one histogram."""

    name: str
    points: Sequence[PercentilePoint]
    runs: int
    samples: int
    together: Sequence[tuple[float, float]] = ()
    place: int = 0


@dataclass(frozen=True, slots=True)
class PercentileChart:
    """Curves of one quantity. sample: the noun for what was timed."""

    quantity: Quantity
    cells: Sequence[PercentileCell]
    factor: str = ""
    sample: str = "sample"


def draw(chart: PercentileChart) -> Figure:
    """Draw a line with its band for each cell; the dotted line goes on with all runs together."""
    data: list[Trace] = []
    for cell in chart.cells:
        data += _band(cell) if _has_bands(chart) else []
        data += _lines(cell, chart)
    drawn = [
        (share, value)
        for cell in chart.cells
        for share, value in (*((p.share, p.value) for p in cell.points), *cell.together)
        if is_finite(value)
    ]
    shown = chart.cells if _has_bands(chart) else ()
    bounds = [b for cell in shown for p in cell.points for b in p.interval or ()]
    high = max((value for _, value in drawn), default=1.0)
    high = max(high, min(max(bounds, default=0.0), 1.6 * high)) or 1.0
    end = _place(max((share for share, _ in drawn), default=0.5))
    ticks = [share for share in TICKS if _place(share) <= end] or [0]
    return figure(
        data,
        {
            "showlegend": len(chart.cells) > 1,
            "legend": legend_of(chart.factor),
            "xaxis": titled(
                "percentile",
                log_range(1.0, end, pad=0.02),
                type="log",
                tickvals=[_place(share) for share in ticks],
                ticktext=[plain_percent(100 * share) for share in ticks],
            ),
            "yaxis": value_axis(chart.quantity, 0, 1.05 * high),
            "margin": {"t": 44, "l": 8, "r": 16, "b": 8},
        },
        scales=log_scales(min((value for _, value in drawn), default=None), high),
    )


def title(chart: PercentileChart) -> str:
    """Return what is plotted."""
    by = f" by {chart.factor}" if chart.factor else ""
    return sentence(f"percentiles of {chart.quantity.label}{by}")


def describe(chart: PercentileChart) -> str:
    """Describe median, p95 and p99 of each cell."""
    unit = chart.quantity.unit
    parts = []
    for cell in chart.cells[:MOST_DESCRIBED]:
        values = {point.share: point.value for point in cell.points}
        notes = [
            f"p{plain(100 * share)} {amount(values[share], unit)}"
            for share in DESCRIBED
            if share in values
        ]
        counts = f"{counted(cell.runs, 'run')}, {counted(cell.samples, chart.sample)}"
        parts.append(f"{cell.name} ({counts}): {', '.join(notes) or 'too few for a percentile'}")
    more = len(chart.cells) - MOST_DESCRIBED
    return f"{title(chart)}. {sentence('; '.join(parts))}{and_more(more)}."


def legend(chart: PercentileChart) -> tuple[KeyItem, ...]:
    """Return what lines and bands are."""
    bands = [KeyItem("band", "95 % interval over runs, from three on", None, "ink-2")]
    return (
        KeyItem("solid", "geometric mean of the runs’ percentiles", None, "ink-2"),
        *(bands if _has_bands(chart) else ()),
        KeyItem("dotted", "all runs in one histogram, without an interval", None, "ink-2"),
    )


def _has_bands(chart: PercentileChart) -> bool:
    return len(chart.cells) <= MOST_BANDS


def _place(share: float) -> float:
    """Return the place of a share on the axis: one of how many samples lies above it."""
    return 1 / (1 - share)


def _band(cell: PercentileCell) -> list[Trace]:
    bounded = [(p.share, p.interval) for p in cell.points if p.interval is not None]
    if not bounded:
        return []
    upper = [(_place(share), interval[1]) for share, interval in bounded]
    lower = [(_place(share), interval[0]) for share, interval in reversed(bounded)]
    token = series_token(cell.place)
    return [
        line(
            upper + lower,
            {"width": 0, "color": f"@{token}/14"},
            name=text(f"interval of {cell.name}"),
            fill="toself",
            fillcolor=f"@{token}/14",
            showlegend=False,
            legendgroup=text(cell.name),
        )
    ]


def _lines(cell: PercentileCell, chart: PercentileChart) -> list[Trace]:
    token, unit = series_token(cell.place), chart.quantity.unit
    named = text(f"{chart.factor} {cell.name}".strip())
    return [
        line(
            [(_place(share), value) for share, value in cell.together],
            {"color": f"@{token}", "width": 1, "dash": "dot"},
            name=text(f"{cell.name}, all together"),
            showlegend=False,
            legendgroup=text(cell.name),
            notes=[
                f"<b>{named}</b><br>p{plain(100 * share)} of {counted(cell.samples, chart.sample)} of"
                f" all runs: {amount(value, unit)}"
                for share, value in cell.together
            ],
        ),
        line(
            [(_place(point.share), point.value) for point in cell.points],
            {"color": f"@{token}", "width": 2, "dash": dash_of(cell.place)},
            name=text(cell.name),
            legendgroup=text(cell.name),
            notes=[_text(named, cell, point, unit) for point in cell.points],
        ),
    ]


def _text(named: str, cell: PercentileCell, point: PercentilePoint, unit: str) -> str:
    over = f"<br>over runs {span(point.interval, unit)}" if point.interval else ""
    return (
        f"<b>{named}</b><br>p{plain(100 * point.share)} of {counted(cell.runs, 'run')}:"
        f" {amount(point.value, unit)}{over}"
    )


def panel(shown: Shown) -> Panel | None:
    """Return the panel; None where no histogram was stored."""
    finding = shown.findings.summaries
    names = [name.removeprefix(PREFIX) for name in shown.findings.charts if PREFIX in name]
    if not names or not finding:
        return None
    names.sort(key=lambda name: name != shown.primary_metric)
    options = [(name, name.replace("_", " ")) for name in names]
    quantity = shown.chosen("percentiles-of", "Time of", options)
    result = shown.findings.charts.read(f"{PREFIX}{quantity.value}", stored.Percentiles)
    if result is None:
        return None
    cells = {cell.cell: shown.labels.values(cell.levels) for cell in finding.cells}
    known, unit = _readable([cell for cell in result.cells if cell.cell in cells])
    some, chosen = shown.some("percentiles", known, MOST_CURVES)
    chart = PercentileChart(
        Quantity(quantity.value.replace("_", " "), unit, lower_is_better=True),
        [_cell(place, cell, cells) for place, cell in enumerate(some)],
        shown.factor,
        shown.sample,
    )
    dropped = sum(cell.dropped for cell in known)
    return Panel(
        plot=Plot(
            id="percentiles",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            key=legend(chart),
            height="24rem",
        ),
        how=HOW,
        numbers=Numbers(
            (
                Column("cell"),
                Column("percentile"),
                Column("runs", "count"),
                Column("mean of the runs", unit),
                Column("95 % from", unit),
                Column("to", unit),
                Column("all together", unit),
            ),
            _rows(known, cells),
        ),
        aside=f"{counted(sum(cell.counts for cell in known), chart.sample)}, from histograms",
        notes=(f"{counted(dropped, chart.sample)} out of range are in no histogram.",)
        if dropped
        else (),
        choices=(quantity, chosen),
    )


def _readable(cells: list[stored.PercentileCell]) -> tuple[list[stored.PercentileCell], str]:
    """Return the cells with their unit: milliseconds where nothing takes a second, else seconds as stored."""
    highest = max((value for cell in cells for value in cell.together.values), default=0.0)
    if highest >= 1:
        return cells, "s"
    return [
        structs.replace(
            cell,
            values=[1000 * value for value in cell.values],
            low=[None if value is None else 1000 * value for value in cell.low],
            high=[None if value is None else 1000 * value for value in cell.high],
            together=structs.replace(
                cell.together, values=[1000 * each for each in cell.together.values]
            ),
        )
        for cell in cells
    ], "ms"


def _cell(place: int, cell: stored.PercentileCell, names: Mapping[int, str]) -> PercentileCell:
    return PercentileCell(
        name=names[cell.cell] or "all runs",
        points=[
            PercentilePoint(share, value, None if low is None or high is None else (low, high))
            for share, value, low, high in zip(
                cell.shares, cell.values, cell.low, cell.high, strict=True
            )
        ],
        runs=cell.runs,
        samples=cell.counts,
        together=list(zip(cell.together.shares, cell.together.values, strict=True)),
        place=place,
    )


def _rows(known: list[stored.PercentileCell], names: Mapping[int, str]) -> list[tuple[Any, ...]]:
    """Return the rows: the percentiles p50, p95 … of all cells first, then the whole curves."""
    rows = [
        (share, (names[cell.cell] or "all runs", plain_percent(100 * share), cell.runs, *bounds))
        for cell in known
        for share, *bounds in _columns(cell)
    ]
    named = [row for share, row in rows if share in NAMED]
    return named + [row for share, row in rows if share not in NAMED]


def _columns(cell: stored.PercentileCell) -> list[tuple[Any, ...]]:
    over = {
        share: bounds
        for share, *bounds in zip(cell.shares, cell.values, cell.low, cell.high, strict=True)
    }
    return [
        (share, *over.get(share, (None, None, None)), value)
        for share, value in zip(cell.together.shares, cell.together.values, strict=True)
    ]


CHARTS = (Chart("percentiles", panel),)
