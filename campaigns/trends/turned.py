"""The points of a trend, turned so that a larger value is the worse one, for tests of alerts. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.models import Point, Reading, SubjectVersion, Trend, TrendChange
from campaigns.stats.units import OnLogs

LEVELS = (TrendChange.Kind.CHANGE, TrendChange.Kind.MACHINE)


@dataclass(frozen=True, slots=True)
class Told:
    """One session with a value. y: turned. position: of its version; None without one."""

    reading: Reading
    y: OnLogs
    once: bool

    @property
    def position(self) -> int | None:
        """The place of its version."""
        return self.reading.version.position if self.reading.version else None


def sign_of(trend: Trend) -> int:
    """Return -1 where higher is better, else 1."""
    return -1 if trend.lower_is_better is False else 1


def interval_of(
    trend: Trend, low: OnLogs | None, high: OnLogs | None
) -> tuple[OnLogs | None, OnLogs | None]:
    """Return an interval turned."""
    if sign_of(trend) > 0 or low is None or high is None:
        return low, high
    return -high, -low


def told_by(trend: Trend) -> list[Told]:
    """Return the sessions of a trend that have a value, in the order of time."""
    rows = Point.objects.filter(trend=trend, y__isnull=False).select_related("reading__version")
    sign = sign_of(trend)
    points = sorted(rows, key=lambda point: (point.reading.at, point.reading_id))
    return [Told(each.reading, sign * (each.y or 0.0), each.once) for each in points]


def plateau_before(trend: Trend, reading: Reading, good: SubjectVersion | None) -> list[Told]:
    """Return the sessions that a change is held against: before a reading, of its environment, up to the good version.

    What lies before an earlier change of level is left out.
    """
    before = [
        each
        for each in told_by(trend)
        if each.reading.at < reading.at
        and each.reading.environment == reading.environment
        and (good is None or each.position is None or each.position <= good.position)
    ]
    changes = TrendChange.objects.filter(
        trend=trend,
        kind__in=LEVELS,
        reading__environment=reading.environment,
        reading__at__lt=reading.at,
    )
    starts = changes.order_by("-reading__at").values_list("reading__at", flat=True)[:1]
    begun = [each for each in before if not starts or each.reading.at >= starts[0]]
    return begun if len(begun) > 1 else before


def values(sessions: Sequence[Told]) -> list[OnLogs]:
    """Return their values."""
    return [each.y for each in sessions]
