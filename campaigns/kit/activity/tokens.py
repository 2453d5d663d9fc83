"""Records that a token is used: the first time, and then once a day for each address it comes from."""

from collections import OrderedDict
from datetime import timedelta
from threading import Lock
from time import monotonic

from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity.actions import Action
from campaigns.kit.activity.recording import record
from campaigns.models import ApiToken, AuditEvent

EVERY = timedelta(days=1)
KNOWN = 10_000
"""Pairs of token and address that a process remembers: of these it asks the database nothing."""

_noted: OrderedDict[tuple[int, str], float] = OrderedDict()
_lock = Lock()


def note_use(token: ApiToken, address: str) -> None:
    """Record the use of a token, unless that was done within a day."""
    pair = (token.pk, address)
    now = monotonic()
    with _lock:
        if now - _noted.get(pair, -EVERY.total_seconds()) < EVERY.total_seconds():
            return
    with transaction.atomic():
        ApiToken.objects.select_for_update(no_key=True, of=("self",)).get(pk=token.pk)
        rows = AuditEvent.objects.filter(
            subject_kind="apitoken",
            subject_key=token.pk,
            action=Action.TOKEN_USED,
            at__gt=Now() - EVERY,
            details__address=address,
        )
        if not rows.exists():
            record(Action.TOKEN_USED, user=token.user, subject=token, address=address)
    with _lock:
        _noted[pair] = now
        _noted.move_to_end(pair)
        while len(_noted) > KNOWN:
            _noted.popitem(last=False)
