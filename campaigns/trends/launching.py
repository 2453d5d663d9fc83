"""What becomes of the occasions of a line: a campaign is launched, or the reason why not is stored.

An occasion, its campaign and the next instant are one transaction under the lock of the line: a process that is killed
leaves all of them or none, and who comes after finds the occasion by its key.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DurationField, F, Q, Sum, Value
from django.db.models.functions import Coalesce

from campaigns.kinds.base import Subject
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.numbers import counted
from campaigns.kit.rights import NotAllowed, NotVisible, Right, may, require_right
from campaigns.kit.units import roughly
from campaigns.models import Attempt, Campaign, Line, Occasion, Target
from campaigns.models.trends import VERSION_LETTERS
from campaigns.planning import templates
from campaigns.planning.lifecycle import launch
from campaigns.planning.lifecycle.guards import name_to_confirm
from campaigns.planning.templates import NoTemplate
from campaigns.targets import quiet
from campaigns.targets.quiet_hours import BadQuietHours
from campaigns.trends import approvals, asking, occasions, readings
from campaigns.trends.lines import ROOM, expected_seconds, pause_itself
from campaigns.trends.looking import (
    TWICE,
    Look,
    enough_of,
    going_on,
    is_of,
    look_of,
    measured_since,
    sessions_of,
    was_torn,
)

Outcome, Trigger = Occasion.Outcome, Occasion.Trigger
WEEK = timedelta(days=7)
ONE_AT_A_TIME = "Campaign {pk} of this line is not over yet, and a line has one at a time."
KEY_LETTERS = 60
"""Longer versions stand in keys by their hash."""
KEPT = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of an occasion. campaign: that was launched."""

    outcome: Occasion.Outcome
    reason: str = ""
    campaign: Campaign | None = None


class Refused(Exception):
    """The line cannot be measured; the message is the reason."""


def attend(now: datetime | None = None) -> int:
    """Look at all lines that are due, or that an occasion waits for; return how many were looked at.

    now: an aware instant; by default the database's. Two who do it at once do not look at the same line.
    """
    now = now or database_now()
    waiting = Occasion.objects.filter(outcome=Outcome.WAITS).values("line")
    sees = Q(by_version=True, target__health=Target.Health.READY)
    due = Line.objects.filter(Q(due_at__lte=now) | Q(pk__in=waiting) | sees, state=Line.State.ON)
    keys = list(due.order_by("due_at", "pk").values_list("pk", flat=True))
    looked, bugs = 0, []
    for key in keys:
        try:
            looked += attend_one(key, now)
        except Exception as bug:  # noqa: BLE001 - the other lines are looked at first, then it is raised
            bugs.append(bug)
    if bugs:
        raise bugs[0]
    readings.make_up(now)
    return looked


@transaction.atomic
def attend_one(key: int, now: datetime) -> bool:
    """Do what a line is due for; return whether another process does not already."""
    rows = Line.objects.filter(pk=key, state=Line.State.ON)
    free = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    line = free.select_related("template", "target", "team", "owner").first()
    if line is None:
        return False
    try:
        due = _due(line, now)
    except (occasions.BadSchedule, BadQuietHours) as error:  # of a time zone that is known no more
        pause_itself(line, str(error))
        return True
    look = look_of(line)
    if due is not None:
        _scheduled(line, due, look, now)
    else:
        _attend_waiting(line, now)
    for asked in line.occasions.filter(outcome=Outcome.WAITS, trigger=Trigger.HOOK).order_by("pk"):
        _attend_asked(line, asked, look, now)
    if line.by_version and look is not None and look.version is not None:
        _attend_version(line, look, look.version, now)
    return True


def _attend_waiting(line: Line, now: datetime) -> None:
    """Launch for the occasion that waits, unless what it waits for is not over."""
    waiting = line.occasions.filter(outcome=Outcome.WAITS).exclude(trigger=Trigger.HOOK).first()
    if waiting is not None:
        _settle(waiting, _launched(line, line.owner, now, Trigger(waiting.trigger)))


def _scheduled(line: Line, due: occasions.Due, look: Look | None, now: datetime) -> None:
    """Do what a schedule is due for, once; what waited for its hour until now is skipped."""
    waiting = line.occasions.filter(outcome=Outcome.WAITS, trigger=Trigger.SCHEDULE).first()
    if waiting is not None:
        reason = f"{waiting.reason} It was not measured before the next occasion."
        _settle(waiting, Result(Outcome.SKIPPED, reason))
    occasion, is_new = Occasion.objects.get_or_create(
        line=line,
        key=occasions.key_at(due.at),
        defaults={"trigger": Trigger.SCHEDULE, "due_at": due.at, "outcome": Outcome.SKIPPED},
    )
    line.due_at = due.following
    line.save(update_fields=["due_at"])
    if is_new:
        result = _why_not_now(line, due, look, now)
        _settle(occasion, result or _launched(line, line.owner, now, Trigger.SCHEDULE))


