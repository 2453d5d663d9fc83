"""Counts of requests: under way now, at most at once, and done. Pure: instants come as values."""

from collections.abc import Callable
from typing import Any

SLOTS = 100
"""The number of intervals in a second, the resolution of tallies."""


class Rate:
    """Counts what happens within a second (0.99 to 1 s), whenever that second begins."""

    __slots__ = ("_last", "_slots", "_within", "most")

    def __init__(self) -> None:
        self.most = 0
        self._slots = [0] * SLOTS
        self._within = 0
        self._last = 0

    def count(self, now: float) -> None:
        """Count one more. `now` never goes back."""
        slot = int(now * SLOTS)
        if slot != self._last:
            self._pass(slot)
        self._slots[slot % SLOTS] += 1
        self._within += 1
        if self._within > self.most:
            self.most = self._within

    def _pass(self, slot: int) -> None:
        """Forget the slots that are more than a second old."""
        for passed in range(max(self._last, slot - SLOTS) + 1, slot + 1):
            self._within -= self._slots[passed % SLOTS]
            self._slots[passed % SLOTS] = 0
        self._last = slot


class Tally:
    """Counts the requests of one repository, one label, or all.

    A request is in flight from when it was read until the last byte of its answer was handed to
    the network, or the connection was lost. A refused one (429) is never in flight.
    """

    __slots__ = (
        "broken_off", "bytes", "first", "in_flight", "in_flight_max", "last", "manifests", "rate",
        "requests", "statuses",
    )  # fmt: skip

    def __init__(self) -> None:
        self.in_flight = 0
        self.reset()

    def reset(self) -> None:
        """Forget all but what is under way."""
        self.in_flight_max = self.in_flight
        self.requests = self.manifests = self.bytes = self.broken_off = 0
        self.statuses: dict[int, int] = {}
        self.rate = Rate()
        self.first: float | None = None
        self.last: float | None = None

    def begin(self, now: float) -> None:
        """Count a request that was read."""
        self.requests += 1
        self._at(now)
        self.in_flight += 1
        if self.in_flight > self.in_flight_max:
            self.in_flight_max = self.in_flight

    def end(self, status: int, sent: int, whole: bool) -> None:
        """Count its end. `status` is 0 where not even the head was sent."""
        self.in_flight -= 1
        self.bytes += sent
        if status:
            self.statuses[status] = self.statuses.get(status, 0) + 1
        if not whole:
            self.broken_off += 1

    def refuse(self, now: float, status: int) -> None:
        """Count a request that was refused at once."""
        self.requests += 1
        self._at(now)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def _at(self, now: float) -> None:
        self.rate.count(now)
        self.last = now
        if self.first is None:
            self.first = now

    def asked(self) -> bool:
        """Say whether there was a request since the last reset, or one is under way."""
        return bool(self.requests or self.in_flight)

    def report(self, instant: Callable[[float], str]) -> dict[str, Any]:
        """Give the counts; `instant` writes a moment of the clock as a date and time."""
        return {
            "in_flight": self.in_flight,
            "in_flight_max": self.in_flight_max,
            "requests": self.requests,
            "per_second_max": self.rate.most,
            "manifests": self.manifests,
            "statuses": {str(status): self.statuses[status] for status in sorted(self.statuses)},
            "bytes": self.bytes,
            "broken_off": self.broken_off,
            "first_request": None if self.first is None else instant(self.first),
            "last_request": None if self.last is None else instant(self.last),
        }
