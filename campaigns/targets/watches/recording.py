"""Take what a source reads, in the memory of the worker and within bounds. Pure."""

import threading
from array import array
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from campaigns.kit.redaction import storable
from campaigns.targets.watches.base import ClockReading, Event, Frame, Key, WatchFailed

MOST_VALUES = 4_000_000
MOST_VALUE = 1e38
"""The largest value: a run stores four bytes of each. What is larger, or no number, is not taken."""
MOST_KEYS = 2_000
MOST_EVENTS = 500
MOST_FACTS = 500
FACT_LETTERS = 300
LABEL_LETTERS = 100

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Recording:
    """A sink of one source. It raises WatchFailed where a source gives more than can be kept.

    Readings come from the source's thread; they are read after that has ended, or `count` at any time.
    """

    readings: list[ClockReading] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    facts: dict[str, str | float] = field(default_factory=dict)
    cpu_seconds: float | None = None
    _at: "array[float]" = field(default_factory=lambda: array("d"))
    _received: "array[float]" = field(default_factory=lambda: array("d"))
    _uptimes: "array[float]" = field(default_factory=lambda: array("d"))
    _columns: dict[Key, tuple["array[int]", "array[float]"]] = field(default_factory=dict)
    _values: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def close(self) -> None:
        """Take no frames any more, from a thread that hangs and wakes up later."""
        with self._lock:
            self._closed = True

    @property
    def count(self) -> int:
        """Return how many frames there are."""
        return len(self._at)

    def frame(self, frame: Frame) -> None:
        """Take a frame. Raise WatchFailed where there are too many values, or it is closed."""
        with self._lock:
            if self._closed:
                raise WatchFailed("The run has ended.")
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        if not isfinite(frame.at):
            return
        self._values += len(frame.values)
        if self._values > MOST_VALUES:
            raise WatchFailed(
                f"The source gave more than {MOST_VALUES:,} values in one run: give it a longer step, or fewer groups."
            )
        number = len(self._at)
        self._at.append(frame.at)
        self._received.append(frame.received)
        self._uptimes.append(float("nan") if frame.uptime is None else frame.uptime)
        for key, value in frame.values.items():
            if not abs(value) <= MOST_VALUE:
                continue
            column = self._columns.get(key)
            if column is None:
                if len(self._columns) >= MOST_KEYS:
                    continue  # a machine with thousands of cores, disks or states is watched in part
                column = self._columns[key] = (array("q"), array("d"))
            column[0].append(number)
            column[1].append(value)

    def clock(self, reading: ClockReading) -> None:
        """Take a reading of the clock."""
        if isfinite(reading.clock):
            self.readings.append(reading)

    def fact(self, name: str, value: str | float) -> None:
        """Take a fact of the machine."""
        if len(self.facts) < MOST_FACTS and (isinstance(value, str) or isfinite(value)):
            self.facts[name[:100]] = value[:FACT_LETTERS] if isinstance(value, str) else value

    def event(self, event: Event) -> None:
        """Take an event."""
        if len(self.events) < MOST_EVENTS and isfinite(event.at) and isfinite(event.until or 0.0):
            self.events.append(event)

    def cost(self, cpu_seconds: float) -> None:
        """Take the processor time that watching has used on the target so far."""
        self.cpu_seconds = cpu_seconds

    def instants(self) -> tuple[Floats, Floats, Floats]:
        """Return for each frame: the source's clock, the worker's monotonic seconds, and the uptime or not a number."""
        return (
            np.array(self._at, dtype=float),
            np.array(self._received, dtype=float),
            np.array(self._uptimes, dtype=float),
        )

    def columns(self) -> dict[Key, tuple[NDArray[np.int64], Floats]]:
        """Return for each key the numbers of its frames, and its values. Labels are as they can be stored."""
        result: dict[Key, tuple[NDArray[np.int64], Floats]] = {}
        for key, (numbers, values) in self._columns.items():
            stored = Key(key.quantity, storable(key.label)[:LABEL_LETTERS])
            if stored not in result:
                result[stored] = np.array(numbers, dtype=np.int64), np.array(values, dtype=float)
        return result
