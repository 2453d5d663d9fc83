"""Hooks ask a line to look: the target says what is installed, and that is measured. Each function is one transaction."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import NotPossible
from campaigns.kit.rates import Rate
from campaigns.kit.rights import Right, require_right
from campaigns.models import Line, Occasion
from campaigns.models.trends import VERSION_LETTERS
from campaigns.targets.probes import request_probe

HOOKS = Rate(10, 60)
"""So many hooks may ask a line in so many seconds."""
MOST_HOURS = 6
COMES_WITHIN = timedelta(hours=MOST_HOURS)


def ask(line: Line, key: str, hint: str = "", *, user: User | None) -> tuple[Occasion, bool]:
    """Ask a line to look. Return the occasion, and whether it is a new one: a key is done once.

    hint: the version that comes; empty: what is installed. user: None for a signed hook. A control worker looks after the
    next probe, which is requested here. Raise NotPossible, NotAllowed.
    """
    occasion, is_new = _asked(line, key, hint, user)
    if is_new and occasion.outcome == Occasion.Outcome.WAITS and line.target is not None:
        request_probe(line.target)
    return occasion, is_new


@transaction.atomic
def _asked(line: Line, key: str, hint: str, user: User | None) -> tuple[Occasion, bool]:
    row = Line.objects.select_for_update(of=("self",), no_key=True)
    line = row.select_related("team", "target").get(pk=line.pk)
    if user is not None:
        require_right(user, line, Right.OPERATE)
    done = line.occasions.filter(key=key).first()
    if done is not None:
        return done, False
    if why := why_not(line, hint):
        raise NotPossible(why)
    paused = line.state == Line.State.PAUSED
    occasion = Occasion.objects.create(
        line=line,
        key=key,
        trigger=Occasion.Trigger.HOOK,
        due_at=database_now(),
        hint=hint[:VERSION_LETTERS],
        outcome=Occasion.Outcome.REFUSED if paused else Occasion.Outcome.WAITS,
        reason=f"The line is paused. {line.state_reason}".strip()
        if paused
        else waits_for(line, hint),
        asked_by=user,
    )
    record(Action.LINE_ASKED, user=user, subject=line, key=key, hint=hint)
    return occasion, True


def why_not(line: Line, hint: str) -> str:
    """Return why nobody may ask a line to look; empty where one may."""
    if line.state == Line.State.ENDED:
        return f"The line “{line}” has ended. Begin another one with a campaign."
    if line.template_id is None:
        return "The campaigns of this line come from outside: submit or import the next one."
    if hint and not line.subject:
        return f"The line “{line}” is by time, so it knows no versions. Send no version."
    return ""


def waits_for(line: Line, hint: str, told: str = "") -> str:
    """Return for what a hook waits. told: the version that the target tells instead."""
    instead = f"; it tells {told}" if told else ""
    if hint:
        return f"It waits until the target tells {line.subject} {hint}{instead}."
    return "It waits until the target was probed, and is ready."


def never_came(line: Line, hint: str, told: str, asked_at: datetime, now: datetime) -> str:
    """Return why a hook is given up; empty where it waits on."""
    if now - asked_at < COMES_WITHIN:
        return ""
    if not hint:
        return f"The target was not ready within {MOST_HOURS} hours."
    instead = f" It tells {told}." if told else ""
    return f"The target did not tell {line.subject} {hint} within {MOST_HOURS} hours.{instead}"
