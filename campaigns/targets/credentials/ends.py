"""Tell the team before the certificate of a credential ends."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from campaigns.kit.database_clock import database_now
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Credential
from campaigns.targets.credentials.uses import in_use

TOLD_AT = (30, 7, 1, 0)
"""Days before the end at which the team is told, each once; 0: it has ended."""
SECONDS_A_DAY = 86_400


def warning_of(row: Credential, now: datetime) -> str:
    """Return that the certificate of a credential has ended, or ends soon, or is not valid yet; empty where neither is so."""
    if row.ends_at is None:
        return ""
    if row.begins_at and row.begins_at > now:
        return f"not valid before {row.begins_at:%Y-%m-%d %H:%M} UTC"
    days = _days(row.ends_at, now)
    if row.ends_at <= now:
        return f"ended on {row.ends_at:%Y-%m-%d %H:%M} UTC"
    if days > TOLD_AT[0]:
        return ""
    return f"ends on {row.ends_at:%Y-%m-%d %H:%M} UTC, {_in(days)}"


def _days(ends: datetime, now: datetime) -> float:
    return (ends - now).total_seconds() / SECONDS_A_DAY


def _in(days: float) -> str:
    whole = int(days)
    if whole == 0:
        return "within a day"
    return f"in {whole} day{'s' if whole > 1 else ''}"


def tell_of_ends() -> int:
    """Announce the credentials whose certificates end soon or have ended, each at most once for a distance; return how many."""
    now = database_now()
    rows = Credential.objects.filter(ends_at__isnull=False).exclude(Q(told=0)).order_by("pk")
    return sum(_tell(row.pk, now) for row in rows if _due(row, now) is not None)


def _due(row: Credential, now: datetime) -> int | None:
    """Return the distance of TOLD_AT that a credential has reached, unless its team knows that already."""
    if row.ends_at is None:
        return None
    days = _days(row.ends_at, now)
    reached = [each for each in TOLD_AT if days <= each]
    if not reached or (row.told is not None and row.told <= reached[-1]):
        return None
    return reached[-1]


@transaction.atomic
def _tell(pk: int, now: datetime) -> bool:
    """Announce one, unless another process did meanwhile."""
    row = Credential.objects.select_for_update(of=("self",), no_key=True).filter(pk=pk).first()
    due = _due(row, now) if row else None
    if row is None or due is None:
        return False
    named = ", ".join(f"“{each}”" for each in in_use(row))
    announce(
        Announcement.Kind.CREDENTIAL_ENDS,
        row.team,
        what=f"The certificate of the credential “{row}” {warning_of(row, now)}.",
        to_do=f"Give it a new certificate{f'; {named} may need it' if named else ''}.",
        path=reverse("credential", args=[row.pk]),
    )
    row.told = due
    row.save(update_fields=["told"])
    return True
