"""Send several SQL statements in one message: a round trip to the database takes longer than most of them.

For what is done hundreds of times a second. Anything else uses the ORM, which builds a query in the time that PostgreSQL
takes for several.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from django.conf import settings
from django.db import connection
from django.db.models import Field, JSONField, Model
from django.db.models.base import ModelState
from django.db.models.expressions import DatabaseDefault
from psycopg.adapt import Transformer

Rows = list[tuple[Any, ...]]
AnyModel = TypeVar("AnyModel", bound=Model)
MOST_PREPARED = 200
"""Statements of a connection that PostgreSQL keeps parsed and planned."""
MOST_LETTERS = 2_000
"""Of a statement that is prepared: longer ones insert several rows, how many differs, and their plans take memory."""


class Message:
    """Statements that the database executes one after the other, each with a snapshot of its own."""

    def __init__(self) -> None:
        self._statements: list[tuple[str, Sequence[Any]]] = []

    def add(self, text: str, *values: Any) -> None:
        """Add a statement, with its values for the placeholders."""
        self._statements.append((text, values))

    def insert_rows(
        self, model: type[Model], columns: tuple[str, ...], rows: Iterable[Sequence[Any]],
        **constants: Any,
    ) -> None:  # fmt: skip
        """Add an INSERT of a few rows, with columns that are the same in each; nothing where there are none."""
        all_rows = list(rows)
        if all_rows:
            into, one = _insertion(model, columns, tuple(constants.items()))
            values = [value for row in all_rows for value in row]
            self.add(f"{into} {', '.join([one] * len(all_rows))}", *values)

    def insert(self, row: Model) -> None:
        """Add an INSERT of a row, whose defaults of the database remain unknown. Its values are those that the database has."""
        columns: list[str] = []
        values: list[Any] = []
        stored = vars(row)
        for attribute, column, field in _fields(type(row)):
            value = stored[attribute]
            if isinstance(value, DatabaseDefault) or (field.primary_key and value is None):
                continue
            columns.append(column)
            is_json = isinstance(field, JSONField)
            values.append(field.get_db_prep_save(value, connection) if is_json else value)
        self.insert_rows(type(row), tuple(columns), [values])
        row._state.adding, row._state.db = False, connection.alias

    def send(self) -> list[Rows]:
        """Execute the statements, and return the rows of each. The message is empty afterwards."""
        if not self._statements:
            return []
        statements, self._statements = self._statements, []
        results: list[Rows] = []
        with connection.cursor() as wrapped:
            cursor = wrapped.cursor
            names = {} if settings.DATABASE_POOLED else _prepared(cursor, statements)
            literal = Transformer.from_context(cursor).as_literal
            wrapped.execute(
                "; ".join(
                    [
                        f"EXECUTE {name}({_listed(map(literal, values))})"
                        if values and (name := names.get(text))
                        else cursor.mogrify(text, values)
                        for text, values in statements
                    ]
                )
            )
            while True:
                results.append(cursor.fetchall() if cursor.pgresult.nfields else [])
                if not cursor.nextset():
                    return results


_of_connections: WeakKeyDictionary[psycopg.Connection[Any], dict[str, str]] = WeakKeyDictionary()
"""Names of prepared statements by their texts; an empty one: of a statement that was sent once."""
_numbers = count(1)


def _prepared(
    cursor: psycopg.Cursor[Any], statements: Iterable[tuple[str, Sequence[Any]]]
) -> Mapping[str, str]:
    """Return the names of prepared statements by their texts, and prepare those that are sent again.

    Parsing and planning take PostgreSQL longer than executing. What a transaction has prepared outlasts it.
    """
    names = _of_connections.setdefault(cursor.connection, {})
    for text, _ in statements:
        if (name := names.get(text)) is None:
            if len(names) < MOST_PREPARED and len(text) <= MOST_LETTERS:
                names[text] = ""
        elif not name:
            name = f"perfdash_{next(_numbers)}"
            cursor.execute(f"PREPARE {name} AS {_numbered(text)}")
            names[text] = name
    return names


def _numbered(text: str) -> str:
    """Return a statement with numbers for its placeholders."""
    numbers = count(1)
    return re.sub("%[s%]", lambda m: f"${next(numbers)}" if m[0] == "%s" else "%", text)


def _listed(literals: Iterable[bytes]) -> str:
    return b", ".join(literals).decode()


@cache
def _quoted_columns(model: type[Model], columns: tuple[str, ...]) -> str:
    names = ", ".join(map(connection.ops.quote_name, columns))
    return f"{connection.ops.quote_name(model._meta.db_table)} ({names})"


@cache
def _fields(model: type[Model]) -> Sequence[tuple[str, str, "Field[Any, Any]"]]:
    """Return attribute, column and field of all columns of a model."""
    return [(field.attname, str(field.column), field) for field in model._meta.concrete_fields]


@cache
def _insertion(
    model: type[Model], columns: tuple[str, ...], constants: tuple[tuple[str, Any], ...]
) -> tuple[str, str]:
    """Return an INSERT up to its rows, and the placeholders of one."""
    names = (*columns, *(name for name, _ in constants))
    with connection.cursor() as cursor:
        fixed = [cursor.mogrify("%s", [value]).replace("%", "%%") for _, value in constants]
    places = ", ".join(["%s"] * len(columns) + fixed)
    return f"INSERT INTO {_quoted_columns(model, names)} VALUES", f"({places})"


def columns_of(model: type[Model], columns: Sequence[str]) -> str:
    """Return the table of a model with some of its columns, as INSERT and COPY take them."""
    return _quoted_columns(model, tuple(columns))


def types_of(model: type[Model], columns: Iterable[str]) -> list[str]:
    """Return PostgreSQL's types of some columns of a model, without lengths."""
    types = {field.column: field.db_type(connection) for field in model._meta.concrete_fields}
    return [str(types[column]).partition("(")[0] for column in columns]


def selected(model: type[Model], alias: str, names: Sequence[str]) -> str:
    """Return the columns of some attributes of a model for a SELECT."""
    fields = {field.attname: str(field.column) for field in model._meta.concrete_fields}
    return ", ".join(f"{alias}.{connection.ops.quote_name(fields[name])}" for name in names)


def all_names(model: type[Model]) -> tuple[str, ...]:
    """Return the attributes of all columns of a model."""
    return tuple(field.attname for field in model._meta.concrete_fields)


def loaded(model: type[AnyModel], names: Sequence[str], values: Sequence[Any]) -> AnyModel:
    """Return a row of the database as an object of its model; the other attributes are read when they are used.

    JSON has to be decoded by the caller. No signal is sent, which is most of what `from_db` does.
    """
    row = model.__new__(model)
    row.__dict__.update(zip(names, values, strict=True))
    row._state = ModelState()
    row._state.adding, row._state.db = False, connection.alias
    return row
