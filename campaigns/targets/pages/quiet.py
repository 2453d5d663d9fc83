"""The quiet hours of a target, in words."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import available_timezones

from django.utils import timezone

from campaigns.models import Target
from campaigns.targets import quiet_hours

CONTINENTS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


@dataclass(frozen=True, slots=True)
class Quiet:
    """The quiet hours of a target as they are now.

    ends_at: the end of those that are on. begins_at: the begin of the next ones, where none are on.
    problem: why stored hours cannot be read any more.
    """

    lines: tuple[str, ...]
    zone: str
    ends_at: datetime | None = None
    begins_at: datetime | None = None
    problem: str = ""


def quiet_of(target: Target) -> Quiet | None:
    """Read the quiet hours of a target; None where it has none."""
    lines = tuple(line for line in target.quiet_hours.splitlines() if line.strip())
    if not lines:
        return None
    now = timezone.now()
    try:
        hours = quiet_hours.parse(target.quiet_hours)
        ends_at = hours.ends_at(now, target.quiet_zone)
        begins_at = None if ends_at else hours.begins_at(now, target.quiet_zone)
    except quiet_hours.BadQuietHours as error:
        return Quiet(lines, target.quiet_zone, problem=str(error))
    return Quiet(lines, target.quiet_zone, ends_at, begins_at)


@cache
def zones() -> tuple[str, ...]:
    """Names of time zones that somebody may choose; others are understood as well."""
    named = (name for name in available_timezones() if name.partition("/")[0] in CONTINENTS)
    return ("UTC", *sorted(named))
