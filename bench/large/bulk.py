"""Thousands of campaigns and millions of values, copied by the database from one that perfdash stored itself.

A row is copied with new keys: those of the template plus a multiple of their span. So nothing here names a column of a
table but those that must differ, and a change of a table needs no change here.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import AutoField, Field, Model

from bench.submissions.data import BEGINNING
from campaigns.findings.compute import analyse
from campaigns.models import (
    Attempt,
    Block,
    Campaign,
    Cell,
    EffectiveSetting,
    EnvironmentFact,
    Factor,
    Finding,
    Level,
    LogLine,
    Measurement,
    Phase,
    Proof,
    PublishedAnswer,
    Run,
    Session,
)
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.receiving import create

ATTEMPTS_AT_ONCE = 500
OF_CAMPAIGN = "SELECT id FROM campaigns_campaign WHERE id = %s"
FACTORS = "SELECT id FROM campaigns_factor WHERE campaign_id = %s"
CELLS = "SELECT id FROM campaigns_cell WHERE campaign_id = %s"
ATTEMPTS = "SELECT a.id FROM campaigns_attempt a JOIN campaigns_run r ON r.id = a.run_id WHERE r.campaign_id = %s"
TABLES: Sequence[tuple[type[Model], str, str]] = (
    (Campaign, "id", OF_CAMPAIGN),
    *((model, "campaign_id", OF_CAMPAIGN) for model in (Factor, Cell, Session, Block, Run)),
    (Level, "factor_id", FACTORS),
    (Cell.levels.through, "cell_id", CELLS),
    (Attempt, "id", ATTEMPTS),
    *(
        (model, "attempt_id", ATTEMPTS)
        for model in (Measurement, Phase, Proof, EffectiveSetting, EnvironmentFact)
    ),
    *((model, "campaign_id", OF_CAMPAIGN) for model in (LogLine, Finding, PublishedAnswer)),
)
"""The tables of a campaign, each with the column by which its rows are found; a table comes after those that it names."""
CHANGED: Mapping[tuple[str, str], str] = {
    ("campaigns_campaign", "name"): "left(t.name, 100) || ' ' || g",
    (
        "campaigns_campaign",
        "external_id",
    ): "CASE t.external_id WHEN '' THEN '' ELSE left(t.external_id, 80) || ' ' || g END",
    ("campaigns_campaign", "question"): "left(t.question, 400) || ' ' || g",
    ("campaigns_campaign", "created_at"): "t.created_at - g * interval '1 hour'",
    ("campaigns_finding", "computed_at"): "t.computed_at - g * interval '1 hour'",
    ("campaigns_publishedanswer", "computed_at"): "t.computed_at - g * interval '1 hour'",
    ("campaigns_measurement", "value"): "t.value * (1 + g %% 20 * 0.001)",
}
"""Expressions of columns that are not the same in each copy; `g` is its number."""


Steps = Mapping[type[Model], tuple[int, int]]
"""Of each table what the keys of a copy are larger by: a constant, and as much again for each copy."""


@transaction.atomic
def copy_campaign(campaign: int, copies: int) -> None:
    """Store copies of a campaign with all that it measured and found, each an hour older than the one before."""
    with connection.cursor() as cursor:
        steps = _steps(cursor, campaign)
        for model, column, rows in TABLES:
            table = model._meta.db_table
            fields = [field for field in model._meta.local_concrete_fields if field.column]
            columns = ", ".join(f'"{field.column}"' for field in fields)
            values = ", ".join(_value(table, field, steps) for field in fields)
            key = ", ".join(f't."{field.column}"' for field in model._meta.pk_fields)
            cursor.execute(
                f"INSERT INTO {table} ({columns}) SELECT {values} FROM {table} t, generate_series(1, %s) g"  # noqa: S608
                f" WHERE t.{column} IN ({rows}) ORDER BY g, {key}",  # as they would have come in
                [copies, campaign],
            )
            if model in steps:
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"  # noqa: S608
                )
            cursor.execute(f"ANALYZE {table}")


def many_values(runs: int, metrics: int) -> tuple[int, int]:
    """Store a campaign of runs with so many metrics, analysed by the first of them.

    Return its number, and that of its values. Raise where that is not what was asked for.
    """
    names = [f"suite/test{number:04d}" for number in range(metrics)]
    document = {
        "id": f"{runs} runs of {metrics} values",
        "campaign": {"question": f"Do {metrics} tests stay as fast?"},
        "metrics": {name: {"unit": "s", "lower_is_better": True} for name in names},
        "runs": [
            {
                "tags": {"machine": "a" if number % 2 else "b"},
                "values": dict.fromkeys(names[: 1 if number else None], 1.0 + number % 7 / 100),
                "started_at": (BEGINNING + timedelta(minutes=number)).isoformat(),
            }
            for number in range(runs)
        ],
    }
    campaign = create(read_submission(document), None).campaign
    analyse(campaign)
    _copy_values(campaign)
    values = Measurement.objects.filter(attempt__run__campaign=campaign).count()
    if values != runs * metrics:
        raise ValueError(f"{values:,} values are stored, not {runs * metrics:,}.")
    return campaign.pk, values


def _copy_values(campaign: Campaign) -> None:
    """Give each run of a campaign those values of its first one that it lacks."""
    accepted = Attempt.objects.filter(run__campaign=campaign, state=Attempt.State.ACCEPTED)
    first, *lacking = accepted.order_by("run__position").values_list("pk", flat=True)
    fields = [field.column for field in Measurement._meta.local_concrete_fields if field.column]
    key = next(name for name in fields if name.startswith("metric"))
    changed = {"attempt_id": "g", "value": CHANGED["campaigns_measurement", "value"]}
    columns = ", ".join(f'"{name}"' for name in fields)
    values = ", ".join(changed.get(name, f't."{name}"') for name in fields)
    with connection.cursor() as cursor:
        for start in range(0, len(lacking), ATTEMPTS_AT_ONCE):
            cursor.execute(
                f"INSERT INTO campaigns_measurement ({columns}) SELECT {values}"  # noqa: S608
                " FROM unnest(%s::bigint[]) g, campaigns_measurement t WHERE t.attempt_id = %s"
                f" AND t.{key} NOT IN (SELECT {key} FROM campaigns_measurement WHERE attempt_id = %s)"
                f" ORDER BY g, t.{key}",  # as they would have come in
                [lacking[start : start + ATTEMPTS_AT_ONCE], first, lacking[-1]],
            )
        cursor.execute("VACUUM ANALYZE")


def _steps(cursor: Any, campaign: int) -> Steps:
    """Return the steps of keys, so that copies begin after all keys in use."""
    steps = {}
    for model, column, rows in TABLES:
        if isinstance(model._meta.pk, AutoField):
            table = model._meta.db_table
            cursor.execute(
                f"SELECT min(id), max(id) + 1, (SELECT max(id) FROM {table}) FROM {table}"  # noqa: S608
                f" WHERE {column} IN ({rows})",
                [campaign],
            )
            least, end, last = cursor.fetchone()
            if least is not None:
                steps[model] = (last + 1 - end, end - least)
    return steps


def _value(table: str, field: "Field[Any, Any]", steps: Steps) -> str:
    """Return the expression of a column of a copy."""
    column = str(field.column)
    if (table, column) in CHANGED:
        return CHANGED[table, column]
    named = field.related_model if field.is_relation else field.model if field.primary_key else None
    if named is None or named not in steps:
        return f't."{column}"'
    base, step = steps[named]
    return f't."{column}" + {base} + {step} * g'
