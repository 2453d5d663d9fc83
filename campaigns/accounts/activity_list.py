"""The record of who did what, as far as somebody may see it: narrowed, for pages, REST and files."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet

from campaigns.kit.activity.acting import BROWSER, COMMAND, SYSTEM
from campaigns.kit.rights import teams_with
from campaigns.models import AuditEvent

TOKEN = "token"  # noqa: S105 - a word
NOBODY = "perfdash"
"""Stands for whoever did what nobody did."""
MEANS = (BROWSER, TOKEN, COMMAND, SYSTEM)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the record is narrowed to; None and empty strings narrow nothing.

    person: a user name, `perfdash` for what it did by itself. means: one of MEANS. after: from then on;
    before: until then. subject: a kind and a key, such as ("conclusion", 7).
    """

    person: str = ""
    action: str = ""
    team: int | None = None
    campaign: int | None = None
    means: str = ""
    after: datetime | None = None
    before: datetime | None = None
    subject: tuple[str, int] | None = None


def events_for(user: User | AnonymousUser) -> QuerySet[AuditEvent]:
    """What somebody may see, the newest first: his teams', and of what belongs to none his own."""
    rows = AuditEvent.objects.order_by("-pk")
    if user.is_active and user.is_superuser:
        return rows
    own = Q(user=user.pk) | Q(subject_kind="user", subject_key=user.pk)
    teams = teams_with(user).order_by().values("pk")
    return rows.filter(Q(team__in=teams) | Q(team=None) & own)


def narrowed(rows: QuerySet[AuditEvent], wanted: Wanted) -> QuerySet[AuditEvent]:
    """Those rows that fit."""
    if wanted.person == NOBODY:
        rows = rows.filter(user=None)
    elif wanted.person:
        rows = rows.filter(user__username=wanted.person)
    if wanted.means == TOKEN:
        rows = rows.filter(means__startswith=f"{TOKEN} ")
    elif wanted.means:
        rows = rows.filter(means=wanted.means)
    if wanted.subject:
        rows = rows.filter(subject_kind=wanted.subject[0], subject_key=wanted.subject[1])
    plain = {
        "action": wanted.action or None,
        "team": wanted.team,
        "campaign_key": wanted.campaign,
        "at__gte": wanted.after,
        "at__lt": wanted.before,
    }
    return rows.filter(**{name: value for name, value in plain.items() if value is not None})


def people_seen_by(user: User) -> QuerySet[User]:
    """Whom the record that somebody sees may name, by name: of his own teams, and himself."""
    people = User.objects.order_by("username")
    if user.is_superuser:
        return people
    teams = teams_with(user).order_by().values("pk")
    return people.filter(Q(memberships__team__in=teams) | Q(pk=user.pk)).distinct()
