"""Alerts: what is suspected of trends opens one for all of a subject that moved together; what is measured again judges it.

Evidence is the system's, handling is people's; neither changes the other. What looks at a subject holds its lock, so that the
same analysis twice, or by two processes at once, opens one alert. What was decided is stored, and to compute a history
again brings none of it back.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import log1p
from zlib import crc32

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.outbox import announce
from campaigns.models import (
    Alert,
    AlertTrend,
    Announcement,
    Line,
    Point,
    Reading,
    Team,
    TrendWord,
)
from campaigns.stats import confirmation
from campaigns.trends import mutes
from campaigns.trends.alert_facts import verdict
from campaigns.trends.grouping import Range
from campaigns.trends.screening import Suspicion, suspicions
from campaigns.trends.turned import interval_of, plateau_before, sign_of, told_by, values

Evidence, Handling, Word = Alert.Evidence, Alert.Handling, TrendWord.Word
LOCK = 41_000_000
MOST_AN_HOUR = 3
HOUR = timedelta(hours=1)
BETTER_CLOSES = timedelta(days=14)
WORSE_AGAIN = timedelta(days=14)
NEARBY_VERSIONS = 2
FIXED_SESSIONS = 2
DECIDED = (Handling.EXPECTED, Handling.NOT_A_REGRESSION)


def look(line: Line) -> list[Alert]:
    """Open alerts of what is suspected of a line, and look at its open ones again; return those that something is new of."""
    with transaction.atomic():
        lock(line.team_id, line.subject)
        mutes.end_reached(line)
        now = database_now()
        touched = [
            alert for each in suspicions(line) if (alert := _take(line, each, now)) is not None
        ]
        for alert in open_of(line):
            _look_again(alert, line, now)
        return list({each.pk: each for each in touched}.values())


def lock(team: int, subject: str) -> None:
    """Let nobody else open or change alerts of a subject until the transaction ends."""
    key = crc32(subject.encode()) & 0x7FFFFFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK + team % 1_000_000, key])


def open_of(line: Line) -> QuerySet[Alert]:
    """Return the alerts of trends of a line that people may still handle: open ones, and those that recovered or are fixed."""
    rows = Alert.objects.filter(trends__trend__line=line).distinct()
    return rows.filter(Q(closed_at=None) | Q(closed="fixed"))


def _take(line: Line, suspicion: Suspicion, now: datetime) -> Alert | None:
    """Put a suspicion into an alert; None where it is in one already, was decided, is muted, or is older than the line."""
    trend, reading = suspicion.trend, _newest_of(line, suspicion)
    if reading.at < line.created_at:
        return None
    mine = AlertTrend.objects.filter(trend=trend, direction=suspicion.direction)
    known = mine.filter(is_open=True).select_related("alert", "seen").first()
    if known is not None:
        _see(known, reading)
        return None
    if _was_decided(suspicion, reading, mine) or mutes.muted(trend, now) is not None:
        return None
    again = _recovered_before(mine, now)
    if again is not None:
        return _reopen(again, "It is worse again.")
    alert = _joined(line, suspicion) or _opened(line, suspicion)
    _add(alert, suspicion, reading)
    return alert


def _newest_of(line: Line, suspicion: Suspicion) -> Reading:
    """Return the newest session that shows it: a change of level goes on to the present one."""
    if suspicion.kind not in PRESENT:
        return suspicion.reading
    rows = Reading.objects.filter(line=line, environment=suspicion.reading.environment)
    newest: Reading = rows.order_by("-at", "-pk")[0]
    return newest


PRESENT = ("change", "creep")
"""Kinds of suspicions that are about the present level, whose first session may be long ago."""


def _see(known: AlertTrend, reading: Reading) -> None:
    if reading.at > known.seen.at:
        AlertTrend.objects.filter(pk=known.pk).update(seen=reading)


def _was_decided(suspicion: Suspicion, newest: Reading, mine: QuerySet[AlertTrend]) -> bool:
    """Return whether a closed alert has this session already, or a person said of this range what it is."""
    closed = mine.filter(is_open=False)
    if closed.filter(Q(seen__at__gte=newest.at) | Q(alert__closed="fixed")).exists():
        return True
    words = TrendWord.objects.filter(
        trend=suspicion.trend, word__in=[Word.EXPECTED, Word.NOT_A_REGRESSION]
    )
    if suspicion.bad is None:
        return words.filter(bad=None).exists()
    near = suspicion.bad.position
    return words.filter(
        bad__position__gte=near - NEARBY_VERSIONS, bad__position__lte=near + NEARBY_VERSIONS
    ).exists()


def _recovered_before(mine: QuerySet[AlertTrend], now: datetime) -> Alert | None:
    lately = mine.filter(
        alert__closed="recovered", alert__closed_at__gt=now - WORSE_AGAIN
    ).select_related("alert")
    row = lately.order_by("-alert__closed_at").first()
    return row.alert if row else None


def _joined(line: Line, suspicion: Suspicion) -> Alert | None:
    """Return the first open alert whose range the suspicion overlaps; its range becomes what they share."""
    if suspicion.kind == "machine":
        return None
    rows = Alert.objects.filter(
        team=line.team_id, subject=line.subject, direction=suspicion.direction, closed_at=None
    ).select_related("good", "bad")
    by_version = suspicion.good is not None and suspicion.bad is not None
    rows = rows.filter(good__isnull=not by_version)
    if not line.subject:
        rows = rows.filter(trends__trend__line=line).distinct()
    own = _range_of(suspicion, line)
    for alert in rows.order_by("pk"):
        if _range(alert).common(own) is None:
            continue
        _narrow(alert, suspicion, line)
        return alert
    return None


def _range(alert: Alert) -> Range:
    if alert.good is not None and alert.bad is not None:
        return Range(alert.good.position, alert.bad.position)
    good_at = alert.good_at.timestamp() if alert.good_at else 0.0
    return Range(good_at, alert.bad_at.timestamp())


def _range_of(suspicion: Suspicion, line: Line) -> Range:
    if suspicion.good is not None and suspicion.bad is not None:
        return Range(suspicion.good.position, suspicion.bad.position)
    before = _before(line, suspicion.reading)
    return Range(before.timestamp() if before else 0.0, suspicion.reading.at.timestamp())


def _before(line: Line, reading: Reading) -> datetime | None:
    """Return when the session before one was."""
    rows = Reading.objects.filter(line=line, at__lt=reading.at).order_by("-at")
    return rows.values_list("at", flat=True).first()


def _narrow(alert: Alert, suspicion: Suspicion, line: Line) -> None:
    """Let the range of an alert be what it shares with a suspicion."""
    if suspicion.good is not None and alert.good is not None:
        if suspicion.good.position > alert.good.position:
            alert.good = suspicion.good
        if suspicion.bad and alert.bad and suspicion.bad.position < alert.bad.position:
            alert.bad = suspicion.bad
    before = _before(line, suspicion.reading)
    if before and (alert.good_at is None or before > alert.good_at):
        alert.good_at = before
    alert.bad_at = min(alert.bad_at, suspicion.reading.at)
    alert.save(update_fields=["good", "bad", "good_at", "bad_at"])


def _opened(line: Line, suspicion: Suspicion) -> Alert:
    alert = Alert.objects.create(
        team=line.team,
        subject=line.subject,
        direction=suspicion.direction,
        good=suspicion.good,
        bad=suspicion.bad,
        good_at=_before(line, suspicion.reading),
        bad_at=suspicion.reading.at,
    )
    record(Action.ALERT_OPENED, user=None, subject=alert, line=line.pk, kind=suspicion.kind)
    return alert


def _add(alert: Alert, suspicion: Suspicion, seen: Reading) -> None:
    sign, trend = sign_of(suspicion.trend), suspicion.trend
    low, high = interval_of(trend, suspicion.low, suspicion.high)
    row = AlertTrend.objects.create(
        alert=alert,
        trend=trend,
        direction=suspicion.direction,
        kind=suspicion.kind,
        reading=suspicion.reading,
        seen=seen,
        estimate=None if suspicion.estimate is None else sign * suspicion.estimate,
        low=low,
        high=high,
        p=suspicion.p,
    )
    if suspicion.kind == "machine":
        row.evidence = Evidence.MACHINE
        row.save(update_fields=["evidence"])
        judge(alert, "The version was the same before and after.")


# Evidence


def judge(alert: Alert, reason: str = "") -> Alert:
    """Let the evidence of an alert follow from that of its trends, and close it where it is not the product."""
    found = set(alert.trends.values_list("evidence", flat=True))
    evidence = next(each for each in RANK if each in found)
    if evidence == alert.evidence and alert.evidence_reason == reason:
        return alert
    changed = evidence != alert.evidence
    alert.evidence, alert.evidence_reason = evidence, reason[:1000]
    alert.changed_at = database_now()
    alert.save(update_fields=["evidence", "evidence_reason", "changed_at"])
    if changed:
        record(Action.ALERT_JUDGED, user=None, subject=alert, evidence=evidence, reason=reason)
    if evidence in (Evidence.MACHINE, Evidence.NOT_REPRODUCED):
        close(alert, str(evidence))
    return alert


RANK = (
    Evidence.CONFIRMED,
    Evidence.REPEATED,
    Evidence.UNVERIFIED,
    Evidence.SUSPECTED,
    Evidence.MACHINE,
    Evidence.NOT_REPRODUCED,
)
"""The evidence of an alert is the first one of these that a trend of it has."""


def close(alert: Alert, why: str) -> None:
    """Close an alert."""
    alert.closed, alert.closed_at = why, database_now()
    alert.changed_at = alert.closed_at
    alert.save(update_fields=["closed", "closed_at", "changed_at"])
    alert.trends.update(is_open=False)


def _reopen(alert: Alert, why: str) -> Alert:
    """Open an alert again, and tell people; the same trends may not be in another open one."""
    alert.closed, alert.closed_at, alert.handling = "", None, Handling.NEW
    alert.handling_reason, alert.changed_at = why, database_now()
    alert.save(update_fields=["closed", "closed_at", "handling", "handling_reason", "changed_at"])
    taken = AlertTrend.objects.filter(is_open=True)
    for row in alert.trends.filter(is_open=False):
        if not taken.filter(trend=row.trend_id, direction=row.direction).exists():
            AlertTrend.objects.filter(pk=row.pk).update(is_open=True)
    record(Action.ALERT_REOPENED, user=None, subject=alert, reason=why)
    announce(
        Announcement.Kind.ALERT_REOPENED,
        alert.team,
        to=[alert.owner] if alert.owner else (),
        what=f"{verdict(alert)} {why}",
        path=reverse("alert", args=[alert.pk]),
    )
    return alert


def _look_again(alert: Alert, line: Line, now: datetime) -> None:
    """Close an alert that recovered, or that is about something better and old; open a fixed one again that is not."""
    if alert.direction == Alert.Direction.BETTER:
        if alert.closed_at is None and alert.opened_at < now - BETTER_CLOSES:
            close(alert, "seen")
        return
    if alert.closed == "fixed":
        if alert.fixed_in is not None and _is_not_fixed(alert, line):
            _reopen(
                alert, f"{FIXED_SESSIONS} sessions of {alert.fixed_in} or later are not better."
            )
        return
    if alert.evidence in Alert.CALLING and all(_has_recovered(each) for each in _rows(alert)):
        close(alert, "recovered")
        record(Action.ALERT_RECOVERED, user=None, subject=alert)


def _rows(alert: Alert) -> Sequence[AlertTrend]:
    return list(alert.trends.select_related("trend__line__template", "reading__version"))


def _has_recovered(row: AlertTrend) -> bool:
    before, newest = _before_and_newest(row, confirmation.FEWEST_RECOVERED)
    return confirmation.is_recovered(before, newest, margin_of(row.trend.line))


def _before_and_newest(row: AlertTrend, count: int) -> tuple[list[float], list[float]]:
    """Return the sessions before a change, and the newest ones after it in the same environment."""
    before = plateau_before(row.trend, row.reading, row.alert.good)
    after = [
        each
        for each in told_by(row.trend)
        if each.reading.at > row.reading.at and each.reading.environment == row.reading.environment
    ]
    return values(before), values(after[-count:])


def _is_not_fixed(alert: Alert, line: Line) -> bool:
    """Return whether two sessions of the version in which it is fixed, or of later ones, have not recovered."""
    assert alert.fixed_in is not None  # noqa: S101 - the caller has checked it
    for row in _rows(alert):
        if row.trend.line_id != line.pk:
            continue
        before = values(plateau_before(row.trend, row.reading, alert.good))
        since = [
            each.y
            for each in told_by(row.trend)
            if each.position is not None and each.position >= alert.fixed_in.position
        ]
        upper = confirmation.upper_bound(before, since)
        enough = len(since) >= FIXED_SESSIONS and upper is not None
        if enough and upper is not None and upper >= log1p(margin_of(line)):
            return True
    return False


def margin_of(line: Line) -> float:
    """Return the margin of a line's template, as a share: a smaller change is none."""
    definition = line.template.definition if line.template else {}
    return float(definition.get("margin_percent") or 2) / 100


