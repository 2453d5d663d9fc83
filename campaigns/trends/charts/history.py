"""The chart of a trend: each session with its interval, in the order of versions or of time. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from campaigns.findings.charts.parts import MARGIN, error_bars, upright
from campaigns.kit.charts.axes import titled
from campaigns.kit.charts.figure import (
    Figure,
    KeyItem,
    Quantity,
    figure,
    grouped,
    line,
    mark,
    markers,
    text,
)
from campaigns.kit.numbers import amount, counted
from campaigns.results.run_plots import Plot
from campaigns.trends.values import SessionPoint

MOST_TICKS = 10
MOST_DRAWN = 400
"""Sessions of a chart, the newest ones; the table and REST have all."""
LONGEST_TICK = 14
DAY = timedelta(days=1)
COLOUR = "series-1"


@dataclass(frozen=True, slots=True)
class HistoryChart:
    """label: of the trend. points: in the order of the axis, which has versions or else days. pages: where each point leads."""

    label: str
    quantity: Quantity
    points: Sequence[SessionPoint]
    pages: Sequence[str]
    by_version: bool


def plot(chart: HistoryChart) -> Plot | None:
    """Return the chart; None where fewer than two sessions have a value."""
    drawn = _newest(chart)
    known = [each for each in drawn.points if each.value is not None]
    if len(known) < 2:
        return None
    left_out = len(chart.points) - len(drawn.points)
    return Plot(
        id="history",
        title=f"{chart.label}, session by session",
        label=describe(drawn),
        figure=draw(drawn),
        key=_key(drawn),
        height="20rem",
        note=f"The newest {MOST_DRAWN} sessions are drawn; {left_out} older ones are in the table."
        if left_out
        else "",
    )


def draw(chart: HistoryChart) -> Figure:
    """Draw points with their intervals within the session; a line joins those of one environment."""
    quantity, factor = chart.quantity.readable()
    places = _places(chart)
    known = [
        (at, each, page)
        for at, each, page in zip(places, chart.points, chart.pages, strict=True)
        if each.value is not None
    ]
    values = [factor * float(each.value or 0) for _, each, _ in known]
    bars = [
        (value, (factor * (each.low or each.value or 0), factor * (each.high or each.value or 0)))
        for value, (_, each, _) in zip(values, known, strict=True)
    ]
    dots = markers(
        [(at, value) for (at, _, _), value in zip(known, values, strict=True)],
        mark("circle", 9, f"@{COLOUR}"),
        error_y=error_bars(bars, f"@{COLOUR}", thickness=2, width=4),
        notes=[_hover(each, chart.quantity) for _, each, _ in known],
        customdata=[page for *_, page in known],
    )
    floor = min([low for _, (low, _) in bars], default=0.0)
    silent = markers(
        [(at, floor) for at, each in zip(places, chart.points, strict=True) if each.value is None],
        mark("x", 9, "@bad"),
        notes=[_hover(each, chart.quantity) for each in chart.points if each.value is None],
        customdata=[
            page for each, page in zip(chart.points, chart.pages, strict=True) if each.value is None
        ],
    )
    data = [
        *grouped([line(_joined(known, values), {"color": f"@{COLOUR}", "width": 1})], "joined"),
        *grouped([dots], "sessions"),
        *grouped([silent], "silent"),
    ]
    return figure(
        data,
        {
            "showlegend": False,
            "xaxis": _axis(chart, places),
            "yaxis": titled(
                f"{text(quantity.label)}, {quantity.unit}"
                if quantity.unit
                else text(quantity.label)
            ),
            "margin": MARGIN,
            "shapes": _borders(chart, places),
        },
    )


def describe(chart: HistoryChart) -> str:
    """Describe the chart in words: how many sessions, from which value to which, and its borders."""
    known = [each for each in chart.points if each.value is not None]
    unit = chart.quantity.unit
    values = [float(each.value or 0) for each in known]
    order = "in the order of versions" if chart.by_version else "in the order of time"
    borders = sum(bool(each.session.border) for each in chart.points)
    parts = [
        f"{chart.label} {order}: {counted(len(known), 'session')} with a value",
        f"the newest {amount(values[-1], unit)}, all from {amount(min(values), unit)} to {amount(max(values), unit)}",
    ]
    if borders:
        parts.append(f"the environment changed {counted(borders, 'time')}")
    return f"{'; '.join(parts)}."


def _newest(chart: HistoryChart) -> HistoryChart:
    if len(chart.points) <= MOST_DRAWN:
        return chart
    points, pages = chart.points[-MOST_DRAWN:], chart.pages[-MOST_DRAWN:]
    return HistoryChart(chart.label, chart.quantity, points, pages, chart.by_version)


def _places(chart: HistoryChart) -> list[float]:
    """Return where each session stands: evenly by version, otherwise by its days since the first one."""
    if chart.by_version or not chart.points:
        return [float(at) for at in range(len(chart.points))]
    first = min(each.session.at for each in chart.points)
    return [(each.session.at - first) / DAY for each in chart.points]


def _axis(chart: HistoryChart, places: Sequence[float]) -> dict[str, Any]:
    """Return the axis with a tick at the first session of each version, or of each day; at some of them where they are many."""
    texts = [
        (each.session.version or "unknown") if chart.by_version else f"{each.session.at:%d %b}"
        for each in chart.points
    ]
    ticks = [
        (at, name)
        for index, (at, name) in enumerate(zip(places, texts, strict=True))
        if index == 0 or texts[index - 1] != name
    ]
    step = -(-len(ticks) // MOST_TICKS) or 1
    shown = ticks[::step]
    low, high = min(places, default=0.0), max(places, default=1.0)
    room = 0.04 * (high - low) or 0.5
    return titled(
        "version" if chart.by_version else "day, UTC",
        [low - room, high + room],
        tickvals=[at for at, _ in shown],
        ticktext=[text(name, LONGEST_TICK) for _, name in shown],
    )


def _joined(
    known: Sequence[tuple[float, SessionPoint, str]], values: Sequence[float]
) -> list[tuple[float, float | None]]:
    """Return the line through sessions, with a gap where the environment changes."""
    joined: list[tuple[float, float | None]] = []
    before: int | None = None
    for (at, each, _), value in zip(known, values, strict=True):
        if before is not None and each.session.environment != before:
            joined.append((at, None))
        joined.append((at, value))
        before = each.session.environment
    return joined


def _borders(chart: HistoryChart, places: Sequence[float]) -> list[dict[str, Any]]:
    """Return a dashed line before each session at which another environment begins."""
    pen = {"color": "@warn", "width": 1.5, "dash": "dash"}
    return [
        upright((places[at - 1] + places[at]) / 2 if at else places[at], pen, name="borders")
        for at, each in enumerate(chart.points)
        if each.session.border
    ]


def _key(chart: HistoryChart) -> tuple[KeyItem, ...]:
    borders = sum(bool(each.session.border) for each in chart.points)
    silent = sum(each.value is None for each in chart.points)
    items = [
        KeyItem("circle", "a session, with its 95 % interval", None, COLOUR, "sessions"),
        *(
            [KeyItem("line", "the environment changed", borders, "warn", "borders")]
            if borders
            else []
        ),
        *(
            [KeyItem("failed", "a session without a value", silent, "bad", "silent")]
            if silent
            else []
        ),
    ]
    return tuple(items)


def _hover(point: SessionPoint, quantity: Quantity) -> str:
    session = point.session
    head = f"<b>{text(session.version or f'{session.at:%Y-%m-%d}')}</b><br>{session.at:%Y-%m-%d %H:%M} UTC"
    value = (
        text(point.why, 120)
        if point.value is None
        else f"{amount(point.value, quantity.unit)}, {counted(point.n, 'run')}"
    )
    border = f"<br>{text(session.border, 120)}" if session.border else ""
    return f"{head}<br>{value}{border}<br>{text(session.name)}"
