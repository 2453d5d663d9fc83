"""Requests that carry a key: each is done once, however often it is sent.

Answer and effect are committed together. Who does it holds a lock of the database until then, which
ends with its connection: where a process is killed, nothing is left, and the next one does it anew.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now

from campaigns.models import KeptAnswer

KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered; `request`: a hash of all that was asked."""

    request: bytes
    status: int
    headers: Mapping[str, str]
    body: bytes


def begin(user: User, key: str) -> bool:
    """Become the only one who does what has this key, until the transaction ends. Never waits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_lock(user, key)])
        return bool(cursor.fetchone()[0])


def find(user: User, key: str) -> Answer | None:
    """What was answered before, within KEPT; None where there is nothing. After `begin`."""
    row = KeptAnswer.objects.filter(user=user, key=key, created_at__gt=Now() - KEPT).first()
    if row is None:
        return None
    return Answer(bytes(row.request), row.status, row.headers, bytes(row.body))


def keep(user: User, key: str, answer: Answer) -> None:
    """Store an answer, in place of one that is too old, in the transaction of `begin`."""
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


def forget_old() -> int:
    """Delete what is kept no more; say how many that were."""
    return KeptAnswer.objects.filter(created_at__lte=Now() - KEPT).delete()[0]


def _lock(user: User, key: str) -> int:
    """The key of the advisory lock: 64 bits, signed."""
    digest = hashlib.sha256(f"{user.pk} {key}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)
