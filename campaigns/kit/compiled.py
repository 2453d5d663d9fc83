"""Compile a query of Django's ORM once for this process, and only fill in its arguments from then on.

For few queries that are sent between all runs: to compile one with several subqueries takes Django longer than it takes
PostgreSQL to answer it. It is prepared there, too (`kit.statements`).
"""

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from psycopg.adapt import Transformer

from campaigns.kit.statements import Message, Rows

Argument = int | str | timedelta
FIRST = 1_900_000_001
"""Argument 0 while a query is compiled: a value that no query contains by itself."""


class Compiled:
    """A query. make: returns it for its arguments, as `values_list`; it may not decide anything by them."""

    def __init__(self, make: Callable[..., QuerySet[Any, Any]]) -> None:
        self._make = make
        self._compiled: tuple[str, tuple[int, ...]] | None = None

    def rows(self, *arguments: Argument) -> Rows:
        """Return the rows for these arguments, with the values as the database driver returns them."""
        if self._compiled is None:
            self._compiled = _compile(self._make, arguments)
        text, places = self._compiled
        message = Message()
        message.add(text, *(arguments[place] for place in places))
        return message.send()[0]


def _compile(
    make: Callable[..., QuerySet[Any, Any]], arguments: tuple[Argument, ...]
) -> tuple[str, tuple[int, ...]]:
    """Return the text of a query, and which argument each placeholder stands for; what is constant stands in the text.

    Raise ValueError where the query does not contain an argument as it was passed.
    """
    marks = [_mark(number, argument) for number, argument in enumerate(arguments)]
    text, values = make(*marks).query.sql_with_params()
    places = tuple(marks.index(value) for value in values if value in marks)
    if set(places) != set(range(len(marks))):
        raise ValueError("The query does not contain an argument as it was passed.")
    with connection.cursor() as cursor:
        literal = Transformer.from_context(cursor.cursor).as_literal
    numbers = count()

    def written(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%%"
        value = values[next(numbers)]
        if value not in marks:
            return literal(value).decode().replace("%", "%%")
        return "%s::interval" if isinstance(value, timedelta) else "%s"

    return re.sub("%[s%]", written, text), places


def _mark(number: int, argument: Argument) -> Argument:
    if isinstance(argument, timedelta):
        return timedelta(microseconds=FIRST + number)
    return FIRST + number if isinstance(argument, int) else f"\x01argument {number}"
