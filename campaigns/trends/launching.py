"""What becomes of the occasions of a line: a campaign is launched, or the reason why not is stored.

An occasion, its campaign and the next instant are one transaction under the lock of the line: a process that is killed
leaves all of them or none, and who comes after finds the occasion by its key.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DurationField, F, Q, Sum, Value
from django.db.models.functions import Coalesce

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed, NotVisible, Right, may, require_right
from campaigns.kit.units import roughly
from campaigns.models import Attempt, Campaign, Line, Occasion
from campaigns.planning import templates
from campaigns.planning.lifecycle import launch
from campaigns.planning.lifecycle.approval import takes_two
from campaigns.planning.templates import NoTemplate
from campaigns.targets import quiet
from campaigns.targets.quiet_hours import BadQuietHours
from campaigns.trends import occasions, readings
from campaigns.trends.lines import ROOM, expected_seconds, pause_itself, why_not_by_itself

Outcome, Trigger = Occasion.Outcome, Occasion.Trigger
WEEK = timedelta(days=7)
ONE_AT_A_TIME = "Campaign {pk} of this line is not over yet, and a line has one at a time."
KEY_LETTERS = 100


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
    due = Line.objects.filter(Q(due_at__lte=now) | Q(pk__in=waiting), state=Line.State.ON)
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
    waiting = line.occasions.filter(outcome=Outcome.WAITS).first()
    if due is None:
        if waiting is not None:
            _settle(waiting, _launched(line, line.owner, now, by_itself=True))
        return True
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
    if is_new and due.missed:
        reason = "Nothing looked at the schedule at that time, and more than half the time to the next occasion had passed."
        _settle(occasion, Result(Outcome.SKIPPED, reason))
    elif is_new:
        _settle(occasion, _launched(line, line.owner, now, by_itself=True))
    return True


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
    line = row.select_related("template", "target", "team").get(pk=line.pk)
    require_right(user, line, Right.OPERATE)
    done = line.occasions.filter(key=key).first()
    if done is not None:
        return done, False
    if line.state == Line.State.ENDED:
        raise NotPossible(f"The line “{line}” has ended. Begin another one with a campaign.")
    now = database_now()
    result = _launched(line, user, now, by_itself=False)
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


def _settle(occasion: Occasion, result: Result) -> None:
    occasion.outcome, occasion.campaign = result.outcome, result.campaign
    occasion.reason = result.reason[:2000]
    occasion.save(update_fields=["outcome", "reason", "campaign"])


def _launched(line: Line, user: User, now: datetime, *, by_itself: bool) -> Result:
    """Launch a campaign of a locked line as a person, or say why not. by_itself: quiet hours and the budget hold it back."""
    if not may(user, line.team, Right.OPERATE):
        reason = (
            f"{user.get_username()}, who owns this line, may not launch campaigns of the team “{line.team}” any more. "
            "Another operator can resume it, and owns it then."
        )
        pause_itself(line, reason)
        return Result(Outcome.REFUSED, reason)
    active = line.campaigns.filter(state__in=Campaign.ACTIVE).first()
    if active is not None:
        return Result(Outcome.SKIPPED, ONE_AT_A_TIME.format(pk=active.pk))
    try:
        with transaction.atomic():
            if by_itself and (held := _held_back(line, now)):
                return held
            return Result(Outcome.LAUNCHED, campaign=_campaign(line, user))
    except (Invalid, NotPossible, NoTemplate, NotAllowed, NotVisible, Refused) as error:
        return Result(Outcome.REFUSED, str(error))


def _held_back(line: Line, now: datetime) -> Result | None:
    """Return why a line is not measured now: quiet hours, for which it waits, or the minutes of a week."""
    if line.template is None or line.target is None:
        return None
    seconds = expected_seconds(line.template)
    used = seconds_used(line, now)
    if used + seconds > 60 * line.minutes_a_week:
        return Result(
            Outcome.SKIPPED,
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
    if why := why_not_by_itself(made):
        raise Refused(why)
    if takes_two(made):
        raise Refused(
            "Loading this server takes the approval of a second person: launch its campaigns by hand."
        )
    return launch(made, user)
