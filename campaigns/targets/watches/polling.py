"""Look at a source at equal steps, and end where it fails three times in a row. Pure."""

from collections.abc import Callable
from datetime import UTC, datetime
from math import ceil
from time import monotonic

from campaigns.targets.watches.base import WatchFailed

STRIKES = 3
"""Looks in a row that may fail before a watch ends."""


class Missed(Exception):
    """One look failed: a gap. hopeless: another look would fail, too, unless one has succeeded before."""

    def __init__(self, message: str, *, hopeless: bool = False) -> None:
        super().__init__(message)
        self.hopeless = hopeless


def wall_clock() -> float:
    """Return the seconds since the epoch by the worker's clock."""
    return datetime.now(UTC).timestamp()


def look_in_steps(
    look: Callable[[], None], step_seconds: float, stopped: Callable[[float], bool]
) -> None:
    """Call `look` at equal steps until stopped. Raise WatchFailed after three looks in a row that raise Missed.

    A step that is over when a look returns is left out: a slow source is never asked in a burst.
    """
    begun, number, missed, succeeded = monotonic(), 0, 0, False
    while not stopped(max(0.0, begun + number * step_seconds - monotonic())):
        try:
            look()
        except Missed as error:
            missed += 1
            if error.hopeless and not succeeded:
                raise WatchFailed(str(error)) from error
            if missed == STRIKES:
                raise WatchFailed(f"{error} So it was {STRIKES} times in a row.") from error
        else:
            missed, succeeded = 0, True
        number = max(number + 1, ceil((monotonic() - begun) / step_seconds))
