"""Nobody waits for ever for a database that gives no answer: servers and workers call `limit_waits`.

A connection whose way is cut can stay open and silent: nothing ends it where a proxy still takes
what is sent. Whoever waits for it gets an OperationalError after DATABASE_ANSWER_SECONDS, and the
connection is closed, so that the next one is a new one.
"""

import select
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from psycopg import errors


def limit_waits() -> None:
    """Limit the wait for each answer from now on, in this process and those that it forks.

    Management commands are not limited: a migration may take its time.
    """
    connection_created.connect(_limit, dispatch_uid="perfdash.database")


def _limit(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    made = connection.connection
    if isinstance(made, psycopg.Connection):
        asked = partial(type(connection).is_usable, connection)
        connection.is_usable = partial(_is_usable, made, asked)  # type: ignore[method-assign]
        wait = made.wait

        def wait_no_longer(generator: Any, *positional: Any, **named: Any) -> Any:
            if len(positional) > 1 or named.get("timeout") is not None:
                return wait(generator, *positional, **named)
            named["timeout"] = settings.DATABASE_ANSWER_SECONDS
            try:
                return wait(generator, *positional, **named)
            except errors._WaitTimeout:
                made.pgconn.finish()
                raise psycopg.OperationalError(
                    f"the database gave no answer within {named['timeout']:g} s"
                ) from None

        made.wait = wait_no_longer  # type: ignore[method-assign, assignment]


def _is_usable(made: psycopg.Connection[Any], asked: Callable[[], bool]) -> bool:
    """Return whether a connection can be used. Django would ask the database before each request.

    A server that ends a connection says so, or hangs up: where nothing has come over it, nothing is asked.
    """
    if made.closed:
        return False
    poll = select.poll()
    poll.register(made.fileno(), select.POLLIN)
    return not poll.poll(0) or asked()
