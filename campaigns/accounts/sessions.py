"""Browser sessions of an account: recorded while used, listed for their owner, ended one by one.

Sessions are those of Django, in the database; django-allauth's `UserSession` has their details.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from campaigns.kit import activity
from campaigns.kit.activity import Action

UNKNOWN_ADDRESS = "::"
LONGEST_AGENT = 200
CHANGING = ("user", "ip", "user_agent", "last_seen_at", "data")
AGENTS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("HeadlessChrome/", "Chromium"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
"""Marks in a User-Agent, with browser or system; the first match counts."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session. `by`: its sign-in method; `here`: it sends this request."""

    pk: int
    since: datetime
    seen: datetime
    address: str
    browser: str
    by: str
    here: bool


def note(key: str, user: User, address: str | None, agent: str, by: str) -> None:
    """Record that a session was used now, and from where; one query."""
    row = UserSession(
        session_key=key,
        user=user,
        ip=address or UNKNOWN_ADDRESS,
        user_agent=agent[:LONGEST_AGENT],
        data={"by": by},
    )
    UserSession.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["session_key"], update_fields=CHANGING
    )


def of(user: User, key: str) -> Sequence[SignedIn]:
    """Return the active sessions of an account, the latest first; delete records of ended ones. `key`: of the current session."""
    _forget_ended(user)
    rows = UserSession.objects.filter(user=user).order_by("-last_seen_at", "-pk")
    return [_shown(row, key) for row in rows]


@transaction.atomic
def end(user: User, pk: int) -> bool:
    """End a session of the account at once; return whether it exists."""
    row = UserSession.objects.select_for_update().filter(user=user, pk=pk).first()
    if row is None:
        return False
    row.end()
    activity.record(Action.SESSION_ENDED, user=user, subject=user)
    return True


@transaction.atomic
def end_others(user: User, key: str) -> int:
    """End all sessions of the account except the one of this key; return how many."""
    _forget_ended(user)
    rows = list(UserSession.objects.filter(user=user).exclude(session_key=key))
    for row in rows:
        row.end()
    if rows:
        activity.record(Action.SESSION_ENDED, user=user, subject=user, count=len(rows))
    return len(rows)


def forget(user: User, key: str) -> None:
    """Delete the record of a session that continues under another key."""
    UserSession.objects.filter(user=user, session_key=key).delete()


def forget_expired() -> None:
    """Delete all expired sessions, and the records of sessions that no longer exist."""
    SessionStore.clear_expired()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()


def browser(agent: str) -> str:
    """Return browser and system of a User-Agent, such as `Firefox on Linux`."""
    name = next((word for mark, word in AGENTS if mark in agent), "another program")
    system = next((word for mark, word in SYSTEMS if mark in agent), "")
    return f"{name} on {system}" if system else name


def _forget_ended(user: User) -> None:
    going_on = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    UserSession.objects.filter(user=user).exclude(session_key__in=going_on).delete()


def _shown(row: Any, key: str) -> SignedIn:
    return SignedIn(
        pk=row.pk,
        since=row.created_at,
        seen=row.last_seen_at,
        address="" if row.ip == UNKNOWN_ADDRESS else row.ip,
        browser=browser(row.user_agent),
        by=row.data.get("by", ""),
        here=row.session_key == key,
    )
