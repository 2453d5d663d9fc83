"""Messages of several statements, and what PostgreSQL prepares for them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from psycopg.types.json import Jsonb

from campaigns.kit.statements import Message

pytestmark = pytest.mark.django_db
VALUES: tuple[Any, ...] = (
    "it's 100 % \\ of “all”", None, -7, 0.1, True, datetime(2026, 1, 2, 3, 4, 5, 6, UTC), ["a", 'b"'], Jsonb({"c": [1]}),
)  # fmt: skip
TEXT = (
    "SELECT %s::text, %s::text, %s::integer, %s::float8, %s::boolean, %s::timestamptz, %s::text[],"
    " %s::jsonb ->> 'c', '100 %%'"
)


def _sent(text: str, *values: Any) -> tuple[Any, str]:
    """Return the only row of a statement, and what was executed."""
    sent: list[str] = []

    def noted(execute: Any, statement: str, *arguments: Any) -> Any:
        sent.append(statement)
        return execute(statement, *arguments)

    message = Message()
    message.add(text, *values)
    with connection.execute_wrapper(noted):
        ((row,),) = message.send()
    return row, sent[0]


def test_what_is_sent_again_is_prepared_and_has_the_same_result() -> None:
    """Also within a transaction that is rolled back, which takes nothing back of it."""
    first, text = _sent(TEXT, *VALUES)
    with transaction.atomic():
        second, _ = _sent(TEXT, *VALUES)
        transaction.set_rollback(True)
    third, executed = _sent(TEXT, *VALUES)
    assert first == second == third == (*VALUES[:-1], "[1]", "100 %")
    assert text.startswith("SELECT")
    assert executed.startswith("EXECUTE")


def test_nothing_is_prepared_on_a_connection_of_a_pool(settings: LazySettings) -> None:
    settings.DATABASE_POOLED = True
    texts = {_sent("SELECT %s::text, 'pooled'", "a")[1] for _ in range(3)}
    assert texts == {"SELECT 'a'::text, 'pooled'"}


def test_statements_with_one_placeholder_more_are_others() -> None:
    rows = [_sent(f"SELECT {', '.join(['%s::integer'] * count)}", *range(count))[0] for count in (1, 2, 1, 2, 1)]  # fmt: skip
    assert rows == [(0,), (0, 1), (0,), (0, 1), (0,)]
