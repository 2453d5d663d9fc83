"""Rows of fixtures that are made once in a process, and inserted again for each later test.

To launch, measure and analyse a campaign takes ten times as long as to insert its rows. `remembered` calls a function that
makes rows, and keeps what it has inserted into any table, and changed there. Later it does the same to the database, with
the same keys. It makes the rows anew where they might not be the same: settings differ, or any table has other rows than it
had then, or something else is patched by `monkeypatch`. What the function does beside rows (a kind that is registered) is
not done again, but for callbacks of the transaction: leave it to the fixture.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import count
from pathlib import Path
from time import monotonic
from types import NoneType
from typing import Any, TypeVar, cast
from weakref import WeakSet

import pytest
from django.apps import apps
from django.conf import UserSettingsHolder, settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import IntegrityError, connection, transaction
from django.db.models import Field, Model
from psycopg import sql

from campaigns.kit import rates
from campaigns.models import ApiToken, AuditEvent, Membership, Team, Worker
from campaigns.models.teams import default_team

Made = TypeVar("Made")
Row = tuple[str | None, ...]
Rows = Mapping[str, frozenset[Row]]

MOST_SECONDS = 600.0
"""How old rows may be: nothing that a page says of a time may depend on it."""
MOST_MISSES = 5
"""More often than this, and than they were of use, rows are not kept: what they rest on is another one each time."""
PLAIN = (bool, int, float, str, bytes, Path, timedelta, NoneType)
MOST_KEPT = 60
"""Of one function, with different arguments: those of a large campaign take some hundred KB."""
APART = {
    model._meta.db_table for model in (User, Membership, ApiToken, AuditEvent, Session, Worker)
}
"""Tables whose other rows change nothing: people that came before, how they come in and what they did, who is present."""
CONSTANT = {"django_content_type", "auth_permission"}
NOT_COMPARED = {("auth_user", "last_login")}


@dataclass(frozen=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    keys: tuple[int, ...]
    refers: tuple[tuple[int, str], ...]

    @property
    def selected(self) -> str:
        """A SELECT of all rows: the name of the table, and its columns as text."""
        texts = (
            "NULL" if (self.name, column) in NOT_COMPARED else f'"{column}"::text'
            for column in self.columns
        )
        return f"SELECT '{self.name}', ARRAY[{', '.join(texts)}] FROM \"{self.name}\""  # noqa: S608


@dataclass(frozen=True)
class _Memory:
    """others: digests of the tables before; people: the rows of those whom the rows belong to, and their roles."""

    made: Any
    statement: str
    others: tuple[str | None, ...]
    people: Rows
    callbacks: Sequence[Callable[[], object]]
    kept_at: float


@dataclass
class _Place:
    """What is kept of one function."""

    memories: dict[Any, list[_Memory]]
    misses: int = 0
    hits: int = 0


_places: dict[tuple[str, str], _Place] = {}

patched_by: pytest.MonkeyPatch | None = None
"""What the running test patches with."""


def remembered(make: Callable[..., Made], *given: Any) -> Made:
    """Return what `make(*given)` returns: rows of models, or tuples of them.

    given: rows, and what `repr` tells apart. `make` may use nothing else that differs between tests.
    """
    if make is not default and not Team.objects.filter(is_default=True).exists():
        remembered(default)
    place = _places.setdefault((make.__module__, make.__qualname__), _Place({}))
    memories = place.memories.setdefault((_told(given), _surroundings()), [])
    memories[:] = [each for each in memories if monotonic() - each.kept_at < MOST_SECONDS]
    others = _digests()
    for memory in memories:
        if memory.others == others and _people_are_there(memory) and _do_again(memory):
            place.hits += 1
            for callback in memory.callbacks:
                transaction.on_commit(callback)
            return cast("Made", _found(memory.made))
    if place.misses > MOST_MISSES + place.hits:
        return make(*given)
    place.misses += 1
    with transaction.atomic():
        before, waiting = _rows(_tables()), len(connection.run_on_commit)
        made = make(*given)
        callbacks = [entry[1] for entry in connection.run_on_commit[waiting:]]
        memories.append(_memory(made, others, before, _rows(_tables()), callbacks))
    if len(place.memories) > MOST_KEPT:
        del place.memories[next(iter(place.memories))]
    return made


def default() -> Team:
    """The team that everything belongs to: first, so that its key is the same whatever comes first then."""
    return Team.objects.get(pk=default_team())


def _surroundings() -> tuple[Any, ...]:
    """What changes rows without being one: settings that are overridden, and what is patched."""
    found: dict[str, str] = {}
    holder: Any = vars(settings)["_wrapped"]
    while isinstance(holder, UserSettingsHolder):
        own = {name: repr(value) for name, value in vars(holder).items() if name.isupper()}
        found = own | found
        holder = holder.default_settings
    return (connection.settings_dict["NAME"], *sorted(found.items()), *_patches())


def _patches() -> list[tuple[str, ...]]:
    """What is patched, and by which value: of a function, which does other things in each test, one that never comes again."""
    if patched_by is None:
        return []
    found: list[tuple[str, ...]] = []
    for target, name, _ in patched_by._setattr:
        if (target, name) != (rates, "PREFIX") and target is not sys.modules[__name__]:
            found.append((str(target), name, _plain(getattr(target, name, None))))
    for mapping, key, _ in patched_by._setitem:
        found.append((str(id(mapping)), str(key), _plain(dict(mapping).get(key))))
    return found


def _plain(value: object) -> str:
    return repr(value) if isinstance(value, PLAIN) else f"number {next(_numbers)}"


_numbers = count()


def _told(value: Any) -> Any:
    """Return a value without rows, but with their models and keys."""
    if isinstance(value, Model):
        return (type(value), value.pk)
    if isinstance(value, tuple):
        return tuple(map(_told, value))
    return repr(value)


def _found(told: Any) -> Any:
    """Return the rows that were told."""
    if isinstance(told[0], type):
        model, key = told
        return model._base_manager.get(pk=key)
    return tuple(map(_found, told))


def _people_are_there(memory: _Memory) -> bool:
    tables = _tables()
    now = _rows({name: tables[name] for name, rows in memory.people.items() if rows})
    return all(memory.people[name] <= rows for name, rows in now.items())


def _do_again(memory: _Memory) -> bool:
    """Insert and change the rows; whether none of them has met another one."""
    if memory.statement:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(memory.statement)
        except IntegrityError:
            return False
    return True


def _memory(
    made: Any,
    others: tuple[str | None, ...],
    before: Rows,
    after: Rows,
    callbacks: Sequence[Callable[[], object]],
) -> _Memory:
    tables = _tables()
    new = {name: rows for name in tables if (rows := after[name] - before[name])}
    gone = {name: rows for name in tables if (rows := before[name] - after[name])}
    people = _people(new, before)
    return _Memory(_told(made), _statement(new, gone), others, people, callbacks, monotonic())


def _people(new: Rows, before: Rows) -> Rows:
    """Return the accounts that rows refer to, and their roles: what they may do decides what they can make."""
    tables, users = _tables(), User._meta.db_table
    keys = {
        row[column]
        for name, rows in new.items()
        for column, other in tables[name].refers
        if other == users
        for row in rows
    }
    members = tables[Membership._meta.db_table]
    (user,) = (column for column, other in members.refers if other == users)
    return {
        users: frozenset(row for row in before[users] if row[tables[users].keys[0]] in keys),
        members.name: frozenset(row for row in before[members.name] if row[user] in keys),
    }


def _statement(new: Rows, gone: Rows) -> str:
    """Return what changes the rows in the same way. With triggers off the order is free, and no rule is asked again."""
    if not new and not gone:
        return ""
    tables = _tables()
    parts = ["SET LOCAL session_replication_role = replica"]
    for name, rows in gone.items():
        table = tables[name]
        columns = ", ".join(f'"{table.columns[number]}"' for number in table.keys)
        keys = ", ".join(_values(row[number] for number in table.keys) for row in rows)
        parts.append(f'DELETE FROM "{name}" WHERE ({columns}) IN ({keys})')  # noqa: S608
    for name, rows in new.items():
        columns = ", ".join(f'"{column}"' for column in tables[name].columns)
        values = ", ".join(map(_values, sorted(rows, key=_by_key(tables[name]))))
        parts.append(f'INSERT INTO "{name}" ({columns}) VALUES {values}')  # noqa: S608
    return "; ".join([*parts, "SET LOCAL session_replication_role = origin"])


def _values(row: Iterable[str | None]) -> str:
    literals = (sql.Literal(value).as_string(connection.connection) for value in row)
    return f"({', '.join(literals)})"


def _by_key(table: _Table) -> Callable[[Row], list[tuple[int, str]]]:
    """Sort as they were made: a query without an order gives them as they were inserted."""

    def place(row: Row) -> list[tuple[int, str]]:
        keys = [row[number] or "" for number in table.keys]
        return [(int(key) if key.isdigit() else 0, key) for key in keys]

    return place


def _rows(tables: Mapping[str, _Table]) -> dict[str, frozenset[Row]]:
    """Return all rows of some tables as texts."""
    found: dict[str, set[Row]] = {name: set() for name in tables}
    if tables:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(table.selected for table in tables.values()))
            for name, row in cursor.fetchall():
                found[name].add(tuple(row))
    return {name: frozenset(rows) for name, rows in found.items()}


def _digests() -> tuple[str | None, ...]:
    """Return a digest of each table but those apart; None of one without rows.

    To plan this takes longer than to execute it.
    """
    with connection.cursor() as cursor:
        if cursor.connection not in _prepared:
            cursor.execute(f"PREPARE digests_of_tables AS {_digesting()}")
            _prepared.add(cursor.connection)
        cursor.execute("EXECUTE digests_of_tables")
        return tuple(cursor.fetchone())


_prepared: WeakSet[Any] = WeakSet()


@cache
def _digesting() -> str:
    digests = (
        f"(SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM \"{name}\" t)"  # noqa: S608
        for name in _tables()
        if name not in APART
    )
    present = (
        f"(SELECT string_agg(name || pools::text, ' ' ORDER BY name) FROM {Worker._meta.db_table})"  # noqa: S608
    )
    return f"SELECT {', '.join(digests)}, {present}"


@cache
def _tables() -> Mapping[str, _Table]:
    """Return the tables of all models, but of what only migrations fill."""
    models = apps.get_models(include_auto_created=True)
    found = (_table(model) for model in models if model._meta.managed and not model._meta.proxy)
    return {table.name: table for table in found if table.name not in CONSTANT}


def _table(model: type[Model]) -> _Table:
    fields: list[Field[Any, Any]] = [
        field for field in model._meta.concrete_fields if not getattr(field, "generated", False)
    ]
    return _Table(
        name=model._meta.db_table,
        columns=tuple(str(field.column) for field in fields),
        keys=tuple(fields.index(field) for field in model._meta.pk_fields),
        refers=tuple(
            (number, field.related_model._meta.db_table)
            for number, field in enumerate(fields)
            if field.is_relation and isinstance(field.related_model, type)
        ),
    )
