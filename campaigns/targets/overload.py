"""Decide whether a target may be overloaded: its owner allows it until a time, and in some hours."""

from datetime import datetime

from campaigns.kit.activity import Action, record
from campaigns.kit.units import roughly
from campaigns.models import Target
from campaigns.targets.allowed import same_server
from campaigns.targets.names import target_name
from campaigns.targets.quiet import hours_of
from campaigns.targets.quiet_hours import BadQuietHours


def of_a_search(target: Target) -> str:
    """Return why a search needs the permission of the owner; it begins a sentence."""
    return f"A search loads “{target.name}” until work fails"


def why_never(target: Target, now: datetime, because: str = "") -> str:
    """Return why nothing may overload the target any more; empty where it may, now or in its hours.

    because: why the permission is needed, as the beginning of a sentence; by default that of a search.
    """
    because = because or of_a_search(target)
    until = target.overload_until
    if until is None:
        return (
            f"{because}, and its owner has not allowed that. Set “may be overloaded until” on the target's "
            "page."
        )
    if until <= now:
        return (
            f"{because}. It might be overloaded until {until:%Y-%m-%d %H:%M} UTC, which is over. Its owner "
            "can set a later time on the target's page."
        )
    for other in same_server(target):
        if other.is_production and (other.overload_until is None or other.overload_until <= now):
            name = target_name(other, target.team_id)
            return (
                f"It is the same server as {name}, a production server that may not be overloaded."
            )
    return ""


def why_not_now(target: Target, now: datetime, because: str = "", *, seconds: float = 0.0) -> str:
    """Return why a run that may overload has to wait, or may not begin at all; empty where it may begin.

    because: as for `why_never`. seconds: that it takes; it has to end within the hours.
    """
    if never := why_never(target, now, because):
        return never
    if not target.overload_hours:
        return ""
    named = f"the hours in which {target.name} may be overloaded"
    try:
        hours = hours_of(target.overload_hours)
        ends_at = hours.ends_at(now, target.quiet_zone)
        if ends_at is None:
            begins_at = hours.begins_at(now, target.quiet_zone)
            at = f" at {begins_at:%Y-%m-%d %H:%M} UTC" if begins_at else ""
            return f"waits for {named}{at}"
    except BadQuietHours as error:
        return f"waits until {named} are corrected: {error}"
    if (ends_at - now).total_seconds() < seconds:
        return (
            f"waits for the next of {named}: they end at {ends_at:%H:%M} UTC, and a run takes about "
            f"{roughly(seconds)}"
        )
    return ""


def withdraw(target: Target) -> None:
    """Take the permission back, since it was for one campaign. The change is recorded as any other of a target."""
    before = target.overload_until
    if before is None:
        return
    Target.objects.filter(pk=target.pk).update(overload_until=None)
    record(
        Action.TARGET_EDITED,
        user=None,
        subject=target,
        changes={"overload_until": {"before": before.isoformat(), "after": None}},
        credentials_changed=[],
    )
