"""The values of one metric over time, as columns. Reads only, in one query.

PostgreSQL writes the columns as JSON: converting thousands of values in Python would cost more than the
rest of the request.
"""

from collections.abc import Mapping
from typing import NamedTuple

from django.db import connection

from campaigns.models import Campaign

COLUMNS = ("at", "value", "state", "run", "cell", "censored", "bound", "excluded")
WRITTEN = ", ".join(f"coalesce(to_json(array_agg({name}))::text, '[]')" for name in COLUMNS)
LATEST = """
    SELECT
        to_char(r.started_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, v.value, r.state, r.position AS run,
        c.position AS cell, v.censored, v.bound, k.unit, k.lower_is_better,
        EXISTS (SELECT FROM campaigns_exclusion x WHERE x.run_id = r.id AND x.withdrawn_at IS NULL) AS excluded
    FROM campaigns_run r
    JOIN campaigns_cell c ON c.id = r.cell_id
    CROSS JOIN LATERAL (
        SELECT m.* FROM campaigns_attempt a JOIN campaigns_measurement m ON m.attempt_id = a.id
        WHERE a.run_id = r.id AND a.state IN ('accepted', 'failed')
            AND m.metric_id = ANY(ARRAY(SELECT id FROM campaigns_storedmetric WHERE name = %(metric)s))
        ORDER BY a.state <> 'accepted', a.number DESC LIMIT 1
    ) v
    JOIN campaigns_storedmetric k ON k.id = v.metric_id
    WHERE r.campaign_id = %(campaign)s AND r.purpose = 'measured' AND r.state IN ('done', 'failed') {of_cell}
    ORDER BY r.position DESC LIMIT %(most)s
"""
"""The rule of `MeasurementQuerySet.that_count`, run by run from the latest: the others are not looked at.

Sessions of PostgreSQL are in UTC.
"""
OF_CELL = "AND r.cell_id = (SELECT id FROM campaigns_cell WHERE campaign_id = %(campaign)s AND position = %(cell)s)"
AS_COLUMNS = (
    "SELECT (array_agg(unit))[count(*)::integer], (array_agg(lower_is_better))[count(*)::integer], "  # noqa: S608
    f"{WRITTEN} FROM (SELECT * FROM ({{latest}}) latest ORDER BY run) rows"
)


class History(NamedTuple):
    """columns: of equal length, the oldest value first, each as JSON. unit: of the latest value.

    `at`: when its run began, UTC; `excluded`: by somebody, with a reason.
    """

    columns: Mapping[str, str]
    unit: str | None
    lower_is_better: bool | None


def history_of(campaign: Campaign, metric: str, *, cell: int | None = None, most: int) -> History:
    """Return the latest values that count, of measured runs. cell: the position of the only cell."""
    latest = LATEST.format(of_cell="" if cell is None else OF_CELL)
    values: dict[str, str | int | None] = {
        "campaign": campaign.pk,
        "metric": metric,
        "cell": cell,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(AS_COLUMNS.format(latest=latest), values)
        unit, lower_is_better, *texts = cursor.fetchone()
    return History(dict(zip(COLUMNS, texts, strict=True)), unit, lower_is_better)
