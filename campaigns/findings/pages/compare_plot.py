"""The chart of the compare page: every run against its level, one series a campaign, in their order."""

from django.urls import reverse

from campaigns.findings.charts import levels
from campaigns.findings.charts.base import in_utc
from campaigns.findings.charts.cells import STATES, LevelCell, LevelsChart, RunPoint
from campaigns.findings.compute.comparability import label_of
from campaigns.findings.compute.compared import Compared, Measured
from campaigns.findings.compute.groups import unlimited_of
from campaigns.findings.values import Cell
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import inside
from campaigns.planning.roles import loads_of
from campaigns.results.run_plots import Plot, labelled


def compare_plot(compared: Compared) -> Plot | None:
    """Draw what may be compared; None where that is nothing.

    A campaign, or a cell, that is refused is left out.
    """
    drawn = _drawn(compared)
    if len(drawn) < 2:
        return None
    varied = _varied(compared, {place for place, _ in drawn})
    numeric = _axis(compared, drawn, varied)
    series = [f"{place + 1} {name}" for place, name in enumerate(compared.names.campaigns)]
    first = compared.measured[0]
    chart = LevelsChart(
        factor=_factor(compared, varied),
        quantity=Quantity(inside(first.label), first.unit, first.direction),
        cells=[
            LevelCell(
                level=numeric[index]
                if numeric
                else compared.names.levels(place, cell, varied) or "the only cell",
                runs=_points(compared.measured[place], cell),
                series=series[place],
                mean=compared.measured[place].mean(cell),
                interval=compared.measured[place].interval(cell),
            )
            for index, (place, cell) in enumerate(drawn)
        ],
        series_factor="campaign",
        is_load=bool(numeric) and varied[0] in loads_of(compared.measured[0].side.campaign),
    )
    plot = Plot(
        id="compared",
        title=levels.title(chart),
        label=levels.describe(chart),
        figure=levels.draw(chart),
        key=levels.legend(chart),
        height="26rem",
        note=levels.note(chart),
    )
    simulators = dict.fromkeys(what for each in compared.measured for what in each.side.simulators)
    return labelled(plot, list(simulators))


def _drawn(compared: Compared) -> list[tuple[int, Cell]]:
    """Return the cells by side: all of campaigns that are not refused, or the chosen ones."""
    if not compared.candidates:
        judged = [(row.side, row.candidate) for row in compared.judged]
        own = [(0, compared.judged[0].baseline)] if judged else []
        return sorted([*own, *judged], key=lambda each: each[0])
    out = {each.side for each in compared.candidates if each.refused}
    cells = {(row.side, row.candidate.cell) for row in compared.rows if row.refused}
    results = [
        (place, cell)
        for place, each in enumerate(compared.measured)
        for cell in each.cells.values()
        if place not in out and (place, cell.cell) not in cells
    ]
    return results if len({place for place, _ in results}) > 1 else []


def _varied(compared: Compared, sides: set[int]) -> list[str]:
    """Return the factors that vary in a campaign, or between campaigns, in their order."""
    names = dict.fromkeys(
        name for place in sorted(sides) for name in compared.measured[place].side.factors
    )
    several = [name for name in names if len(_values(compared, sides, name)) > 1]
    return several or list(names)


def _values(compared: Compared, sides: set[int], name: str) -> set[str]:
    result = set()
    for place in sides:
        side = compared.measured[place].side
        result |= {str(value) for value in side.factors.get(name, ())}
        if name in side.campaign.parameters:
            result.add(str(side.campaign.parameters[name]))
    return result


def _axis(compared: Compared, drawn: list[tuple[int, Cell]], varied: list[str]) -> list[float]:
    """Return the levels as numbers, where only one factor of numbers varies, and none means no limit; else nothing."""
    if len(varied) != 1:
        return []
    if any(unlimited_of(each.side.campaign, varied[0]) is not None for each in compared.measured):
        return []
    fixed = [each.side.campaign.parameters for each in compared.measured]
    values = [{**fixed[place], **cell.levels}.get(varied[0]) for place, cell in drawn]
    numbers = [
        value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return numbers if len(numbers) == len(values) else []


def _factor(compared: Compared, varied: list[str]) -> str:
    side = compared.measured[0].side
    return " and ".join(inside(label_of(side, name)) for name in varied)


def _points(measured: Measured, cell: Cell) -> list[RunPoint]:
    return [
        RunPoint(
            value=None if run.value is None else run.value * measured.factor,
            state=run.state,
            name=f"run {run.position}",
            note=", ".join(filter(None, (measured.side.campaign.name, in_utc(run.started_at)))),
            page=reverse("run", args=[measured.side.campaign.pk, run.position]),
        )
        for run in cell.runs
        if run.state in STATES
    ]
