"""Findings of each cell by itself: summary, raw values, failures."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, geometric_mean

from campaigns.findings.compute.statistics_input import runs_of_cell
from campaigns.findings.values import (
    DRAWN_STATES,
    BriefCell,
    BriefCells,
    Cell,
    CellRun,
    Cells,
    OtherRun,
    RunsOfCell,
)
from campaigns.kinds.base import Metric
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.cell_summary import CellSummary, summarise
from campaigns.stats.comparison_cells import too_many_failures
from campaigns.stats.criteria import Criteria

COUNTED_AS_BOUND = ("bound", "lost")
"""States of a starved run that nobody excluded; lost if it has no value of the metric."""


def summarise_cells(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> Cells:
    """Return the summaries of all cells in the order of their levels, with their runs.

    A metric of what came through alone has no number where too much failed; no metric has a mean
    where a run timed out.
    """
    by_cell: dict[int, list[ObservedRun]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    return Cells(
        metric=metric.name,
        label=metric.label,
        unit=metric.unit,
        lower_is_better=metric.direction,
        cells=[
            Cell(
                cell=cell.pk,
                levels=cell.levels_by_factor,
                summary=_summary(by_cell.get(cell.pk, []), metric, criteria),
                counts=_counts(by_cell.get(cell.pk, []), criteria),
                runs=[_run(run) for run in by_cell.get(cell.pk, [])],
            )
            for cell in campaign.cells.all()
        ],
    )


def without_runs(cells: Cells) -> BriefCells:
    """Reduce the runs of each cell to the accepted values: ten thousand whole runs are megabytes."""
    return BriefCells(
        metric=cells.metric,
        label=cells.label,
        unit=cells.unit,
        lower_is_better=cells.lower_is_better,
        cells=[
            BriefCell(
                cell=cell.cell,
                levels=cell.levels,
                summary=cell.summary,
                counts=cell.counts,
                values=[run.value for run in cell.runs if run.state == "ok"],
                others=_others(cell.runs),
            )
            for cell in cells.cells
        ],
    )


def _others(runs: Sequence[CellRun]) -> list[OtherRun]:
    """Return the runs that are drawn though they do not count."""
    drawn = [run for run in runs if run.state in DRAWN_STATES]
    return [
        OtherRun(place, run.state, run.value)
        for place, run in enumerate(drawn)
        if run.state != "ok"
    ]


def _summary(runs: Sequence[ObservedRun], metric: Metric, criteria: Criteria) -> CellSummary:
    def count(*states: str) -> int:
        return sum(run.state in states for run in runs)

    summary = summarise(
        [run.value for run in runs if run.state == "ok"],
        failed=count("failed", "censored"),
        censored=count("censored"),
        lost=count("lost", "cancelled", "bound"),
        saturated=sum(run.state == "bound" and not run.starved for run in runs),
    )
    if summary.n_censored:
        return summary.without_estimates("has_censored")
    if metric.of_survivors and too_many_failures(runs_of_cell(runs), criteria):
        return summary.without_estimates("too_many_failures")
    return summary


def _counts(runs: Sequence[ObservedRun], criteria: Criteria) -> RunsOfCell:
    """Count runs by state, bound the mean where runs timed out, and add up the work of accepted runs."""
    limits = [run.value for run in runs if run.state == "censored" and run.value is not None]
    values = [run.value for run in runs if run.state == "ok" and run.value is not None]
    worked = [run for run in runs if run.state == "ok" and run.units_done + run.units_failed > 1]
    return RunsOfCell(
        runs=len(runs),
        states=dict(Counter(run.state for run in runs)),
        lowest_limit=min(limits, default=None),
        highest_limit=max(limits, default=None),
        at_least=_average([*values, *limits]) if limits else None,
        units=sum(run.units_done + run.units_failed for run in worked),
        units_failed=sum(run.units_failed for run in worked),
        too_many_failures=too_many_failures(runs_of_cell(runs), criteria) is not None,
        starved=sum(run.starved and run.state in COUNTED_AS_BOUND for run in runs),
        warned=sum(run.warned and run.state == "ok" for run in runs),
    )


def _average(values: Sequence[float]) -> float:
    """Return the geometric mean, or the mean where a value has no log."""
    return geometric_mean(values) if min(values) > 0 else fmean(values)


def _run(run: ObservedRun) -> CellRun:
    return CellRun(
        run=run.run,
        position=run.position,
        value=run.value,
        state=run.state,
        block=run.block,
        session=run.session,
        units=run.units_done + run.units_failed,
        units_failed=run.units_failed,
        reason=run.reason,
        started_at=run.started_at.isoformat() if run.started_at else None,
        worker=run.worker,
    )