def smallest_effect_of(line: Line) -> float:
    """Return the smallest effect of interest of a line's template, as a share."""
    definition = line.template.definition if line.template else {}
    return float(definition.get("smallest_effect_percent") or 5) / 100


# Words of the system about sessions


def mark_once(rows: Iterable[AlertTrend], until: Reading) -> None:
    """Mark the sessions of a change that was measured again and is not there: they count in noise, and suspect nothing more."""
    for row in rows:
        for reading in _between(row, until):
            TrendWord.objects.get_or_create(
                trend=row.trend,
                reading=reading,
                word=Word.ONCE,
                defaults={"good": row.alert.good, "bad": row.alert.bad},
            )
            Point.objects.filter(trend=row.trend, reading=reading).update(once=True)


def _between(row: AlertTrend, until: Reading) -> QuerySet[Reading]:
    """Return the sessions from the first one that showed a change to the newest one that was seen before it was measured again."""
    last = max(row.reading.at, until.at)
    return Reading.objects.filter(line=row.trend.line_id, at__gte=row.reading.at, at__lte=last)


def mark_border(row: AlertTrend, reading: Reading) -> None:
    """Let a new environment begin with a session: the machine changed, and no fact tells how."""
    TrendWord.objects.get_or_create(
        trend=row.trend,
        reading=reading,
        word=Word.BORDER,
        defaults={"good": row.alert.good, "bad": row.alert.bad},
    )


