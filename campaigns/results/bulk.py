"""Store runs that were measured elsewhere, with a number of queries that does not grow with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, models
from msgspec import Struct
from psycopg.types.json import Jsonb

from campaigns.kinds.base import SIMULATOR
from campaigns.kit.mappings import Json
from campaigns.kit.redaction import storable
from campaigns.kit.statements import Message, columns_of, types_of
from campaigns.models import Attempt, Campaign, Cell, EnvironmentFact, Measurement, Run
from campaigns.results.storing import MOST_LETTERS

WORKER = "import"
FEW = 100
"""Up to so many rows INSERT is used; for more, COPY is quicker."""
Table = tuple[type[models.Model], tuple[str, ...], Iterable[tuple[Any, ...]], dict[str, Any]]
"""A model, its columns, their values in each row, and further columns that have the same value in each."""


class ReceivedRun(Struct, frozen=True, gc=False):
    """A run that was measured elsewhere, with its cell, block and position.

    values: each with the key of its metric, and whether it is a lower limit. context: facts of its environment, as text. lost: nothing was observed.
    """

    cell: int
    block: int
    position: int
    values: Sequence[tuple[int, float, bool]]
    failed: bool = False
    lost: bool = False
    reason: str = ""
    external_id: str = ""
    info: Json | None = None
    context: Mapping[str, str] = {}
    started_at: datetime | None = None
    finished_at: datetime | None = None
    units_done: int = 0
    units_failed: int = 0


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys that are reserved for new runs, their attempts, and blocks of few runs."""

    runs: Sequence[int]
    attempts: Sequence[int]
    blocks: Sequence[int] = ()


def store_received(
    campaign: Campaign,
    runs: Sequence[ReceivedRun],
    keys: Keys,
    received_at: datetime,
    message: Message,
) -> int:
    """Store runs with one closed attempt each, and return the number of values.

    received_at: replaces unknown instants. message: sent before many rows; few become part of it. The caller holds the
    transaction, and has checked cells, blocks and positions.
    """
    keyed = list(zip(keys.attempts, runs, strict=False))
    run_keys = keys.runs[: len(runs)]
    values = [
        (attempt, value, metric, censored)
        for attempt, run in keyed
        for metric, value, censored in run.values
    ]
    tables: list[Table] = [
        (
            Run, _RUN, (_run(campaign, *row) for row in zip(run_keys, runs, strict=True)),
            _OF_ALL_RUNS,
        ),
        (
            Attempt, _ATTEMPT,
            (_attempt(*row, received_at) for row in zip(keys.attempts, run_keys, runs, strict=False)),
            _OF_ALL_ATTEMPTS,
        ),
        (Measurement, _MEASUREMENT, values, _OF_ALL_VALUES),
        (EnvironmentFact, _FACT, _facts(keyed), _OF_ALL_FACTS),
    ]  # fmt: skip
    if len(runs) + len(values) <= FEW:
        for model, columns, rows, constants in tables:
            message.insert_rows(model, columns, rows, **constants)
    else:
        message.send()
        _copy(tables)
    return len(values)


def count_received(cells: Sequence[Cell], message: Message) -> None:
    """Store how many runs each cell has received."""
    if cells:
        message.add(
            "UPDATE campaigns_cell SET received = counted.received"
            " FROM unnest(%s::bigint[], %s::integer[]) AS counted (id, received)"
            " WHERE campaigns_cell.id = counted.id",
            [cell.pk for cell in cells],
            [cell.received for cell in cells],
        )


_RUN = (
    *("id", "campaign_id", "cell_id", "block_id", "position", "state", "reason", "started_at"),
    *("finished_at", "external_id", "info"),
)
_OF_ALL_RUNS = {"purpose": str(Run.Purpose.MEASURED), "attempts_allowed": 1}
_ATTEMPT = (
    *("id", "run_id", "state", "reason", "queued_at", "claimed_at", "measure_started_at"),
    *("measure_finished_at", "finished_at", "units_done", "units_failed", "simulator"),
)
_OF_ALL_ATTEMPTS = {
    "number": 1,
    "phase": "",
    "traceback": "",
    "pool": "",
    "worker": WORKER,
    "host": "",
    "token": 0,
    "failures": Jsonb({}, dumps=lambda _: "{}"),
    "facts_unread": "",
    "health": "",
    "health_reasons": Jsonb([], dumps=lambda _: "[]"),
    "health_figures": Jsonb({}, dumps=lambda _: "{}"),
}
_MEASUREMENT = ("attempt_id", "value", "metric_id", "censored")
_OF_ALL_VALUES = {"bound": False}
_OF_ATTEMPT = {
    Run.State.DONE: Attempt.State.ACCEPTED,
    Run.State.FAILED: Attempt.State.FAILED,
    Run.State.VOID: Attempt.State.VOID,
}
_FACT = ("attempt_id", "name", "value")
_OF_ALL_FACTS = {"side": str(EnvironmentFact.Side.TARGET), "value_after": ""}


def _run(campaign: Campaign, key: int, run: ReceivedRun) -> tuple[Any, ...]:
    return (
        *(key, campaign.pk, run.cell, run.block, run.position, str(_state(run)), run.reason),
        *(run.started_at, run.finished_at, run.external_id),
        Jsonb(run.info) if run.info else None,
    )


def _state(run: ReceivedRun) -> Run.State:
    if run.failed:
        return Run.State.FAILED
    return Run.State.VOID if run.lost else Run.State.DONE


def _attempt(key: int, run_key: int, run: ReceivedRun, received_at: datetime) -> tuple[Any, ...]:
    began = run.started_at or run.finished_at or received_at
    ended = run.finished_at or run.started_at or received_at
    return (
        *(key, run_key, str(_OF_ATTEMPT[_state(run)]), run.reason),
        *(began, began, run.started_at, run.finished_at),
        *(ended, run.units_done, run.units_failed),
        storable(run.context.get(SIMULATOR, ""))[:MOST_LETTERS],
    )


def _facts(runs: Iterable[tuple[int, ReceivedRun]]) -> Iterator[tuple[Any, ...]]:
    for key, run in runs:
        for name, value in run.context.items():
            yield (key, name, value)


def _copy(tables: Iterable[Table]) -> None:
    """Store rows. As binary, since to write and to read an instant as text takes longer than the rest of a row."""
    with connection.cursor() as cursor:
        for model, columns, rows, constants in tables:
            names = (*columns, *constants)
            same = tuple(constants.values())
            with cursor.copy(f"COPY {columns_of(model, names)} FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(types_of(model, names))
                for row in rows:
                    copy.write_row(row + same)
