"""The same, sent several times at once, is stored once: the second one waits for the first."""

import hashlib

from django.db import connection


def wait_for_turn(what: str) -> None:
    """Become the only one who stores this, until the transaction of the caller ends."""
    key = int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
