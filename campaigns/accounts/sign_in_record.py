"""Record sign-ins and sign-outs in the activity log, from Django's signals."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.functions import Now
from django.dispatch import receiver
from django.http import HttpRequest

from campaigns.kit.activity import Action, record
from campaigns.kit.mappings import JsonObject
from campaigns.models import AuditEvent
from perfdash.clients import client_address

MOST_FAILURES = 5
WITHIN = timedelta(minutes=10)
"""The most failures of one account, or of unknown names, from one address that are recorded in this time."""


@receiver(user_logged_in, dispatch_uid="record sign-in")
def _signed_in(request: HttpRequest | None = None, user: Any = None, **kwargs: Any) -> None:
    method = getattr(request, "came_in_by", "")
    by: JsonObject = {"by": method} if method else {}
    record(Action.SIGNED_IN, user=user, subject=user, address=_address(request), **by)


@receiver(user_logged_out, dispatch_uid="record sign-out")
def _signed_out(request: HttpRequest | None = None, user: Any = None, **kwargs: Any) -> None:
    if isinstance(user, User):
        record(Action.SIGNED_OUT, user=user, subject=user, address=_address(request))


@receiver(user_login_failed, dispatch_uid="record failed sign-in")
def _failed(credentials: JsonObject, request: HttpRequest | None = None, **kwargs: Any) -> None:
    """Record a failed sign-in. A name without an account is not stored: it may be a password."""
    name = credentials.get("username") or credentials.get("email") or ""
    account = User.objects.filter(username=name).first() if "\x00" not in str(name) else None
    address = _address(request)
    rows = AuditEvent.objects.filter(
        action=Action.SIGN_IN_FAILED,
        at__gt=Now() - WITHIN,
        subject_key=None if account is None else account.pk,
        details__address=address,
    )
    if rows.count() < MOST_FAILURES:
        record(Action.SIGN_IN_FAILED, user=None, subject=account, address=address)


def _address(request: HttpRequest | None) -> str:
    return (client_address(request) or "") if request is not None else ""
