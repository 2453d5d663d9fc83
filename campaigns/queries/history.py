"""The values of one metric over time, as bare rows. Reads only, in one query."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from campaigns.models import Attempt, Campaign, Exclusion, Measurement, Run

STANDING = (Attempt.State.ACCEPTED, Attempt.State.FAILED)


class Point(NamedTuple):
    """One value. `at`: when its run began; `excluded`: by somebody, with a reason."""

    at: datetime | None
    value: float
    unit: str
    lower_is_better: bool
    state: str
    position: int
    cell: int
    censored: bool
    bound: bool
    excluded: bool


def history_of(
    campaign: Campaign, metric: str, *, cell: int | None = None, most: int
) -> Sequence[Point]:
    """Read the latest values of measured runs, the oldest of them first; `cell`: only of its position."""
    rows = Measurement.objects.filter(
        attempt__run__campaign=campaign,
        attempt__run__purpose=Run.Purpose.MEASURED,
        attempt__state__in=STANDING,
        metric=metric,
    )
    if cell is not None:
        rows = rows.filter(attempt__run__cell__position=cell)
    excluded = Exclusion.objects.filter(run=OuterRef("attempt__run"), withdrawn_at=None)
    found = rows.order_by("-attempt__run__position", "-attempt__number").values_list(
        "attempt__run__started_at",
        "value",
        "unit",
        "lower_is_better",
        "attempt__run__state",
        "attempt__run__position",
        "attempt__run__cell__position",
        "censored",
        "bound",
        Exists(excluded),
    )
    return [Point(*row) for row in reversed(found[:most])]
