"""Measure how much of a network card's speed a run used. No Django."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

import psutil

BITS_PER_MEGABIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Reading:
    """The traffic of each card with a known speed: seconds of a clock, bytes each way, bits per second."""

    seconds: float
    passed: Mapping[str, tuple[int, int]]
    speeds: Mapping[str, float]


def read() -> Reading:
    """Read the counters of all cards; loopback and many virtual ones have no speed."""
    counters = psutil.net_io_counters(pernic=True)
    speeds = {
        name: card.speed * BITS_PER_MEGABIT
        for name, card in psutil.net_if_stats().items()
        if card.speed > 0 and name in counters
    }
    passed = {name: (counters[name].bytes_sent, counters[name].bytes_recv) for name in speeds}
    return Reading(perf_counter(), passed, speeds)


def share(first: Reading, last: Reading) -> float | None:
    """Return the largest share of a card's speed, each way by itself; None where no speed is known."""
    seconds = last.seconds - first.seconds
    shares = [
        8 * (after - before) / seconds / speed
        for name, speed in first.speeds.items()
        if name in last.passed
        for before, after in zip(first.passed[name], last.passed[name], strict=True)
    ]
    return max(shares, default=None) if seconds > 0 else None