def _why_not_now(line: Line, due: occasions.Due, look: Look | None, now: datetime) -> Result | None:
    if due.missed:
        reason = "Nothing looked at the schedule at that time, and more than half the time to the next occasion had passed."
        return Result(Outcome.SKIPPED, reason)
    if line.occasions.filter(outcome=Outcome.WAITS).exclude(trigger=Trigger.HOOK).exists():
        return Result(Outcome.SKIPPED, "Another occasion of this line waits already.")
    if look is not None and look.version is not None:
        reason = enough_of(line, look.version, now)
        return Result(Outcome.SKIPPED, reason) if reason else None
    return None


def _attend_asked(line: Line, asked: Occasion, look: Look | None, now: datetime) -> None:
    """Look for a hook: launch what it asked for, where the target tells it."""
    fresh = look if look is not None and look.at >= asked.due_at else None
    told = fresh.version if fresh else None
    there = fresh is not None and (not asked.hint or (told is not None and is_of(asked.hint, told)))
    if not there:
        seen = told.version if told else ""
        if why := asking.never_came(line, asked.hint, seen, asked.due_at, now):
            _settle(asked, Result(Outcome.NEVER_CAME, why))
        else:
            _settle(asked, Result(Outcome.WAITS, asking.waits_for(line, asked.hint, seen)))
        return
    active = going_on(line, now)
    if active is not None and told is not None:
        _settle(asked, Result(Outcome.WAITS, ONE_AT_A_TIME.format(pk=active.pk)))
    elif told is not None and (done := _done_for(line, asked, told)):
        _settle(asked, done)
    else:
        _settle(asked, _launched(line, line.owner, now, Trigger.HOOK))


def _done_for(line: Line, asked: Occasion, told: Subject) -> Result | None:
    """Return what became of a hook whose version was measured already; None where it is to be measured."""
    times = sessions_of(line, told)
    if times < line.sessions_per_version:
        return None
    name = f"{line.subject} {told.version}"
    since = measured_since(line, told, asked.due_at)
    if since is not None:
        campaign = since.session.campaign
        return Result(Outcome.MERGED, f"Campaign {campaign.pk} measured {name}.", campaign)
    return Result(
        Outcome.SKIPPED,
        f"{name} was measured in {counted(times, 'session')} already, and hooks measure a version in "
        f"{counted(line.sessions_per_version, 'session')}.",
    )


def _attend_version(line: Line, look: Look, told: Subject, now: datetime) -> None:
    """Measure a version that two probes saw, unless it was measured often enough."""
    if sessions_of(line, told) >= line.sessions_per_version:
        _note_seen(line, "", None)
    elif line.seen_at is None or line.seen_version != told.version[:VERSION_LETTERS]:
        _note_seen(line, told.version[:VERSION_LETTERS], look.at)
    elif look.at - line.seen_at >= TWICE:
        _measure_version(line, told, now)


def _note_seen(line: Line, version: str, at: datetime | None) -> None:
    if (line.seen_version, line.seen_at) != (version, at):
        line.seen_version, line.seen_at = version, at
        line.save(update_fields=["seen_version", "seen_at"])


def _measure_version(line: Line, told: Subject, now: datetime) -> None:
    """Launch for a version, once for each of its sessions; a torn one is repeated once."""
    key = f"version {_short(told.version)}"
    own = line.occasions.filter(trigger=Trigger.VERSION, key__startswith=f"{key} #")
    active = going_on(line, now)
    if active is not None:
        if own.filter(campaign=active).exists():
            return
        one = ONE_AT_A_TIME.format(pk=active.pk)
        reason = f"{one} {told.version} is looked for again after it."
        _version_occasion(line, f"{key} during {active.pk}", now, Result(Outcome.MERGED, reason))
        return
    launched = own.filter(outcome=Outcome.LAUNCHED).count()
    if launched >= line.sessions_per_version + was_torn(line, told):
        return
    key = f"{key} #{launched + 1}"
    waits = Q(outcome=Outcome.WAITS) & ~Q(trigger=Trigger.HOOK)
    if line.occasions.filter(Q(key=key) | waits).exists():
        return
    _version_occasion(line, key, now, _launched(line, line.owner, now, Trigger.VERSION))


def _version_occasion(line: Line, key: str, now: datetime, result: Result) -> None:
    Occasion.objects.get_or_create(
        line=line,
        key=key,
        defaults={
            "trigger": Trigger.VERSION,
            "due_at": now,
            "outcome": result.outcome,
            "reason": result.reason[:2000],
            "campaign": result.campaign,
        },
    )


def _short(version: str) -> str:
    """Return what stands for a version in a key."""
    if len(version) <= KEY_LETTERS:
        return version
    return sha256(version.encode()).hexdigest()[:32]


def _due(line: Line, now: datetime) -> occasions.Due | None:
    if line.due_at is None:
        return None
    return occasions.due_now(line.cron, line.zone, line.due_at, now)


