"""The values of one metric over time, as columns. Reads only, in one query.

PostgreSQL writes the columns as JSON: converting thousands of values in Python would cost more than the
rest of the request.
"""

from collections.abc import Mapping
from typing import NamedTuple

from django.db import connection
from django.db.models import CharField, Exists, F, Func, OuterRef, Value

from campaigns.models import Campaign, Exclusion, Measurement, Run

COLUMNS = ("at", "value", "state", "run", "cell", "censored", "bound", "excluded")
WRITTEN = ", ".join(f"coalesce(to_json(array_agg({name}))::text, '[]')" for name in COLUMNS)
AS_COLUMNS = (
    "SELECT (array_agg(unit))[count(*)::integer], (array_agg(lower_is_better))[count(*)::integer], "  # noqa: S608
    f"{WRITTEN} FROM (SELECT * FROM ({{rows}}) latest ORDER BY run) rows"
)
# Sessions of PostgreSQL are in UTC.
AT = Func(
    "attempt__run__started_at",
    Value('YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    function="to_char",
    output_field=CharField(),
)
EXCLUDED = Exists(Exclusion.objects.filter(run=OuterRef("attempt__run"), withdrawn_at=None))


class History(NamedTuple):
    """columns: of equal length, the oldest value first, each as JSON. unit: of the latest value.

    `at`: when its run began, UTC; `excluded`: by somebody, with a reason.
    """

    columns: Mapping[str, str]
    unit: str | None
    lower_is_better: bool | None


def history_of(campaign: Campaign, metric: str, *, cell: int | None = None, most: int) -> History:
    """Return the latest values that count, of measured runs. cell: the position of the only cell."""
    results = Measurement.objects.filter(
        attempt__run__campaign=campaign, attempt__run__purpose=Run.Purpose.MEASURED, metric=metric
    )
    if cell is not None:
        results = results.filter(attempt__run__cell__position=cell)
    rows, values = (
        results.that_count("-attempt__run__position")
        .values(
            *("value", "censored", "bound", "unit", "lower_is_better"),
            at=AT,
            state=F("attempt__run__state"),
            run=F("attempt__run__position"),
            cell=F("attempt__run__cell__position"),
            excluded=EXCLUDED,
        )[:most]
        .query.sql_with_params()
    )
    with connection.cursor() as cursor:
        cursor.execute(AS_COLUMNS.format(rows=rows), values)
        unit, lower_is_better, *texts = cursor.fetchone()
    return History(dict(zip(COLUMNS, texts, strict=True)), unit, lower_is_better)
