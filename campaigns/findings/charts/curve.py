"""The chart next to the answer of a result: every run against the levels of one factor, or the changes of pairs. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from campaigns.findings.charts import levels
from campaigns.findings.charts.base import Late, Shown, View, quantity_of, run_note
from campaigns.findings.charts.cells import (
    STATES,
    CarriedBand,
    Details,
    LevelCell,
    LevelsChart,
    Recommended,
    Runs,
)
from campaigns.findings.charts.pairs import pairs_plot
from campaigns.findings.values import (
    BriefCell,
    BriefCells,
    CapacityFinding,
    Cell,
    CellRun,
    Cells,
    LevelsFinding,
    Pairs,
    SummarisedCell,
)
from campaigns.kit.charts.labels import FactorOutline, LevelLabels, inside
from campaigns.results.run_plots import Plot
from campaigns.stats.cell_summary import CellSummary

CURVE = "curve"


def pairs_of(shown: Shown) -> Pairs | None:
    """Return the finding of pairs, where it is of the metric that is shown."""
    return shown.findings.pairs if shown.primary else None


def main_plot(shown: Shown) -> tuple[Plot | None, tuple[Plot, ...]]:
    """Draw the chart of every run: changes of pairs, or runs against the levels."""
    findings = shown.findings
    if pairs := pairs_of(shown):
        return pairs_plot(pairs, shown.labels, withheld=shown.is_open), ()
    cells = findings.summaries
    if not cells or not has_drawing(cells):
        return None, ()
    if not shown.judged:
        return levels_plot(cells, shown.labels, shown.view)
    judged = findings.levels, findings.curves, findings.capacity
    return levels_plot(cells, shown.labels, shown.view, *judged)


def late_plot(shown: Shown) -> Late | None:
    """Return the chart of the runs where they are many: its page has the drawing at most, and requests the figure."""
    if not shown.many or not shown.findings.summaries or pairs_of(shown):
        return None
    return Late(CURVE, levels_title(shown.findings.summaries, shown.labels, shown.view))


def levels_plot(
    finding: Cells | BriefCells,
    labels: LevelLabels,
    view: View,
    compared: LevelsFinding | None = None,
    curves: LevelsFinding | None = None,
    capacity: CapacityFinding | None = None,
) -> tuple[Plot, tuple[Plot, ...]]:
    """Draw every run against the levels of one factor, and the same as small charts by a third factor.

    finding: without runs it draws the same, and has nothing to say of single marks.
    compared: the finding of comparisons, where it is of this metric: bounds for reading, and the knee
    where there is one curve along its factor. curves: that of curves over a load, which compares nothing and has a knee, too.
    capacity: what each setting carries.
    """
    factor, series = view.x, view.in_series(labels.factors)
    name = factor.name if factor else ""
    readings = _readings(compared)
    cells = [
        LevelCell(
            level=_axis_level(cell.levels.get(name), factor, labels),
            runs=runs_of(cell, labels.block),
            series=", ".join(labels.short(f.name, cell.levels.get(f.name)) for f in series),
            facet=labels.short(view.facet.name, cell.levels.get(view.facet.name))
            if view.facet
            else "",
            mean=_mean(cell.summary),
            interval=cell.summary.gmean_ci
            if cell.summary.gmean is not None
            else cell.summary.mean_ci,
            reading=readings.get(cell.cell),
            spoiled=spoiled_of(cell),
        )
        for cell in finding.cells
    ]
    chart = replace(
        _levels_chart(finding, labels, view, cells),
        knee=_knee(curves if view.x and view.x.load else compared, name),
        is_still=isinstance(finding, BriefCells),
    )
    chart = replace(chart, recommended=_recommended(finding, compared, view, labels))
    names = {cell.cell: drawn.name for cell, drawn in zip(finding.cells, cells, strict=True)}
    chart = replace(chart, best="" if labels.load else _best(compared, names))
    chart = _with_capacity(chart, capacity, finding.metric, view, labels)
    whole = Plot(
        id=CURVE,
        title=levels.title(chart),
        label=levels.describe(chart),
        figure=levels.draw(chart),
        key=levels.legend(chart),
        height="28rem",
        note=levels.note(chart),
    )
    if view.facet is None:
        return whole, ()
    small = [
        replace(
            whole,
            id=f"{CURVE}-{index}",
            title=f"{view.facet.label} {facet}",
            label=levels.describe(chart.only(facet)),
            figure=figure,
            height="20rem",
        )
        for index, (facet, figure) in enumerate(levels.multiples(chart), start=1)
    ]
    return whole, tuple(small)


def is_over_load(capacity: CapacityFinding | None, view: View) -> bool:
    """Return whether what is carried is drawn: the axis is its load, and all is in one chart."""
    return bool(capacity and view.x and capacity.load == view.x.name and not view.facet)


def _with_capacity(
    chart: LevelsChart,
    capacity: CapacityFinding | None,
    metric: str,
    view: View,
    labels: LevelLabels,
) -> LevelsChart:
    """Add the limit of the metric, and what each series carries, where the axis is the load and a series a setting."""
    if capacity is None or not is_over_load(capacity, view):
        return chart
    limits = [
        each.at_most if each.at_most is not None else each.at_least
        for each in capacity.conditions
        if each.metric == metric and not each.as_share
    ]
    series = view.in_series(labels.factors)
    bands = [
        CarriedBand(
            ", ".join(labels.short(f.name, each.levels.get(f.name)) for f in series),
            each.capacity.low,
            each.capacity.high,
        )
        for each in capacity.settings
        if each.capacity.word.has_bounds
    ]
    return replace(chart, limit=next(iter(limits), None), carried=bands)


def levels_title(finding: Cells | BriefCells, labels: LevelLabels, view: View) -> str:
    """Return what `levels_plot` will draw."""
    return levels.title(_levels_chart(finding, labels, view, ()))


def _levels_chart(
    finding: Cells | BriefCells, labels: LevelLabels, view: View, cells: Sequence[LevelCell]
) -> LevelsChart:
    series = view.in_series(labels.factors)
    return LevelsChart(
        factor=inside(view.x.label) if view.x else "",
        quantity=quantity_of(finding),
        cells=cells,
        series_factor=" and ".join(inside(f.label) for f in series),
        facet_factor=inside(view.facet.label) if view.facet else "",
        is_load=view.x is not None and view.x.load,
    )


def _readings(compared: LevelsFinding | None) -> dict[int, tuple[float, float]]:
    """Return the bounds for comparing levels, by cell."""
    groups = compared.groups if compared else ()
    return {
        cell: bounds
        for group in groups
        for cell, bounds in zip(group.cells, group.reading, strict=True)
        if bounds
    }


def _knee(compared: LevelsFinding | None, factor: str) -> tuple[float, float] | None:
    """Return where the only curve of the chart bends, if it does."""
    if not compared or compared.factor != factor or len(compared.groups) != 1:
        return None
    knee = compared.groups[0].knee
    if not knee or knee.strength == "smooth" or not knee.uncertainty:
        return None
    return knee.uncertainty.interval


def _best(compared: LevelsFinding | None, names: Mapping[int, str]) -> str:
    """Return the name of the cell that is shown to be the best, where all cells were ranked together; empty without one."""
    ranked = [each.best for each in compared.overall or compared.groups] if compared else []
    winner = ranked[0].winner if len(ranked) == 1 and ranked[0] else None
    return "" if winner is None else names.get(winner, "")


def _recommended(
    finding: Cells | BriefCells, compared: LevelsFinding | None, view: View, labels: LevelLabels
) -> Recommended | None:
    """Return the first level within the smallest effect of interest of the best, on the only curve."""
    if not compared or view.x is None or compared.factor != view.x.name:
        return None
    group, best = compared.groups[0], compared.groups[0].best
    if len(compared.groups) != 1 or not best or best.unknown:
        return None
    share = compared.delta_pct
    seen: Sequence[SummarisedCell] = finding.cells
    mean = next((_mean(cell.summary) for cell in seen if cell.cell == best.seen), None)
    if mean is None:
        return None
    cell = best.recommended(share)
    values = dict(zip(group.cells, group.values, strict=True))
    worse = 1 + share / 100
    return Recommended(
        level=None if cell is None else _axis_level(values[cell], view.x, labels),
        limit=mean * worse if compared.lower_is_better else mean / worse,
        share_pct=share,
    )


def _axis_level(value: Any, factor: FactorOutline | None, labels: LevelLabels) -> float | str:
    if factor is None:
        return "all runs"
    if factor.numeric and isinstance(value, int | float):
        return value
    return labels.short(factor.name, value)


def has_drawing(finding: Cells | BriefCells) -> bool:
    """Return whether a finding has all that its drawing needs; those of earlier versions lack some."""
    return isinstance(finding, Cells) or all(cell.others is not None for cell in finding.cells)


def runs_of(cell: Cell | BriefCell, block: str) -> Runs:
    """Return the runs of a cell that are drawn, in their order.

    What is left of a cell in which too much failed is no value: its runs are drawn as failed ones.
    """
    no_value = _is_spoiled(cell)
    if isinstance(cell, Cell):
        runs = [run for run in cell.runs if run.state in STATES]
        return Runs(
            [None if no_value else run.value for run in runs],
            ["failed" if no_value and run.state == "ok" else run.state for run in runs],
            lambda index: _details(runs[index], block),
        )
    if no_value:
        count = len(cell.values) + len(cell.others or ())
        return Runs([None] * count, ["failed"] * count)
    values, states = list(cell.values), ["ok"] * len(cell.values)
    for other in cell.others or ():
        values.insert(other.place, other.value)
        states.insert(other.place, other.state)
    return Runs(values, states)


def spoiled_of(cell: Cell | BriefCell) -> int:
    """Return how many runs of a cell ended well, but have no value."""
    if not _is_spoiled(cell):
        return 0
    if isinstance(cell, Cell):
        return sum(run.state == "ok" for run in cell.runs)
    return len(cell.values)


def _is_spoiled(cell: Cell | BriefCell) -> bool:
    return "too_many_failures" in cell.summary.flags


def _details(run: CellRun, block: str) -> Details:
    return f"run {run.position}", partial(run_note, run, block), run.position


def _mean(summary: CellSummary) -> float | None:
    return summary.gmean if summary.gmean is not None else summary.mean
