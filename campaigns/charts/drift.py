"""Whether the target changed under the campaign: each run against its own cell. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from campaigns.charts.figure import (
    Figure,
    Quantity,
    figure,
    is_finite,
    line,
    markers,
    sentence,
    series_token,
    text,
)
from campaigns.charts.formats import counted, percent

SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "star",
    "triangle-down",
    "pentagon",
    "hexagon",
    "hourglass",
    "bowtie",
    "hexagram",
)
MOST_SYMBOLS = len(SYMBOLS)
"""More cells are drawn alike, and told by the hover."""
HOVER = "%{text}<extra></extra>"


@dataclass(frozen=True, slots=True)
class DriftRun:
    """One run that counts: its cell, its value, its position in the plan, and when it started."""

    cell: str
    value: float
    position: int
    started: datetime | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class DriftChart:
    """All runs of a campaign, drawn by instant where every run has one, else by position."""

    quantity: Quantity
    runs: Sequence[DriftRun]
    factor: str = ""

    @property
    def by_instant(self) -> bool:
        """Say whether time is on the axis."""
        return bool(self.runs) and all(run.started is not None for run in self.runs)


def draw(chart: DriftChart) -> Figure:
    """Draw one symbol and colour for each cell; values <= 0 have no ratio and are left out."""
    cells, by_instant = _changes(chart), chart.by_instant
    instants = [_instant(run, by_instant) for runs in cells.values() for run, _ in runs]
    shown = (
        cells if len(cells) <= MOST_SYMBOLS else {"": [each for r in cells.values() for each in r]}
    )
    data = [
        markers(
            [(_instant(run, by_instant), change) for run, change in runs],
            {
                "size": 9,
                "symbol": SYMBOLS[index % len(SYMBOLS)],
                "color": f"@{series_token(index)}",
            },
            name=text(name),
            text=[_hover(run, change, chart.factor, by_instant) for run, change in runs],
            customdata=[run.position for run, _ in runs],
            hovertemplate=HOVER,
        )
        for index, (name, runs) in enumerate(shown.items())
    ]
    zero = {"color": "@ink-2", "width": 1, "dash": "dash"}
    if instants:
        data.insert(
            0,
            line([(min(instants), 0), (max(instants), 0)], zero, name="mean", showlegend=False),
        )
    by_time: dict[str, Any] = {"type": "date", "tickformat": "%d %b<br>%H:%M", "nticks": 7}
    by_position: dict[str, Any] = {"title": {"text": "position in the plan"}}
    return figure(
        data,
        {
            "showlegend": 1 < len(cells) <= MOST_SYMBOLS,
            "legend": {"title": {"text": f"{text(chart.factor)} "}},
            "xaxis": {**by_time, "title": {"text": "start, UTC"}} if by_instant else by_position,
            "yaxis": {
                "title": {"text": f"{text(chart.quantity.label)}, % from its own cell’s mean"},
                "ticksuffix": " %",
                "range": _range([change for runs in cells.values() for _, change in runs]),
            },
            "margin": {"t": 44, "l": 8, "r": 12, "b": 8},
        },
        narrow={"yaxis": {"title": {"text": "% from its mean"}, "ticksuffix": ""}},
    )


def title(chart: DriftChart) -> str:
    """Say what is plotted."""
    return sentence(f"{chart.quantity.label} in the order of the runs")


def describe(chart: DriftChart) -> str:
    """Say the finding in numbers: how far early and late runs lie from their cells' means."""
    by_instant = chart.by_instant
    changes = sorted(
        (
            (_instant(run, by_instant), change)
            for runs in _changes(chart).values()
            for run, change in runs
        ),
        key=lambda each: each[0],
    )
    if not changes:
        return f"{title(chart)}. No value yet."
    values = [change for _, change in changes]
    parts = [
        f"{title(chart)}: {counted(len(values), 'run')}, from {percent(min(values))}"
        f" to {percent(max(values))} of their own cell's mean"
    ]
    half = len(values) // 2
    if half:
        early, late = sum(values[:half]) / half, sum(values[-half:]) / half
        parts.append(f"first half {percent(early)}, second half {percent(late)} on average")
    return f"{'; '.join(parts)}."


def _changes(chart: DriftChart) -> dict[str, list[tuple[DriftRun, float]]]:
    """Give each run in % of its own cell's geometric mean, by cell."""
    cells: dict[str, list[DriftRun]] = {}
    for run in chart.runs:
        if is_finite(run.value) and run.value > 0:
            cells.setdefault(run.cell, []).append(run)
    changes = {}
    for name, runs in cells.items():
        mean = sum(math.log(run.value) for run in runs) / len(runs)
        changes[name] = [(run, 100 * math.expm1(math.log(run.value) - mean)) for run in runs]
    return changes


def _range(changes: Sequence[float]) -> list[float]:
    """Keep 5 % in sight, so that little noise does not look like much."""
    low, high = min([-5.0, *changes]), max([5.0, *changes])
    pad = 0.08 * (high - low)
    return [low - pad, high + pad]


def _instant(run: DriftRun, by_instant: bool) -> int:
    """Milliseconds, as an axis of dates takes them; else the position."""
    if by_instant and run.started is not None:
        return round(1000 * run.started.timestamp())
    return run.position


def _place(run: DriftRun) -> str:
    return run.started.astimezone(UTC).isoformat(" ")[:19] if run.started else ""


def _hover(run: DriftRun, change: float, factor: str, by_instant: bool) -> str:
    name = f"<b>{text(run.name)}</b>, " if run.name else ""
    when = f"<br>{_place(run)}" if by_instant else f"<br>position {run.position}"
    return f"{name}{text(f'{factor} {run.cell}'.strip())}{when}<br>{percent(change)} of its mean"
