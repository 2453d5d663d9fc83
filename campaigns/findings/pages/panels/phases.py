"""Mean seconds of each phase by cell: parts of the measured time, and steps of a run."""

from campaigns.findings.charts import phases
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.values import PhaseCell, Phases
from campaigns.kit.numbers import counted
from campaigns.results.phrases import inside
from campaigns.results.run_plots import Plot

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


def phases_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where no run has phases."""
    result = shown.findings.charts.read("phases", Phases)
    if result is None:
        return None
    tables = {"measure": result.measure, "attempt": result.attempt}
    options = [(of, label) for of, label in WHAT.items() if tables[of]]
    of = shown.chosen("phases-of", "Phases", options)
    table = tables[of.value]
    if table is None:
        return None
    some, chosen = shown.some("phases", table.cells, MOST_BARS)
    chart = phases.PhasesChart(
        what=WHAT[of.value],
        phases=[name.replace("_", " ") for name in table.names],
        cells=[
            phases.PhaseCell(
                name=_name(shown, cell),
                seconds=[cell.seconds[name].mean for name in table.names],
                runs=cell.runs,
            )
            for cell in some
        ],
        factor=" and ".join(inside(factor.label) for factor in shown.labels.factors),
        overlap=table.overlap,
    )
    bars = len(chart.cells) * (len(chart.phases) if chart.overlap else 1)
    steps = STEPS if of.value == "attempt" else ()
    return Panel(
        plot=Plot(
            id="phases",
            title=phases.title(chart),
            label=phases.describe(chart),
            figure=phases.draw(chart),
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


def _name(shown: Shown, cell: PhaseCell) -> str:
    return shown.labels.values(cell.levels) or "all runs"
