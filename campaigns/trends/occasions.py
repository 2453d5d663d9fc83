"""When a line is due: five fields of cron in a time zone, and what to do about instants that were missed. Pure.

An hour that summer time skips is due at its end; one that it repeats is due once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from campaigns.targets.quiet_hours import QuietHours, zone_of

FIELDS = 5
LONGEST = 100
CLOSEST = timedelta(minutes=15)
LOOKED_AT = 200
"""So many instants tell how close together those of a schedule are."""
FROM = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLE = "30 2 * * * (each night at 02:30) or 0 22 * * 1-5 (on working days at 22:00)"
DAYS = 8
"""Quiet hours are those of a week; one more day ends what begins on its last."""


class BadSchedule(ValueError):
    """A schedule cannot be used; the message says why, and what to write."""


@dataclass(frozen=True, slots=True)
class Due:
    """The instant that is made up for, and the one after it. missed: it is too long ago, and is not made up."""

    at: datetime
    following: datetime
    missed: bool


def check(cron: str, zone: str) -> None:
    """Raise BadSchedule for a schedule that cannot be used, BadQuietHours for an unknown time zone."""
    if len(cron) > LONGEST or len(cron.split()) != FIELDS:
        raise BadSchedule(
            f"A schedule has exactly five fields: minute, hour, day, month and weekday, such as {EXAMPLE}."
        )
    instants = list(islice(instants_after(cron, zone, FROM), LOOKED_AT))
    if any(later - sooner < CLOSEST for sooner, later in pairwise(instants)):
        raise BadSchedule("A line is measured at most every 15 minutes: choose a rarer schedule.")


def instants_after(cron: str, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the instants (UTC) of a schedule after an aware one. Raise BadSchedule, BadQuietHours."""
    from cronsim import CronSim, CronSimError

    clock = zone_of(zone)
    local = after.astimezone(UTC if zone == "UTC" else clock)
    try:
        for instant in CronSim(cron, local):
            yield instant.astimezone(UTC)
    except CronSimError as error:
        raise BadSchedule(
            f"“{cron:.60}” is no schedule: {error}. Write one such as {EXAMPLE}."
        ) from None


def next_after(cron: str, zone: str, after: datetime) -> datetime:
    """Return the next instant (UTC) of a schedule. Raise BadSchedule where there is none."""
    for instant in instants_after(cron, zone, after):
        return instant
    raise BadSchedule(f"“{cron:.60}” is never due. Write one such as {EXAMPLE}.")


def due_now(cron: str, zone: str, due_at: datetime, now: datetime) -> Due | None:
    """Return the newest instant from `due_at` to `now`; None where nothing is due yet.

    It is made up for once, if less than half the distance to the next one has passed.
    """
    if due_at > now:
        return None
    last = due_at
    for following in instants_after(cron, zone, due_at):
        if following > now:
            return Due(last, following, now - last > (following - last) / 2)
        last = following
    raise BadSchedule(f"“{cron:.60}” is never due again. Write one such as {EXAMPLE}.")


def key_at(instant: datetime) -> str:
    """Return the key of an occasion of a schedule, of which a line has one."""
    return f"schedule {instant.astimezone(UTC):%Y-%m-%dT%H:%MZ}"


def longest_free(hours: QuietHours, zone: str, now: datetime) -> timedelta | None:
    """Return the longest time between quiet hours within a week; None without quiet hours."""
    if not hours:
        return None
    longest, at, end = timedelta(0), hours.ends_at(now, zone) or now, now + timedelta(days=DAYS)
    while at < end:
        begins = hours.begins_at(at, zone)
        if begins is None:
            return None
        longest = max(longest, begins - at)
        at = hours.ends_at(begins, zone) or end
    return longest
