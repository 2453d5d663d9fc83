"""Percentiles of the samples of each cell, the far end stretched: HDR curves. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.charts.parts import HOVER, and_more, legend_of, log_scales
from campaigns.kit.charts.axes import log_range, value_title
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
from campaigns.kit.numbers import amount, counted, span

TICKS = (0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
DESCRIBED = (0.5, 0.95, 0.99)
MOST_DESCRIBED = 6
MOST_BANDS = 4
"""More bands would overlap; the intervals are in the hover and in the table."""


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
            "xaxis": {
                "type": "log",
                "title": {"text": "percentile"},
                "range": log_range(1.0, end, pad=0.02),
                "tickvals": [_place(share) for share in ticks],
                "ticktext": [f"{100 * share:.10g} %" for share in ticks],
            },
            "yaxis": {
                "title": {"text": value_title(chart.quantity, with_clock=False)},
                "range": [0, 1.05 * high],
            },
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
            f"p{100 * share:g} {amount(values[share], unit)}"
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
            text=[
                f"<b>{named}</b><br>p{100 * share:.6g} of {counted(cell.samples, chart.sample)} of"
                f" all runs: {amount(value, unit)}"
                for share, value in cell.together
            ],
            hovertemplate=HOVER,
        ),
        line(
            [(_place(point.share), point.value) for point in cell.points],
            {"color": f"@{token}", "width": 2, "dash": dash_of(cell.place)},
            name=text(cell.name),
            legendgroup=text(cell.name),
            text=[_text(named, cell, point, unit) for point in cell.points],
            hovertemplate=HOVER,
        ),
    ]


def _text(named: str, cell: PercentileCell, point: PercentilePoint, unit: str) -> str:
    over = f"<br>over runs {span(point.interval, unit)}" if point.interval else ""
    return (
        f"<b>{named}</b><br>p{100 * point.share:.6g} of {counted(cell.runs, 'run')}:"
        f" {amount(point.value, unit)}{over}"
    )