# Telling


def tell(now: datetime) -> int:
    """Announce the confirmed alerts of which nobody was told, at most three an hour and team; return how many."""
    waiting = Alert.objects.filter(
        evidence__in=Alert.CALLING, told_at=None, closed_at=None, direction=Alert.Direction.WORSE
    )
    told = 0
    for team in Team.objects.filter(pk__in=waiting.values("team")).order_by("pk"):
        told += _tell_team(team, now)
    return told


@transaction.atomic
def _tell_team(team: Team, now: datetime) -> int:
    list(Team.objects.select_for_update(no_key=True).filter(pk=team.pk).values("pk"))
    lately = Announcement.objects.filter(
        team=team, kind=Announcement.Kind.ALERT_CONFIRMED, at__gt=now - HOUR
    ).count()
    rows = Alert.objects.select_for_update(of=("self",), no_key=True).filter(
        team=team,
        evidence__in=Alert.CALLING,
        told_at=None,
        closed_at=None,
        direction=Alert.Direction.WORSE,
    )
    due = list(rows.order_by("pk")[: max(0, MOST_AN_HOUR - lately)])
    for alert in due:
        announce(
            Announcement.Kind.ALERT_CONFIRMED,
            team,
            what=verdict(alert),
            path=reverse("alert", args=[alert.pk]),
        )
        alert.told_at = now
        alert.save(update_fields=["told_at"])
    return len(due)
