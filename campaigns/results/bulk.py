"""Store runs that were measured elsewhere, with a number of queries that does not grow with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, models
from psycopg.types.json import Jsonb

from campaigns.kinds.base import STAND_IN
from campaigns.kit.mappings import Json
from campaigns.kit.redaction import storable
from campaigns.models import (
    Attempt,
    Campaign,
    Cell,
    EnvironmentFact,
    Measurement,
    Run,
    StoredMetric,
)
from campaigns.results.storing import MOST_LETTERS, Value, metric_of

WORKER = "import"
FEW = 100
"""Up to so many rows INSERT is used; for more, COPY is quicker."""
Table = tuple[type[models.Model], Sequence[str], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class ReceivedRun:
    """A run that was measured elsewhere, with its cell, block and position.

    context: facts of its environment, as text. lost: nothing was observed.
    """

    cell: int
    block: int
    position: int
    values: Sequence[Value]
    failed: bool = False
    lost: bool = False
    reason: str = ""
    external_id: str = ""
    info: Json | None = None
    context: Mapping[str, str] = field(default_factory=dict)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    units_done: int = 0
    units_failed: int = 0


def store_received(campaign: Campaign, runs: Sequence[ReceivedRun], received_at: datetime) -> int:
    """Store runs with one closed attempt each, and return the number of values.

    received_at: replaces unknown instants. The caller holds the transaction, and has checked cells, blocks
    and positions.
    """
    run_keys, attempt_keys = _next_keys(len(runs))
    keyed = list(zip(attempt_keys, runs, strict=True))
    metrics = StoredMetric.objects.keys_of(metric_of(v) for run in runs for v in run.values)
    values = [
        (key, v.value, metrics[metric_of(v)], v.censored, v.bound)
        for key, run in keyed
        for v in run.values
    ]
    store = _insert if len(runs) + len(values) <= FEW else _copy
    store(
        [
            (Run, _RUN, (_run(campaign, *row) for row in zip(run_keys, runs, strict=True))),
            (
                Attempt,
                _ATTEMPT,
                (
                    _attempt(key, of, run, received_at)
                    for of, (key, run) in zip(run_keys, keyed, strict=True)
                ),
            ),
            (Measurement, _MEASUREMENT, values),
            (EnvironmentFact, _FACT, _facts(keyed)),
        ]
    )
    return len(values)


def count_received(cells: Sequence[Cell]) -> None:
    """Store how many runs each cell has received."""
    if cells:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE campaigns_cell SET received = counted.received"
                " FROM unnest(%s::bigint[], %s::integer[]) AS counted (id, received)"
                " WHERE campaigns_cell.id = counted.id",
                [[cell.pk for cell in cells], [cell.received for cell in cells]],
            )


_RUN = (
    *("id", "campaign_id", "cell_id", "block_id", "position", "purpose", "state", "reason"),
    *("started_at", "finished_at", "attempts_allowed", "external_id", "info"),
)
_ATTEMPT = (
    *("id", "run_id", "number", "state", "phase", "reason", "traceback", "pool", "worker", "host"),
    *("token", "queued_at", "claimed_at", "measure_started_at", "measure_finished_at"),
    *("finished_at", "units_done", "units_failed", "failures", "stand_in", "facts_unread"),
    *("health", "health_reasons", "health_figures"),
)
_MEASUREMENT = ("attempt_id", "value", "metric_id", "censored", "bound")
_OF_ATTEMPT = {
    Run.State.DONE: Attempt.State.ACCEPTED,
    Run.State.FAILED: Attempt.State.FAILED,
    Run.State.VOID: Attempt.State.VOID,
}
_FACT = ("attempt_id", "side", "name", "value", "value_after")


def _run(campaign: Campaign, key: int, run: ReceivedRun) -> tuple[Any, ...]:
    return (
        *(key, campaign.pk, run.cell, run.block, run.position, str(Run.Purpose.MEASURED)),
        *(str(_state(run)), run.reason),
        *(run.started_at, run.finished_at, 1, run.external_id),
        Jsonb(run.info) if run.info else None,
    )


def _state(run: ReceivedRun) -> Run.State:
    if run.failed:
        return Run.State.FAILED
    return Run.State.VOID if run.lost else Run.State.DONE


def _attempt(key: int, run_key: int, run: ReceivedRun, received_at: datetime) -> tuple[Any, ...]:
    state = _OF_ATTEMPT[_state(run)]
    began = run.started_at or run.finished_at or received_at
    ended = run.finished_at or run.started_at or received_at
    return (
        *(key, run_key, 1, str(state), "", run.reason, "", "", WORKER, ""),
        *(0, began, began, run.started_at, run.finished_at),
        *(ended, run.units_done, run.units_failed, "{}"),
        *(storable(run.context.get(STAND_IN, ""))[:MOST_LETTERS], ""),
        *("", "[]", "{}"),
    )


def _facts(runs: Iterable[tuple[int, ReceivedRun]]) -> Iterator[tuple[Any, ...]]:
    side = str(EnvironmentFact.Side.TARGET)
    for key, run in runs:
        for name, value in run.context.items():
            yield (key, side, name, value, "")


def _next_keys(count: int) -> tuple[list[int], list[int]]:
    """Reserve keys for runs and for their attempts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval('campaigns_run_id_seq'), nextval('campaigns_attempt_id_seq')"
            " FROM generate_series(1, %s)",
            [count],
        )
        rows = cursor.fetchall()
    return [run for run, _ in rows], [attempt for _, attempt in rows]


def _copy(tables: Iterable[Table]) -> None:
    with connection.cursor() as cursor:
        for model, columns, rows in tables:
            with cursor.copy(f"COPY {_named(model, columns)} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)


def _insert(tables: Iterable[Table]) -> None:
    """Insert a few rows in one message, since the round trip to the database takes longer than they do."""
    statements, values = [], []
    for model, columns, rows in tables:
        results = list(rows)
        if results:
            places = f"({', '.join(['%s'] * len(columns))})"
            statements.append(
                f"INSERT INTO {_named(model, columns)} VALUES {', '.join([places] * len(results))}"  # noqa: S608
            )
            values += [value for row in results for value in row]
    if statements:
        with connection.cursor() as cursor:
            cursor.execute("; ".join(statements), values)


def _named(model: type[models.Model], columns: Sequence[str]) -> str:
    names = ", ".join(connection.ops.quote_name(column) for column in columns)
    return f"{connection.ops.quote_name(model._meta.db_table)} ({names})"
