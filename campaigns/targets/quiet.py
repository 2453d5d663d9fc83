"""Decide whether quiet hours delay a run: those of its target, or of others on the same server."""

from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from campaigns.kit.units import roughly
from campaigns.models import Target
from campaigns.targets.allowed import same_server
from campaigns.targets.names import target_name
from campaigns.targets.quiet_hours import BadQuietHours, QuietHours, parse

hours_of = lru_cache(maxsize=256)(parse)


def setters(target: Target) -> list[Target]:
    """Return the targets whose quiet hours apply to the server of this one."""
    return [row for row in same_server(target) if row.quiet_hours]


def on_by(target: Target, now: datetime) -> Target | None:
    """Return the target whose quiet hours forbid load now; unreadable hours count as quiet."""
    return next((row for row in setters(target) if _are_on(row, now)), None)


def holding_back(target: Target, now: datetime, seconds: float) -> str:
    """Return why a run of that many seconds does not start now; empty where it may."""
    reasons = (_holding_back(row, now, seconds, target.team_id) for row in setters(target))
    return next(filter(None, reasons), "")


def _are_on(target: Target, now: datetime) -> bool:
    try:
        return _hours(target).ends_at(now, target.quiet_zone) is not None
    except BadQuietHours:
        return True


def _holding_back(target: Target, now: datetime, seconds: float, team: int | None) -> str:
    name, zone = target_name(target, team), target.quiet_zone
    try:
        hours = _hours(target)
        ends_at = hours.ends_at(now, zone)
        if ends_at is not None:
            return f"waits for the end of the quiet hours of {name} at {_at(ends_at, now, zone)}"
        begins_at = hours.begins_at(now, zone)
        if begins_at is None or (begins_at - now).total_seconds() >= seconds:
            return ""
        ends_at = hours.ends_at(begins_at, zone) or begins_at
    except BadQuietHours as error:
        return f"waits until the quiet hours of {name} are corrected: {error}"
    return (
        f"waits for the end of the quiet hours of {name} at {_at(ends_at, now, zone)}: they "
        f"begin at {_at(begins_at, now, zone)}, and a run takes about {roughly(seconds)}"
    )


def _hours(target: Target) -> QuietHours:
    return hours_of(target.quiet_hours)


def _at(instant: datetime, now: datetime, zone: str) -> str:
    """Return the time on the target's wall clock, with the day where it is not today."""
    clock = ZoneInfo(zone)
    local = instant.astimezone(clock)
    today = local.date() == now.astimezone(clock).date()
    return f"{local:%H:%M} {zone}" if today else f"{local:%a %H:%M} {zone}"
