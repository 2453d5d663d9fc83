"""The runs of one cell as a comparison takes them."""

from collections.abc import Sequence

from campaigns.queries.runs import ObservedRun
from campaigns.stats.cells import CellRuns


def taken(runs: Sequence[ObservedRun]) -> CellRuns:
    """Count what failed and what was lost beside the values."""
    values = [run for run in runs if run.state == "ok" and run.value is not None]
    failed = [run for run in runs if run.state in ("failed", "censored")]
    worked = [run for run in (*values, *failed) if run.units_done + run.units_failed > 1]
    return CellRuns(
        values=[run.value for run in values if run.value is not None],
        blocks=[run.block for run in values],
        failed=len(failed),
        lost=sum(run.state in ("lost", "bound") for run in runs),
        failed_units=[run.units_failed for run in worked],
        units=[run.units_done + run.units_failed for run in worked],
    )
