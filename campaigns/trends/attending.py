"""What goes on by itself about alerts: confirmations that are due, people who are told, and the digest of the morning."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from campaigns.kit.database_clock import database_now
from campaigns.kit.numbers import counted
from campaigns.kit.outbox import announce
from campaigns.models import Alert, Announcement, Confirmation, Line, Mute, Reading, Team
from campaigns.trends import alerts, confirming, mutes, occasions
from campaigns.trends.alert_facts import verdict
from campaigns.trends.wording import border_text

Kind = Announcement.Kind
DIGEST_HOUR = 7
DAY = timedelta(days=1)
DISTANCES = 2
"""A line is silent if no session came for so many distances of its schedule."""
MOST_IN_DIGEST = 20
MADE_UP_FOR = timedelta(days=1)


def attend(now: datetime | None = None) -> None:
    """Do what is due about alerts; whoever does it at once does each thing once."""
    now = now or database_now()
    make_up(now)
    confirming.attend(now)
    alerts.tell(now)
    tell_of_mutes(now)
    tell_digests(now)


def make_up(now: datetime) -> int:
    """Look at lines again whose sessions a worker that was killed after its analysis did not look at; return how many."""
    recent = Reading.objects.filter(session__campaign__closed_at__gt=now - MADE_UP_FOR)
    lines = Line.objects.filter(
        pk__in=recent.values("line"),
        trends__changes__suspected=True,
    ).exclude(state=Line.State.ENDED)
    found = list(lines.distinct().order_by("pk"))
    for line in found:
        confirming.extend(line)
    return len(found)


def tell_of_mutes(now: datetime) -> int:
    """Tell the authors of mutes a week before these end, once; return how many."""
    told = 0
    for row in mutes.that_end_soon(now):
        with transaction.atomic():
            mine = Mute.objects.select_for_update(no_key=True).filter(pk=row.pk, told_at=None)
            if not mine.update(told_at=now):
                continue
            announce(
                Kind.LINES_DIGEST,
                row.team,
                to=[row.by],
                what=f"Your mute of {mutes.text_of(row)} ends on {row.until:%Y-%m-%d}.",
                to_do="Begin another one if nobody should be called after that.",
                path=reverse("alert-list"),
            )
            told += 1
    return told


# The digest


def tell_digests(now: datetime) -> int:
    """Send each team its digest, once a morning from 07:00 UTC on, and only if there is something; return how many."""
    if now.hour < DIGEST_HOUR:
        return 0
    teams = Team.objects.filter(pk__in=Line.objects.exclude(state="ended").values("team"))
    return sum(_tell_digest(team, now) for team in teams.order_by("pk"))


@transaction.atomic
def _tell_digest(team: Team, now: datetime) -> bool:
    list(Team.objects.select_for_update(no_key=True).filter(pk=team.pk).values("pk"))
    day = now.date().isoformat()
    if Announcement.objects.filter(team=team, kind=Kind.LINES_DIGEST, data__day=day).exists():
        return False
    said = digest_of(team, now)
    if not said:
        return False
    announce(
        Kind.LINES_DIGEST,
        team,
        what=f"{counted(len(said), 'thing')} about lines of {team}.",
        words="\n".join(said[:MOST_IN_DIGEST]),
        to_do="Look at the alerts.",
        path=reverse("alert-list"),
        day=day,
    )
    return True


def digest_of(team: Team, now: datetime) -> list[str]:
    """Return what a team should know this morning, a sentence each; empty if there is nothing."""
    return [
        *(verdict(alert) for alert in _untouched(team)),
        *_of_suspicions(team, now),
        *_of_borders(team, now),
        *(
            f"The line “{line}” is paused: {line.state_reason}"
            for line in _lines(team).filter(state=Line.State.PAUSED).exclude(state_reason="")
        ),
        *(
            f"The line “{line}” had no session for two of its distances."
            for line in silent(team, now)
        ),
        *(
            f"The mute of {mutes.text_of(row)} ends on {row.until:%Y-%m-%d}."
            for row in mutes.in_force(now).filter(team=team, until__lte=now + DAY)
        ),
    ]


def _lines(team: Team) -> QuerySet[Line]:
    return Line.objects.filter(team=team).order_by("pk")


def _untouched(team: Team) -> list[Alert]:
    """Return the alerts that nobody has handled, the oldest first."""
    rows = Alert.objects.filter(
        team=team,
        closed_at=None,
        handling=Alert.Handling.NEW,
        direction=Alert.Direction.WORSE,
        evidence__in=[*Alert.CALLING, Alert.Evidence.UNVERIFIED],
    )
    return list(rows.select_related("good", "bad").order_by("opened_at", "pk"))


def _of_suspicions(team: Team, now: datetime) -> list[str]:
    """Return what became of the suspicions that were measured again since yesterday."""
    rows = Confirmation.objects.filter(
        line__team=team, ended_at__gt=now - DAY, outcome__in=["machine", "not_reproduced"]
    )
    found = Alert.objects.filter(confirmations__in=rows).select_related("good", "bad").distinct()
    return [verdict(alert) for alert in found.order_by("pk")]


def _of_borders(team: Team, now: datetime) -> list[str]:
    rows = Reading.objects.filter(line__team=team, at__gt=now - DAY, border__isnull=False)
    return [
        f"The line “{row.line}” begins a new environment: {border_text(row.border)}."
        for row in rows.select_related("line").order_by("pk")
    ]


def silent(team: Team, now: datetime) -> list[Line]:
    """Return the lines of which a schedule expected a session, and none came for two distances."""
    found = []
    for line in _lines(team).filter(state=Line.State.ON).exclude(cron=""):
        last = line.readings.order_by("-at").values_list("at", flat=True).first()
        begun = last or line.created_at
        instants = occasions.instants_after(line.cron, line.zone, begun)
        due = [next(instants, None) for _ in range(DISTANCES + 1)]
        if due[-1] is not None and due[-1] < now:
            found.append(line)
    return found
