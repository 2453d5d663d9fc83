"""What people do with alerts: take, hand over, acknowledge, expect, fix, dismiss, open again. Each function is one transaction.

Handling never changes evidence. `changed_at` guards against lost updates: `description_of` holds it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.urls import reverse

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.mappings import JsonObject
from campaigns.kit.outbox import announce
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right, may, require_right
from campaigns.models import (
    Alert,
    AlertTrend,
    Announcement,
    Confirmation,
    Line,
    SubjectVersion,
    TrendWord,
)
from campaigns.models.trends import VERSION_LETTERS
from campaigns.trends import alerts, confirming, readings
from campaigns.trends.alert_facts import verdict

Handling, Word = Alert.Handling, TrendWord.Word
REASON = "Say why: the next person who looks at this range will ask."


@dataclass(frozen=True, slots=True)
class Said:
    """What a person says with a word. person: a username; version: in which it is fixed; url: of an issue."""

    reason: str = ""
    version: str = ""
    person: str = ""
    url: str = ""


def handle(alert: Alert, word: str, said: Said, user: User, seen: Seen = None) -> Alert:
    """Do what a word names. seen: the revision that the person saw. Raise Invalid, NotPossible, NotAllowed, Changed."""
    with transaction.atomic():
        alerts.lock(alert.team_id, alert.subject)
        row = Alert.objects.select_for_update(of=("self",), no_key=True)
        alert = row.select_related("good", "bad", "team", "owner").get(pk=alert.pk)
        require_seen(alert, description_of(alert), seen)
        require_right(user, alert, Right.OPERATE if word == "confirm" else Right.WRITE)
        WORDS[word](alert, said, user)
        alert.changed_at = database_now()
        alert.save()
        record(
            Action.ALERT_HANDLED,
            user=user,
            subject=alert,
            word=word,
            reason=said.reason,
            handling=alert.handling,
        )
    if word == "confirm":
        confirming.attend()
    alert.refresh_from_db()
    return alert


def description_of(alert: Alert) -> JsonObject:
    """Return the values that the revision of an alert covers."""
    return {"changed_at": alert.changed_at.isoformat(), "handling": alert.handling}


def _take(alert: Alert, said: Said, user: User) -> None:
    alert.owner = user
    _acknowledge(alert, said, user)


def _assign(alert: Alert, said: Said, user: User) -> None:
    person = User.objects.filter(username=said.person.strip(), is_active=True).first()
    if person is None or not may(person, alert.team_id, Right.WRITE):
        raise Invalid({"person": [f"Name an author of the team “{alert.team}”."]})
    alert.owner = person
    if person != user:
        announce(
            Announcement.Kind.ALERT_ASSIGNED,
            alert.team,
            to=[person],
            by=user,
            what=verdict(alert),
            words=said.reason,
            path=reverse("alert", args=[alert.pk]),
        )


def _acknowledge(alert: Alert, said: Said, user: User) -> None:
    _require_open(alert)
    alert.handling = Handling.ACKNOWLEDGED


def _link(alert: Alert, said: Said, user: User) -> None:
    url = said.url.strip()
    try:
        if url:
            URLValidator(schemes=["http", "https"])(url)
    except ValidationError:
        raise Invalid(
            {"url": ["Give the address of an issue, such as https://…, or nothing."]}
        ) from None
    alert.issue_url = url[:500]


def _expect(alert: Alert, said: Said, user: User) -> None:
    _decide(alert, said, user, Handling.EXPECTED, Word.EXPECTED)


def _dismiss(alert: Alert, said: Said, user: User) -> None:
    _decide(alert, said, user, Handling.NOT_A_REGRESSION, Word.NOT_A_REGRESSION)


def _decide(
    alert: Alert, said: Said, user: User, handling: Alert.Handling, word: TrendWord.Word
) -> None:
    """Close an alert with a person's word on each of its trends, which no later computing takes back."""
    _require_open(alert)
    reason = said.reason.strip()
    if not reason:
        raise Invalid({"reason": [REASON]})
    for row in alert.trends.all():
        TrendWord.objects.create(
            trend=row.trend,
            good=alert.good,
            bad=alert.bad,
            word=word,
            reason=reason[:1000],
            by=user,
        )
    _close(alert, handling, reason)


def _fix(alert: Alert, said: Said, user: User) -> None:
    _require_open(alert)
    version = said.version.strip()
    if alert.subject and not version:
        raise Invalid({"version": [f"Say in which version of {alert.subject} it is fixed."]})
    alert.fixed_in = _version(alert, version) if alert.subject else None
    _close(alert, Handling.FIXED, said.reason.strip())


def _version(alert: Alert, text: str) -> SubjectVersion:
    """Return the version of a subject; one that no session had yet is put in its place."""
    if len(text) > VERSION_LETTERS or not text.isprintable():
        raise Invalid({"version": ["Give a version as the target tells it, such as 3.124.0."]})
    row, is_new = SubjectVersion.objects.get_or_create(
        team=alert.team,
        subject=alert.subject,
        text=text,
        defaults={"scheme": alert.bad.scheme if alert.bad else ""},
    )
    if is_new:
        for line in Line.objects.filter(trends__alert_trends__alert=alert).distinct()[:1]:
            readings.rebuild(line)
        row.refresh_from_db()
    return row


def _close(alert: Alert, handling: Alert.Handling, reason: str) -> None:
    alert.handling, alert.handling_reason = handling, reason[:1000]
    alert.closed, alert.closed_at = str(handling), database_now()
    alert.trends.update(is_open=False)


def _reopen(alert: Alert, said: Said, user: User) -> None:
    if alert.closed_at is None:
        raise NotPossible("The alert is open.")
    for row in alert.trends.all():
        taken = AlertTrend.objects.filter(trend=row.trend_id, direction=row.direction, is_open=True)
        other = taken.exclude(alert=alert).first()
        if other is not None:
            raise NotPossible(
                f"“{row.trend}” is in alert {other.alert_id} by now, which is open. Handle that one."
            )
    words = TrendWord.objects.filter(
        trend__in=alert.trends.values("trend"),
        bad=alert.bad,
        word__in=[Word.EXPECTED, Word.NOT_A_REGRESSION],
    )
    words.update(word=Word.TAKEN_BACK)
    alert.handling, alert.handling_reason = Handling.NEW, said.reason.strip()[:1000]
    alert.closed, alert.closed_at, alert.fixed_in = "", None, None
    alert.trends.update(is_open=True)


def _confirm(alert: Alert, said: Said, user: User) -> None:
    _require_open(alert)
    lines = Line.objects.filter(trends__alert_trends__alert=alert, state=Line.State.ON).distinct()
    planned = [confirming.plan(alert, line, user) for line in lines.order_by("pk")]
    if not any(planned):
        on = Confirmation.objects.filter(line__in=lines, outcome="").exists()
        raise NotPossible(
            "It is being measured again already."
            if on
            else "Nothing of it is suspected, so there is nothing to measure again."
        )


def _require_open(alert: Alert) -> None:
    if alert.closed_at is not None:
        raise NotPossible(
            f"The alert was closed on {alert.closed_at:%Y-%m-%d}: {alert.closed.replace('_', ' ')}. Open it again first."
        )


WORDS: Mapping[str, Callable[[Alert, Said, User], None]] = {
    "take": _take,
    "assign": _assign,
    "acknowledge": _acknowledge,
    "expect": _expect,
    "fix": _fix,
    "dismiss": _dismiss,
    "reopen": _reopen,
    "link": _link,
    "confirm": _confirm,
}
