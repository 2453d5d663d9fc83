"""Decide whether a target may be overloaded: its owner allows it until a time, and in some hours."""

from datetime import datetime

from campaigns.kit.owners import target_name
from campaigns.models import Target
from campaigns.targets.allowed import same_server
from campaigns.targets.quiet import hours_of
from campaigns.targets.quiet_hours import BadQuietHours


def why_never(target: Target, now: datetime) -> str:
    """Return why nothing may overload the target any more; empty where it may, now or in its hours."""
    until = target.overload_until
    if until is None:
        return (
            f"A search loads “{target.name}” until work fails, and its owner has not allowed that. Set "
            "“may be overloaded until” on the target's page."
        )
    if until <= now:
        return (
            f"“{target.name}” might be overloaded until {until:%Y-%m-%d %H:%M} UTC, which is over. Set a later "
            "time on the target's page."
        )
    for other in same_server(target):
        if other.is_production and (other.overload_until is None or other.overload_until <= now):
            name = target_name(other, target.team_id)
            return (
                f"It is the same server as {name}, a production server that may not be overloaded."
            )
    return ""


def why_not_now(target: Target, now: datetime) -> str:
    """Return why a run of a search has to wait, or may not begin at all; empty where it may begin."""
    if never := why_never(target, now):
        return never
    if not target.overload_hours:
        return ""
    try:
        hours = hours_of(target.overload_hours)
        if hours.ends_at(now, target.quiet_zone) is not None:
            return ""
        begins_at = hours.begins_at(now, target.quiet_zone)
    except BadQuietHours as error:
        return (
            f"waits until the hours in which {target.name} may be overloaded are corrected: {error}"
        )
    at = f" at {begins_at:%Y-%m-%d %H:%M} UTC" if begins_at else ""
    return f"waits for the hours in which {target.name} may be overloaded{at}"
