"""Mutes: nobody is called about a line, a trend, a metric or a target for a while. Each ends; what is measured goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import Right, require, require_right
from campaigns.models import Line, Mute, Reading, SubjectVersion, Target, Team, Trend
from campaigns.models.trends import MOST_MUTED_DAYS

TOLD_DAYS = 7
"""So many days before its end the author of a mute is told."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is muted: one of them. metric: by its name, in all lines of the team."""

    line: Line | None = None
    trend: Trend | None = None
    target: Target | None = None
    metric: str = ""

    @property
    def columns(self) -> Mapping[str, object]:
        """As a row has it."""
        return {
            "line": self.line,
            "trend": self.trend,
            "target": self.target,
            "metric": self.metric,
        }


@transaction.atomic
def begin(
    team: Team,
    scope: Scope,
    user: User,
    *,
    days: int,
    reason: str,
    until_version: SubjectVersion | None = None,
) -> Mute:
    """Mute something of a team for some days, or until one of its versions is measured. Raise Invalid, NotAllowed."""
    require(user, team, Right.OPERATE)
    errors: dict[str, list[str]] = {}
    if sum(bool(each) for each in scope.columns.values()) != 1:
        errors["line"] = ["Mute one thing: a line, a trend, a metric or a target."]
    if not 1 <= days <= MOST_MUTED_DAYS:
        errors["days"] = [f"Give 1 to {MOST_MUTED_DAYS} days: no mute is for good."]
    if not reason.strip():
        errors["reason"] = ["Say why, for those who wonder that nobody was called."]
    if errors:
        raise Invalid(errors)
    until = database_now() + timedelta(days=days) - timedelta(minutes=1)
    row = Mute.objects.create(
        team=team,
        until=until,
        until_version=until_version,
        reason=reason.strip()[:1000],
        by=user,
        **scope.columns,
    )
    record(Action.MUTE_BEGUN, user=user, subject=row, of=text_of(row), until=until.isoformat())
    return row


@transaction.atomic
def end(mute: Mute, user: User) -> Mute:
    """Take a mute back. Raise NotPossible, NotAllowed."""
    row = Mute.objects.select_for_update(of=("self",), no_key=True).get(pk=mute.pk)
    require_right(user, row, Right.OPERATE)
    if row.ended_at is not None or row.until <= database_now():
        raise NotPossible("This mute has ended already.")
    row.ended_at = database_now()
    row.save(update_fields=["ended_at"])
    record(Action.MUTE_ENDED, user=user, subject=row, of=text_of(row))
    return row


def in_force(now: datetime) -> QuerySet[Mute]:
    """Return the mutes that have not ended."""
    return Mute.objects.filter(ended_at=None, until__gt=now)


def muted(trend: Trend, now: datetime) -> Mute | None:
    """Return the mute that a trend is under; None without one."""
    line = trend.line
    rows = in_force(now).filter(team=line.team_id)
    own = Q(line=line) | Q(trend=trend) | Q(metric=trend.metric)
    if line.target_id is not None:
        own |= Q(target=line.target_id)
    return rows.filter(own).order_by("pk").first()


def end_reached(line: Line) -> int:
    """End the mutes of a subject whose version was measured meanwhile; return how many."""
    newest = (
        Reading.objects.filter(line=line, version__isnull=False)
        .order_by("-version__position")
        .values_list("version__position", flat=True)
        .first()
    )
    if newest is None:
        return 0
    rows = Mute.objects.filter(
        team=line.team_id,
        ended_at=None,
        until_version__subject=line.subject,
        until_version__position__lte=newest,
    )
    return rows.filter(
        Q(line=line) | Q(trend__line=line) | Q(target=line.target_id) | ~Q(metric="")
    ).update(ended_at=database_now())


def that_end_soon(now: datetime) -> QuerySet[Mute]:
    """Return the mutes that end within a week, and whose authors were not told; short ones are not."""
    soon = in_force(now).filter(told_at=None, until__lte=now + timedelta(days=TOLD_DAYS))
    return soon.filter(until__gt=F("began_at") + timedelta(days=TOLD_DAYS)).select_related(
        "by", "team", "line", "trend", "target"
    )


def text_of(mute: Mute) -> str:
    """Return what is muted, in words."""
    if mute.line is not None:
        return f"the line “{mute.line}”"
    if mute.trend is not None:
        return f"“{mute.trend}” of the line “{mute.trend.line}”"
    if mute.target is not None:
        return f"the target “{mute.target}”"
    return f"the metric {mute.metric}"
