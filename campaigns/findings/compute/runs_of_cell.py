"""The runs of one cell as input of a comparison."""

from collections.abc import Sequence

from campaigns.results.values import ObservedRun
from campaigns.stats.comparison_cells import CellRuns, too_many_failures
from campaigns.stats.criteria import Criteria


def failing_cells(runs: Sequence[ObservedRun], criteria: Criteria) -> frozenset[int]:
    """Return the keys of the cells in which so much failed that their survivors make no number."""
    by_cell: dict[int, list[ObservedRun]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    return frozenset(
        cell
        for cell, members in by_cell.items()
        if too_many_failures(runs_of_cell(members), criteria)
    )


def runs_of_cell(runs: Sequence[ObservedRun]) -> CellRuns:
    """Count what failed and what was lost beside the values."""
    values = [run for run in runs if run.state == "ok" and run.value is not None]
    failed = [run for run in runs if run.state in ("failed", "censored")]
    worked = [run for run in (*values, *failed) if run.units_done + run.units_failed > 1]
    return CellRuns(
        values=[run.value for run in values if run.value is not None],
        blocks=[run.part for run in values],
        failed=len(failed),
        lost=sum(run.state in ("lost", "bound") for run in runs),
        failed_units=[run.units_failed for run in worked],
        timed_out=sum(run.state == "censored" for run in runs),
        units=[run.units_done + run.units_failed for run in worked],
        sessions=[run.session for run in values],
    )
