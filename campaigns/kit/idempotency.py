"""Stored answers of requests with an idempotency key.

Answer and effect are committed together. Until then the process holds an advisory lock, which ends with its
connection: where a process is killed, nothing is left, and the request can be sent again.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now

from campaigns.models import KeptAnswer

RETENTION = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; `request`: a hash of the request."""

    request: bytes
    status: int
    headers: Mapping[str, str]
    body: bytes


def begin(user: User, key: str) -> bool:
    """Lock the key until the transaction ends; return whether that succeeded. Never waits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_lock(user, key)])
        return bool(cursor.fetchone()[0])


def find(user: User, key: str) -> Answer | None:
    """Return the stored answer, or None. Call `begin` first."""
    row = KeptAnswer.objects.filter(user=user, key=key, created_at__gt=Now() - RETENTION).first()
    if row is None:
        return None
    return Answer(bytes(row.request), row.status, row.headers, bytes(row.body))


def store(user: User, key: str, answer: Answer) -> None:
    """Store an answer, in place of an expired one, in the transaction of `begin`."""
    row = KeptAnswer(
        user=user,
        key=key,
        request=answer.request,
        status=answer.status,
        headers=dict(answer.headers),
        body=answer.body,
    )
    KeptAnswer.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["user", "key"],
        update_fields=["request", "status", "headers", "body", "created_at"],
    )


def delete_expired() -> int:
    """Delete expired answers; return how many."""
    return KeptAnswer.objects.filter(created_at__lte=Now() - RETENTION).delete()[0]


def _lock(user: User, key: str) -> int:
    """Return the key of the advisory lock: 64 bits, signed."""
    digest = hashlib.sha256(f"{user.pk} {key}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)
