"""What the runs of one cell carried over their time, laid over one another."""

from campaigns.findings.charts import run_series
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.pages.plots import run_note
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.numbers import counted
from campaigns.results.run_plots import Plot, readable_rate
from campaigns.results.series import RunSeries, series_of_cell

MOST_RUNS = 24
HOW = (
    ("Each line", "is one run, from the start of its own clock."),
    (
        "Lines that lie on one another",
        "mean that runs go alike; one that sags alone, that something disturbed it.",
    ),
    ("A slow start", "is warming up; a drop that all runs have at one time belongs to the target."),
)


def series_panel(shown: Shown) -> Panel | None:
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
    result = series_of_cell(shown.campaign, int(chosen.value), MOST_RUNS)
    if not result:
        return None
    unit, _ = readable_rate(result[0].unit, [])
    chart = run_series.RunSeriesChart(
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
            title=run_series.title(chart),
            label=run_series.describe(chart),
            figure=run_series.draw(chart),
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


def _line(series: RunSeries, block: str) -> run_series.RunLine:
    _, values = readable_rate(series.unit, series.values)
    return run_series.RunLine(
        name=f"run {series.position}",
        step_seconds=series.step_seconds,
        values=[value for value in values if value is not None],
        note=run_note(series, block),
        position=series.position,
    )
