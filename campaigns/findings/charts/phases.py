"""Mean seconds of each phase, stacked by cell; side by side where phases overlap. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings import values as stored
from campaigns.findings.charts.base import Chart, Column, Numbers, Panel, Shown
from campaigns.findings.charts.parts import MARGIN_BELOW_LEGEND, and_more
from campaigns.kit.charts.axes import seconds_axis, titled
from campaigns.kit.charts.figure import HOVER, Figure, Trace, figure, sentence, series_token, text
from campaigns.kit.numbers import counted, duration, share
from campaigns.results.run_plots import Plot

PATTERNS = ("", "/", ".", "x", "-", "+")
"""Patterns, which distinguish phases in addition to their colours."""
MOST_DESCRIBED = 6
MOST_BARS = 30
WHAT = {"measure": "parts of the measured time", "attempt": "steps of a run"}
HOW = (
    ("Each bar", "is a cell: the mean seconds of its runs, cut into what they were spent on."),
    (
        "Compare one colour",
        "down the bars: what shrinks with the level is what the level speeds up.",
    ),
    ("What stays", "is what no level can make faster; it bounds what there is to gain."),
)
OVERLAPPING = (
    (
        "Each bar",
        "is the mean seconds of one part; parts go on at the same time and do not add up.",
    ),
    (
        "Compare one colour",
        "down the groups: what shrinks with the level is what the level speeds up.",
    ),
)
STEPS = (
    ("Only measure", "is on the clock; reset, apply and verify are the other costs of a run."),
)


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
    return figure(
        [_bars(index, phase, chart, names) for index, phase in enumerate(chart.phases)],
        {
            "barmode": "group" if chart.overlap else "stack",
            "bargap": 0.35,
            "showlegend": True,
            "legend": {"traceorder": "normal"},
            "xaxis": seconds_axis(0, end, "mean of the runs"),
            "yaxis": titled(text(chart.factor), type="category", autorange="reversed"),
            "margin": MARGIN_BELOW_LEGEND,
        },
        narrow={"yaxis": titled("")},
    )


def title(chart: PhasesChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.what} by {chart.factor}" if chart.factor else chart.what)


def describe(chart: PhasesChart) -> str:
    """Describe the seconds of each phase, cell by cell."""
    parts = [
        f"{cell.name}: "
        + ", ".join(
            f"{phase} {duration(seconds)}"
            for phase, seconds in zip(chart.phases, cell.seconds, strict=True)
        )
        for cell in chart.cells[:MOST_DESCRIBED]
    ]
    more = len(chart.cells) - MOST_DESCRIBED
    overlap = " Parts overlap and do not add up." if chart.overlap else ""
    return (
        f"{title(chart)}, means of the runs. {sentence('; '.join(parts))}{and_more(more)}.{overlap}"
    )


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
        "hovertemplate": HOVER,
    }


def _share(cell: PhaseCell, index: int, chart: PhasesChart) -> str:
    whole = sum(cell.seconds)
    if chart.overlap or not whole:
        return ""
    return f", {share(cell.seconds[index] / whole, 0)}"


def panel(shown: Shown) -> Panel | None:
    """Return the panel; None where no run has phases."""
    result = shown.findings.charts.read("phases", stored.Phases)
    if result is None:
        return None
    tables = {"measure": result.measure, "attempt": result.attempt}
    options = [(of, label) for of, label in WHAT.items() if tables[of]]
    of = shown.chosen("phases-of", "Phases", options)
    table = tables[of.value]
    if table is None:
        return None
    some, chosen = shown.some("phases", table.cells, MOST_BARS)
    chart = PhasesChart(
        what=WHAT[of.value],
        phases=[name.replace("_", " ") for name in table.names],
        cells=[
            PhaseCell(
                name=_name(shown, cell),
                seconds=[cell.seconds[name].mean for name in table.names],
                runs=cell.runs,
            )
            for cell in some
        ],
        factor=shown.factor,
        overlap=table.overlap,
    )
    bars = len(chart.cells) * (len(chart.phases) if chart.overlap else 1)
    steps = STEPS if of.value == "attempt" else ()
    return Panel(
        plot=Plot(
            id="phases",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            height=f"{9 + max(4, 1.6 * bars):g}rem",
        ),
        how=((OVERLAPPING if chart.overlap else HOW) + steps),
        numbers=Numbers(
            (
                Column("cell"),
                Column("phase"),
                Column("runs", "count"),
                Column("mean", "s"),
                Column("standard deviation", "s"),
            ),
            [
                (
                    _name(shown, cell),
                    name.replace("_", " "),
                    cell.runs,
                    cell.seconds[name].mean,
                    cell.seconds[name].sd,
                )
                for cell in table.cells
                for name in table.names
            ],
        ),
        aside=counted(sum(cell.runs for cell in table.cells), "run"),
        choices=(of, chosen),
    )


def _name(shown: Shown, cell: stored.PhaseCell) -> str:
    return shown.labels.values(cell.levels) or "all runs"


CHARTS = (Chart("phases", panel),)
