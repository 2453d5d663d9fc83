"""Parse quiet hours, such as `Mon-Fri 08:00-18:00`, in the target's time zone.

Pure: no database, no clock. An instant is quiet where the wall clock of the target's time zone
shows a time within a window. So an hour that occurs twice in autumn is quiet twice, and one that is
skipped in spring is not quiet at all.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAY_MINUTES = 24 * 60
WEEK_MINUTES = 7 * DAY_MINUTES
MOST_LINES = 50
LINE = re.compile(r"(?P<days>\S.*?)\s+(?P<begin>[\d:]+)\s*[-–]\s*(?P<end>[\d:]+)")
LONGEST_LINE = 200
TIME = re.compile(r"(\d{1,2}):(\d{2})")
EXAMPLES = "Mon-Fri 08:00-18:00, or Sat,Sun 00:00-24:00, or daily 22:00-06:00"


class BadQuietHours(ValueError):
    """The text or the time zone is invalid; the message names the line, and what to write."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Windows of a week, joined where they touch; without any, no instant is quiet.

    changes: minutes of the week, from Monday 00:00, at which a window begins or ends, ascending.
    quiet_at_last: whether Sunday's last minute is quiet.
    """

    changes: tuple[int, ...] = ()
    quiet_at_last: bool = False

    def __bool__(self) -> bool:
        return bool(self.changes)

    def ends_at(self, instant: datetime, zone: str) -> datetime | None:
        """Return the end (UTC) of the quiet hours that an aware instant falls in; None where it is not quiet.

        Raise BadQuietHours for an unknown zone.
        """
        clock = zone_of(zone)
        return self._next_change(instant, clock) if self._quiet(instant, clock) else None

    def begins_at(self, instant: datetime, zone: str) -> datetime | None:
        """Return the first start (UTC) of quiet hours after an aware instant; None where there are none.

        Raise BadQuietHours for an unknown zone.
        """
        clock = zone_of(zone)
        if not self.changes:
            return None
        return self._next_change(self.ends_at(instant, zone) or instant, clock)

    def _quiet(self, instant: datetime, clock: ZoneInfo) -> bool:
        minute = _since_monday(instant, clock) // timedelta(minutes=1)
        return self.quiet_at_last ^ (bisect_right(self.changes, minute) % 2 == 1)

    def _next_change(self, instant: datetime, clock: ZoneInfo) -> datetime:
        """Go from change to change of wall clock or window, a day at most at a time."""
        quiet = self._quiet(instant, clock)
        instant = instant.astimezone(UTC)
        while True:
            left = self._left(_since_monday(instant, clock))
            step = min(left, timedelta(days=1))
            shift = _clock_change(instant, instant + step, clock)
            instant = shift or instant + step
            if self._quiet(instant, clock) != quiet:
                return instant

    def _left(self, since_monday: timedelta) -> timedelta:
        """Return the time until the next start or end of a window, unless the clock changes before."""
        place = bisect_right(self.changes, since_monday // timedelta(minutes=1))
        if place < len(self.changes):
            return timedelta(minutes=self.changes[place]) - since_monday
        return timedelta(minutes=self.changes[0] + WEEK_MINUTES) - since_monday


def parse(text: str) -> QuietHours:
    """Parse the lines; # begins a comment. Raise BadQuietHours."""
    lines = [
        (number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1)
    ]
    lines = [(number, line) for number, line in lines if line]
    if len(lines) > MOST_LINES:
        raise BadQuietHours(f"There are {len(lines)} lines; join windows to at most {MOST_LINES}.")
    quiet = [False] * WEEK_MINUTES
    for number, line in lines:
        for begin, end in _windows(number, line):
            for minute in range(begin, end):
                quiet[minute % WEEK_MINUTES] = True
    if all(quiet):
        raise BadQuietHours(
            "These lines cover the whole week, so that no run would ever begin. Leave some time "
            "free, or retire the target."
        )
    changes = tuple(m for m in range(WEEK_MINUTES) if quiet[m] != quiet[m - 1])
    return QuietHours(changes, quiet[-1])


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone of a name. Raise BadQuietHours for an unknown one."""
    if name not in _zones():
        raise BadQuietHours(
            f"“{name:.60}” is no known time zone; give a name such as Europe/Berlin or UTC."
        )
    return ZoneInfo(name)


@cache
def _zones() -> frozenset[str]:
    """Return the names of time zones, without those that depend on the machine or are none."""
    return frozenset(available_timezones() - {"localtime", "Factory"})


def _windows(number: int, line: str) -> Iterator[tuple[int, int]]:
    """Return the windows of a line in minutes from Monday 00:00; the end may be in the next week."""
    parts = LINE.fullmatch(line) if len(line) <= LONGEST_LINE else None
    if parts is None:
        raise BadQuietHours(f"Line {number}, “{line:.60}”, cannot be read; write {EXAMPLES}.")
    begin = _minutes(number, parts["begin"], latest=DAY_MINUTES - 1)
    end = _minutes(number, parts["end"], latest=DAY_MINUTES)
    if begin == end:
        raise BadQuietHours(
            f"Line {number}, “{line:.60}”, begins when it ends; a whole day is 00:00-24:00."
        )
    if end < begin:
        end += DAY_MINUTES
    for day in _days(number, parts["days"]):
        yield day * DAY_MINUTES + begin, day * DAY_MINUTES + end


def _minutes(number: int, text: str, latest: int) -> int:
    parts = TIME.fullmatch(text)
    minutes = int(parts[1]) * 60 + int(parts[2]) if parts else -1
    if parts is None or int(parts[2]) > 59 or minutes > latest:
        raise BadQuietHours(
            f"Line {number}: “{text:.20}” is no time of the day; write 00:00 to 23:59, or 24:00 as "
            "the end."
        )
    return minutes


def _days(number: int, text: str) -> list[int]:
    if text.lower() == "daily":
        return list(range(7))
    days = []
    for part in text.replace("–", "-").split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        begin = _day(number, first)
        end = _day(number, last) if dash else begin
        days += [(begin + offset) % 7 for offset in range((end - begin) % 7 + 1)]
    return days


def _day(number: int, word: str) -> int:
    results = [day for day in DAYS if len(word) >= 3 and day.startswith(word.lower())]
    if not results:
        raise BadQuietHours(
            f"Line {number}: “{word:.20}” is no day; write Mon, Tue, Wed, Thu, Fri, Sat, Sun, a "
            "range of them, or daily."
        )
    return DAYS.index(results[0])


def _since_monday(instant: datetime, clock: ZoneInfo) -> timedelta:
    """Return the time on the wall clock, from Monday 00:00."""
    wall = instant.astimezone(clock).replace(tzinfo=None)
    midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    return wall - midnight + timedelta(days=wall.weekday())


def _clock_change(after: datetime, until: datetime, clock: ZoneInfo) -> datetime | None:
    """Return when the wall clock changes in (after, until], at most a day; None where it does not."""
    before = after.astimezone(clock).utcoffset()
    if until.astimezone(clock).utcoffset() == before:
        return None
    low, high = int(after.timestamp() // 1), int(until.timestamp() // 1)
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, clock).utcoffset() == before:
            low = middle
        else:
            high = middle
    return datetime.fromtimestamp(high, UTC)
