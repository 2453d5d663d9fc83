"""Read what several statements say from one snapshot of the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def one_moment() -> Iterator[None]:
    """Let all statements of the block, or of the function that this decorates, read the same snapshot; it writes nothing.

    Without it a page that is read while an analysis replaces its findings shows some of both, or misses what
    it has just listed. Within a transaction of the caller, the snapshots are the caller's.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
