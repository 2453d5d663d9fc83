"""The values of one metric over time, as columns. Reads only, in one query."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import CharField, Exists, F, Func, OuterRef, Value

from campaigns.models import Attempt, Campaign, Exclusion, Measurement, Run

STANDING = (Attempt.State.ACCEPTED, Attempt.State.FAILED)
INSTANT = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'


class History(NamedTuple):
    """Columns of equal length. `at`: when its run began, UTC; `excluded`: by somebody, with a reason."""

    at: Sequence[str | None] = ()
    value: Sequence[float] = ()
    state: Sequence[str] = ()
    run: Sequence[int] = ()
    cell: Sequence[int] = ()
    censored: Sequence[bool] = ()
    bound: Sequence[bool] = ()
    excluded: Sequence[bool] = ()
    unit: Sequence[str] = ()
    lower_is_better: Sequence[bool] = ()


def history_of(campaign: Campaign, metric: str, *, cell: int | None = None, most: int) -> History:
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
    found: list[Any] = list(
        rows.order_by("-attempt__run__position", "-attempt__number").values_list(
            # Written by PostgreSQL, whose sessions are in UTC: a thousand instants cost Python more.
            Func(
                F("attempt__run__started_at"),
                Value(INSTANT),
                function="to_char",
                output_field=CharField(),
            ),
            "value",
            "attempt__run__state",
            "attempt__run__position",
            "attempt__run__cell__position",
            "censored",
            "bound",
            Exists(excluded),
            "unit",
            "lower_is_better",
        )[:most]
    )
    return History(*zip(*reversed(found), strict=True))
