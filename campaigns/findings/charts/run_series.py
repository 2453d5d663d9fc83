"""The throughput of the runs of one cell over their time, laid over one another. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.findings.charts.base import (
    Chart,
    Column,
    Numbers,
    Panel,
    Shown,
    run_note,
)
from campaigns.findings.charts.parts import LONGEST_NOTE
from campaigns.kit.charts.axes import seconds_axis, value_axis
from campaigns.kit.charts.figure import (
    DASHES,
    Figure,
    Quantity,
    dash_of,
    figure,
    is_finite,
    line,
    sentence,
    series_token,
    text,
)
from campaigns.kit.numbers import amount, counted, duration
from campaigns.results.run_plots import Plot, readable_rate

if TYPE_CHECKING:
    from campaigns.results.series import RunSeries

MOST_POINTS = 300
MOST_RUNS = 24
HOW = (
    ("Each line", "is one run, from the start of its own clock."),
    (
        "Lines that lie on one another",
        "mean that runs go alike; one that sags alone, that something disturbed it.",
    ),
    ("A slow start", "is warming up; a drop that all runs have at one time belongs to the target."),
)


@dataclass(frozen=True, slots=True)
class RunLine:
    """`values[i]` belongs to [i, i + 1) x step_seconds since the clock of this run started."""

    name: str
    step_seconds: float
    values: Sequence[float]
    note: str = ""
    position: int = 0

    def thinned(self) -> tuple[float, list[float]]:
        """Return a step, and means over it, of at most MOST_POINTS points."""
        width = -(-len(self.values) // MOST_POINTS) or 1
        parts = [self.values[at : at + width] for at in range(0, len(self.values), width)]
        return width * self.step_seconds, [sum(part) / len(part) for part in parts]


@dataclass(frozen=True, slots=True)
class RunSeriesChart:
    """Lines in the order of the runs. cell: whose runs they are."""

    quantity: Quantity
    runs: Sequence[RunLine]
    cell: str = ""


def draw(chart: RunSeriesChart) -> Figure:
    """Draw one line a run, all from the start of their own clock."""
    quantity, factor = chart.quantity.readable()
    end = max((len(run.values) * run.step_seconds for run in chart.runs), default=0.0) or 1.0
    data = []
    top = 0.0
    for index, run in enumerate(chart.runs):
        step, values = run.thinned()
        shown = [factor * value if is_finite(value) else None for value in values]
        top = max([top, *(value for value in shown if value is not None)])
        token = series_token(index)
        data.append(
            line(
                [((place + 0.5) * step, value) for place, value in enumerate(shown)],
                {"color": f"@{token}/70", "width": 1.5, "dash": dash_of(index)},
                name=text(run.name),
                customdata=[run.position] * len(shown),
                hovertemplate=(
                    f"<b>{text(run.name)}</b>, {text(run.note, LONGEST_NOTE)}<br>%{{x:.1f}} s: "
                    f"%{{y:,.4~r}} {text(quantity.unit)}<extra></extra>"
                ),
            )
        )
    return figure(
        data,
        {
            "showlegend": 1 < len(chart.runs) <= len(DASHES),
            "xaxis": seconds_axis(0, end, "time since the clock of each run started"),
            "yaxis": value_axis(quantity, 0, 1.12 * top or 1.0),
            "margin": {"t": 44 if len(chart.runs) > 1 else 8, "l": 8, "r": 12, "b": 8},
        },
    )


def title(chart: RunSeriesChart) -> str:
    """Return what is plotted."""
    return sentence(f"{chart.quantity.label} over the time of each run")


def describe(chart: RunSeriesChart) -> str:
    """Return how long runs lasted, and the highest of each of the first."""
    unit = chart.quantity.unit
    of = f" of {chart.cell}" if chart.cell else ""
    seen = [run for run in chart.runs if any(is_finite(value) for value in run.values)]
    if not seen:
        return f"{title(chart)}{of}. No value."
    lengths = [len(run.values) * run.step_seconds for run in seen]
    highest = [max(value for value in run.values if is_finite(value)) for run in seen]
    return (
        f"{title(chart)}{of}: {counted(len(seen), 'run')}, {duration(min(lengths))} to"
        f" {duration(max(lengths))} long; highest from {amount(min(highest), unit)} to"
        f" {amount(max(highest), unit)}."
    )


def panel(shown: Shown) -> Panel | None:
    """Return the panel; None where the first cell that has values has no series."""
    finding = shown.findings.summaries
    if not finding:
        return None
    options = [
        (str(cell.cell), shown.labels.values(cell.levels) or "all runs")
        for cell in finding.cells
        if cell.summary.n_ok
    ]
    if not options:
        return None
    chosen = shown.chosen("series-of", "Cell", options)
    result = shown.series(int(chosen.value), MOST_RUNS)
    if not result:
        return None
    unit, _ = readable_rate(result[0].unit, [])
    chart = RunSeriesChart(
        quantity=Quantity(result[0].name.replace("_", " "), unit),
        runs=[_line(each, shown.labels.block) for each in result if each.unit == result[0].unit],
        cell=next(
            shown.labels.sentence(cell.levels)
            for cell in finding.cells
            if str(cell.cell) == chosen.value
        ),
    )
    return Panel(
        plot=Plot(
            id="series",
            title=title(chart),
            label=describe(chart),
            figure=draw(chart),
            height="20rem",
        ),
        how=HOW,
        numbers=Numbers(
            (Column("run"), Column("seconds", "s"), Column(chart.quantity.label, unit)),
            [
                (run.name, index * run.step_seconds, value)
                for run in chart.runs
                for index, value in enumerate(run.values)
            ],
        ),
        aside=f"{counted(len(chart.runs), 'run')}{' of ' if chart.cell else ''}{chart.cell}",
        choices=(chosen,),
    )


def _line(series: "RunSeries", block: str) -> RunLine:
    _, values = readable_rate(series.unit, series.values)
    return RunLine(
        name=f"run {series.position}",
        step_seconds=series.step_seconds,
        values=[value for value in values if value is not None],
        note=run_note(series, block),
        position=series.position,
    )


CHARTS = (Chart("series", panel),)
