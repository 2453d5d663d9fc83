"""The state of each trend, as lists show it: the newest value, the noise, what is seen in it, and a small curve."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from campaigns.models import Line, Point, Reading
from campaigns.trends.noise import Noise, noise_of

CURVE = 40
"""So many of the newest values are in a small curve."""


class Session(NamedTuple):
    """What is read of a point, without the row's object: of hundreds of sessions and dozens of trends there are thousands."""

    trend: int
    reading: int
    y: float | None
    sd: float | None
    n: int
    flags: Sequence[str]
    once: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How many points each trend has gained, and how many of them with a value; negative where it lost some."""

    points: Counter[int] = field(default_factory=Counter)
    values: Counter[int] = field(default_factory=Counter)

    def add(self, trend: int, y: float | None, by: int = 1) -> None:
        """Count a point that is there from now on, or no more (by -1)."""
        self.points[trend] += by
        self.values[trend] += by * (y is not None)


def in_order(readings: Sequence[Reading]) -> list[Reading]:
    """Return readings by version and time; those without a version by time, behind what was seen before them."""
    at, last = {}, -1
    for reading in readings:
        if reading.version is not None:
            last = reading.version.position
        at[reading.pk] = last
    return sorted(readings, key=lambda each: (at[each.pk], each.at, each.pk))


def sessions_in(line: Line, readings: Sequence[int]) -> dict[int, dict[int, Session]]:
    """Return the points of readings by trend and reading; one query."""
    rows = Point.objects.filter(trend__line=line, reading__in=readings).order_by()
    found: dict[int, dict[int, Session]] = {}
    for row in rows.values_list("trend", "reading", "y", "sd", "n", "flags", "once"):
        session = Session(*row)
        found.setdefault(session.trend, {})[session.reading] = session
    return found


def counted_anew(line: Line) -> Counts:
    """Count all points of a line."""
    counts = Counts()
    rows = Point.objects.filter(trend__line=line).order_by()
    for trend, y in rows.values_list("trend", "y").iterator(chunk_size=10_000):
        counts.add(trend, y)
    return counts


def summary(sessions: Mapping[int, Session], newest: Sequence[Reading]) -> dict[str, Any]:
    """Return what lists show of the newest sessions of a trend. newest: in the order of versions."""
    readings = {reading.pk: reading for reading in newest}
    points = [sessions[each.pk] for each in newest if each.pk in sessions]
    told = [point for point in points if point.y is not None]
    noise = noise_in(told, readings)
    last = told[-1] if told else None
    return {
        "newest": last and last.y,
        "version": last and str(readings[last.reading].version or ""),
        "at": last and readings[last.reading].at.isoformat(),
        "curve": [point.y for point in points][-CURVE:],
        "between": noise.between,
        "repeated": noise.repeated,
        "within": noise.within,
    }


def noise_in(points: Sequence[Session], readings: Mapping[int, Reading]) -> Noise:
    """Return how far sessions of one version in one environment differ. points: with a value each."""
    return noise_of(
        [(_group(readings[point.reading]), point.y) for point in points if point.y is not None],
        [(point.sd, point.n) for point in points],
    )


def _group(reading: Reading) -> tuple[int, int | None]:
    version = reading.version
    return reading.environment, version.position if version else None
