"""Time series of the runs of one cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.models import Attempt, Campaign, Run, Series


@dataclass(frozen=True, slots=True)
class RunSeries:
    """A stored series of an accepted attempt, with its run."""

    position: int
    block: int
    started_at: str | None
    worker: str
    name: str
    unit: str
    step_seconds: float
    values: Sequence[float]


def series_of_cell(campaign: Campaign, cell: int, most: int) -> list[RunSeries]:
    """Return the first series of each measured run of a cell, of at most `most` runs that have one."""
    rows = (
        Series.objects.filter(
            attempt__run__campaign=campaign,
            attempt__run__cell=cell,
            attempt__run__purpose=Run.Purpose.MEASURED,
            attempt__state=Attempt.State.ACCEPTED,
        )
        .select_related("attempt__run__block")
        .order_by("attempt__run__position", "name")
        .distinct("attempt__run__position")[:most]
    )
    return [
        RunSeries(
            position=row.attempt.run.position,
            block=row.attempt.run.block.number,
            started_at=row.attempt.run.started_at.isoformat()
            if row.attempt.run.started_at
            else None,
            worker=row.attempt.worker,
            name=row.name,
            unit=row.unit,
            step_seconds=row.step_seconds,
            values=row.values,
        )
        for row in rows
    ]