@transaction.atomic
def measure(line: Line, user: User, key: str) -> tuple[Occasion, bool]:
    """Measure a line now, as a person. Return the occasion, and whether it is a new one: a key is done once.

    Raise NotPossible where it is refused, NotAllowed.
    """
    row = Line.objects.select_for_update(of=("self",), no_key=True)
    line = row.select_related("template", "target", "team", "owner").get(pk=line.pk)
    require_right(user, line, Right.OPERATE)
    done = line.occasions.filter(key=key).first()
    if done is not None:
        return done, False
    if line.state == Line.State.ENDED:
        raise NotPossible(f"The line “{line}” has ended. Begin another one with a campaign.")
    now = database_now()
    result = _launched(line, user, now, Trigger.HAND)
    if result.campaign is None:
        raise NotPossible(result.reason)
    occasion = Occasion.objects.create(
        line=line,
        key=key,
        trigger=Trigger.HAND,
        due_at=now,
        outcome=result.outcome,
        asked_by=user,
        campaign=result.campaign,
    )
    record(Action.LINE_MEASURED, user=user, subject=line, key=key, launched=result.campaign.pk)
    return occasion, True


def forget_old(now: datetime | None = None) -> int:
    """Delete occasions of long ago; return how many."""
    old = Occasion.objects.filter(due_at__lt=(now or database_now()) - KEPT)
    return old.exclude(outcome=Outcome.WAITS).delete()[0]


def _settle(occasion: Occasion, result: Result) -> None:
    occasion.outcome, occasion.campaign = result.outcome, result.campaign
    occasion.reason = result.reason[:2000]
    occasion.save(update_fields=["outcome", "reason", "campaign"])


def _launched(line: Line, user: User, now: datetime, trigger: Occasion.Trigger) -> Result:
    """Launch a campaign of a locked line as a person, or say why not. Quiet hours and the budget hold back what no hand began."""
    if not may(user, line.team, Right.OPERATE):
        reason = (
            f"{user.get_username()}, who owns this line, may not launch campaigns of the team “{line.team}” any more. "
            "Another operator can resume it, and owns it then."
        )
        pause_itself(line, reason)
        return Result(Outcome.REFUSED, reason)
    if why := approvals.why_unapproved(line, now):
        pause_itself(line, why)
        return Result(Outcome.REFUSED, why)
    active = line.campaigns.filter(state__in=Campaign.ACTIVE).first() or measuring_again(line)
    if active is not None:
        is_asked = trigger in (Trigger.VERSION, Trigger.HOOK)
        outcome = Outcome.MERGED if is_asked else Outcome.SKIPPED
        return Result(outcome, ONE_AT_A_TIME.format(pk=active.pk))
    try:
        with transaction.atomic():
            if trigger != Trigger.HAND and (held := _held_back(line, now, trigger)):
                return held
            return Result(Outcome.LAUNCHED, campaign=_campaign(line, user))
    except (Invalid, NotPossible, NoTemplate, NotAllowed, NotVisible, Refused) as error:
        return Result(Outcome.REFUSED, str(error))


def launched(line: Line, user: User, now: datetime) -> Result:
    """Launch a campaign of a locked line without a person's click, or say why not: to repeat a change."""
    return _launched(line, user, now, trigger=Trigger.HAND)


def measuring_again(line: Line) -> Campaign | None:
    """Return the campaign that measures old and new versions on the target of a line now; a session would see either."""
    rows = Campaign.objects.filter(confirmations__line=line, state__in=Campaign.ACTIVE)
    return rows.order_by("pk").first()


def _held_back(line: Line, now: datetime, trigger: Occasion.Trigger) -> Result | None:
    """Return why a line is not measured now: quiet hours, or the minutes of a week, for which only a version waits."""
    if line.template is None or line.target is None:
        return None
    seconds = expected_seconds(line.template)
    used = seconds_used(line, now)
    if used + seconds > 60 * line.minutes_a_week:
        return Result(
            Outcome.SKIPPED if trigger == Trigger.SCHEDULE else Outcome.WAITS,
            f"It measured {roughly(used)} in the last seven days, and a campaign takes about {roughly(seconds)}: together "
            f"more than the {line.minutes_a_week} minutes that it has.",
        )
    reason = quiet.holding_back(line.target, now, ROOM * seconds)
    return Result(Outcome.WAITS, f"It {reason}.") if reason else None


def seconds_used(line: Line, now: datetime) -> float:
    """Return how long the campaigns of a line measured in the seven days before."""
    ended = Coalesce("finished_at", Value(now))
    recent = Attempt.objects.filter(run__campaign__line=line, claimed_at__gt=now - WEEK)
    used = recent.aggregate(span=Sum(ended - F("claimed_at"), output_field=DurationField()))["span"]
    return float(used.total_seconds()) if used else 0.0


def _campaign(line: Line, user: User) -> Campaign:
    """Make and launch a campaign of the line's template. Raise what a launch raises, and Refused."""
    if line.template is None:
        raise Refused(
            "The campaigns of this line come from outside: submit or import the next one."
        )
    made = templates.begin(line.template, {"name": line.name}, user)
    Campaign.objects.filter(pk=made.pk).update(line=line)
    made.refresh_from_db()
    approval = approvals.approval_of(line, database_now())
    return launch(made, user, name_to_confirm(made), second=approval)
