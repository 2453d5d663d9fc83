"""The values of one metric over time, as columns. Reads only, in one query.

PostgreSQL writes the columns as JSON: to take thousands of values apart and to write them again
would cost Python more than all the rest of a request.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import connection

from campaigns.models import Attempt, Campaign, Run

COLUMNS = ("at", "value", "state", "run", "cell", "censored", "bound", "excluded")
WRITTEN = ", ".join(f"coalesce(to_json(array_agg({name}))::text, '[]')" for name in COLUMNS)
# Sessions of PostgreSQL are in UTC.
SQL = f"""
SELECT (array_agg(unit))[count(*)::integer], (array_agg(lower_is_better))[count(*)::integer],
       {WRITTEN}
FROM (
    SELECT * FROM (
        SELECT to_char(r.started_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at,
               m.value, r.state, r.position AS run, c.position AS cell, m.censored, m.bound,
               EXISTS (
                   SELECT FROM campaigns_exclusion e WHERE e.run_id = r.id AND e.withdrawn_at IS NULL
               ) AS excluded,
               m.unit, m.lower_is_better, a.number
        FROM campaigns_run r
        JOIN campaigns_cell c ON c.id = r.cell_id
        JOIN campaigns_attempt a ON a.run_id = r.id
        JOIN campaigns_measurement m ON m.attempt_id = a.id
        WHERE r.campaign_id = %(campaign)s AND r.purpose = %(purpose)s AND a.state = ANY(%(states)s)
          AND m.metric = %(metric)s AND (%(cell)s::integer IS NULL OR c.position = %(cell)s)
        ORDER BY r.position DESC, a.number DESC
        LIMIT %(most)s
    ) latest
    ORDER BY run, number
) rows
"""  # noqa: S608


class History(NamedTuple):
    """columns: of equal length, the oldest value first, each as JSON. unit: of the latest value.

    `at`: when its run began, UTC; `excluded`: by somebody, with a reason.
    """

    columns: Mapping[str, str]
    unit: str | None
    lower_is_better: bool | None


def history_of(campaign: Campaign, metric: str, *, cell: int | None = None, most: int) -> History:
    """Read the latest values of measured runs; `cell`: only of its position."""
    asked: dict[str, Any] = {
        "campaign": campaign.pk,
        "metric": metric,
        "cell": cell,
        "most": most,
        "purpose": Run.Purpose.MEASURED.value,
        "states": [Attempt.State.ACCEPTED.value, Attempt.State.FAILED.value],
    }
    with connection.cursor() as cursor:
        cursor.execute(SQL, asked)
        unit, lower_is_better, *texts = cursor.fetchone()
    return History(dict(zip(COLUMNS, texts, strict=True)), unit, lower_is_better)
