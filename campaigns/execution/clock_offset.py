"""How far the clocks of this machine are from the database's, by which all generators begin."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection

from campaigns.engines.deadline import monotonic

TRIPS = 15


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """Seconds to add to a clock of this machine to have the database's.

    monotonic: for `deadline.monotonic`; wall: for the time of day, as people compare hosts.
    uncertainty: half of the quickest way there and back: the true offsets are no farther away.
    """

    monotonic: float
    wall: float
    uncertainty: float

    def here(self, instant: datetime) -> float:
        """Give an instant of the database's clock as one of `deadline.monotonic`."""
        return instant.timestamp() - self.monotonic


def measure_offset(trips: int = TRIPS) -> ClockOffset:
    """Ask the database for its time again and again; the quickest answer counts."""
    return min((_trip() for _ in range(trips)), key=lambda offset: offset.uncertainty)


def _trip() -> ClockOffset:
    with connection.cursor() as cursor:
        wall, before = datetime.now(UTC).timestamp(), monotonic()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        row = cursor.fetchone()
        half = (monotonic() - before) / 2
    return ClockOffset(row[0] - (before + half), row[0] - (wall + half), half)
