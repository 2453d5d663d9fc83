"""Send several SQL statements in one message: a round trip to the database takes longer than most of them.

For what is done hundreds of times a second. Anything else uses the ORM, which builds a query in the time that PostgreSQL
takes for several.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model
from django.db.models.expressions import DatabaseDefault

Rows = list[tuple[Any, ...]]
AnyModel = TypeVar("AnyModel", bound=Model)


class Message:
    """Statements that the database executes one after the other, each with a snapshot of its own."""

    def __init__(self) -> None:
        self._statements: list[tuple[str, Sequence[Any]]] = []

    def add(self, text: str, *values: Any) -> None:
        """Add a statement, with its values for the placeholders."""
        self._statements.append((text, values))

    def insert_rows(
        self, model: type[Model], columns: tuple[str, ...], rows: Iterable[Sequence[Any]],
        **constants: str | int,
    ) -> None:  # fmt: skip
        """Add an INSERT of a few rows, with columns that are the same in each; nothing where there are none."""
        all_rows = list(rows)
        if all_rows:
            into, one = _insertion(model, columns, tuple(constants.items()))
            values = [value for row in all_rows for value in row]
            self.add(f"{into} {', '.join([one] * len(all_rows))}", *values)

    def insert(self, row: Model) -> None:
        """Add an INSERT of a row, whose defaults of the database remain unknown."""
        columns: list[str] = []
        values: list[Any] = []
        for field in row._meta.concrete_fields:
            value = getattr(row, field.attname)
            if isinstance(value, DatabaseDefault) or (field.primary_key and value is None):
                continue
            columns.append(str(field.column))
            values.append(field.get_db_prep_save(value, connection))
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
            # Each by itself: psycopg remembers how it parsed a text, unless that is a long one.
            wrapped.execute("; ".join([cursor.mogrify(*each) for each in statements]))
            while True:
                results.append(cursor.fetchall() if cursor.pgresult.nfields else [])
                if not cursor.nextset():
                    return results


@cache
def _quoted_columns(model: type[Model], columns: tuple[str, ...]) -> str:
    names = ", ".join(map(connection.ops.quote_name, columns))
    return f"{connection.ops.quote_name(model._meta.db_table)} ({names})"


@cache
def _insertion(
    model: type[Model], columns: tuple[str, ...], constants: tuple[tuple[str, str | int], ...]
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


def selected(model: type[Model], alias: str, names: Sequence[str]) -> str:
    """Return the columns of some attributes of a model for a SELECT."""
    fields = {field.attname: str(field.column) for field in model._meta.concrete_fields}
    return ", ".join(f"{alias}.{connection.ops.quote_name(fields[name])}" for name in names)


def all_names(model: type[Model]) -> tuple[str, ...]:
    """Return the attributes of all columns of a model."""
    return tuple(field.attname for field in model._meta.concrete_fields)


def loaded(model: type[AnyModel], names: Sequence[str], values: Sequence[Any]) -> AnyModel:
    """Return a row of the database as an object of its model; the other attributes are read when they are used.

    JSON has to be decoded by the caller.
    """
    return model.from_db(connection.alias, names, values)
