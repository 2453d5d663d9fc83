"""The clock that decides: the database's, which all machines share."""

from datetime import datetime

from django.db import connection


def database_now() -> datetime:
    """What the database's clock shows, aware."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
