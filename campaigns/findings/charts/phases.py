"""Mean seconds of each phase, stacked by cell; side by side where phases overlap. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit.charts.axes import clock_ticks, has_clock
from campaigns.kit.charts.figure import Figure, Trace, figure, sentence, series_token, text
from campaigns.kit.charts.formats import counted, duration

PATTERNS = ("", "/", ".", "x", "-", "+")
"""What tells phases apart beside their colours."""
MOST_DESCRIBED = 6


@dataclass(frozen=True, slots=True)
class PhaseCell:
    """Seconds of each phase of one cell, means over its runs, in the order of the phases."""

    name: str
    seconds: Sequence[float]
    runs: int


@dataclass(frozen=True, slots=True)
class PhasesChart:
    """what: parts of the measured time, or steps of a run. overlap: the parts do not add up."""

    what: str
    phases: Sequence[str]
    cells: Sequence[PhaseCell]
    factor: str = ""
    overlap: bool = False


def draw(chart: PhasesChart) -> Figure:
    """Draw horizontal bars, the first cell at the top."""
    totals = [
        max(cell.seconds, default=0.0) if chart.overlap else sum(cell.seconds)
        for cell in chart.cells
    ]
    end = 1.04 * max(totals, default=0.0) or 1.0
    names = [f"{text(cell.name)} " for cell in chart.cells]
    seconds: dict[str, Any] = {
        "range": [0, end],
        "title": {"text": "mean of the runs"},
        **(clock_ticks(0, end) if has_clock("s", end) else {"ticksuffix": " s"}),
    }
    return figure(
        [_bars(index, phase, chart, names) for index, phase in enumerate(chart.phases)],
        {
            "barmode": "group" if chart.overlap else "stack",
            "bargap": 0.35,
            "showlegend": True,
            "legend": {"traceorder": "normal"},
            "xaxis": seconds,
            "yaxis": {
                "type": "category",
                "autorange": "reversed",
                "title": {"text": text(chart.factor)},
            },
            "margin": {"t": 44, "l": 8, "r": 12, "b": 8},
        },
        narrow={"yaxis": {"title": {"text": ""}}},
    )


def title(chart: PhasesChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.what} by {chart.factor}" if chart.factor else chart.what)


def describe(chart: PhasesChart) -> str:
    """Say the seconds of each phase, cell by cell."""
    parts = [
        f"{cell.name}: "
        + ", ".join(
            f"{phase} {duration(seconds)}"
            for phase, seconds in zip(chart.phases, cell.seconds, strict=True)
        )
        for cell in chart.cells[:MOST_DESCRIBED]
    ]
    more = len(chart.cells) - MOST_DESCRIBED
    ending = f"; and {counted(more, 'cell')} more" if more > 0 else ""
    overlap = " Parts overlap and do not add up." if chart.overlap else ""
    return f"{title(chart)}, means of the runs. {sentence('; '.join(parts))}{ending}.{overlap}"


def _bars(index: int, phase: str, chart: PhasesChart, names: Sequence[str]) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "name": text(phase),
        "y": list(names),
        "x": [cell.seconds[index] for cell in chart.cells],
        "marker": {
            "color": f"@{series_token(index)}",
            "line": {"color": "@surface", "width": 1},
            "pattern": {
                "fillmode": "overlay",
                "shape": PATTERNS[index % len(PATTERNS)],
                "fgcolor": "@surface",
                "size": 7,
                "solidity": 0.25,
            },
        },
        "text": [
            f"<b>{text(f'{chart.factor} {cell.name}'.strip())}</b><br>{text(phase)}"
            f" {duration(cell.seconds[index])}{_share(cell, index, chart)}"
            f"<br>mean of {counted(cell.runs, 'run')}"
            for cell in chart.cells
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _share(cell: PhaseCell, index: int, chart: PhasesChart) -> str:
    whole = sum(cell.seconds)
    if chart.overlap or not whole:
        return ""
    return f", {100 * cell.seconds[index] / whole:.0f} %"
