"""Limits requests to the rate that a target's owner allows. Standard library only.

Requests begin at equal distances. A delay is not made up for: after a late request, the next one begins a
whole distance later, so there is never a burst. The first one begins a whole distance after the pacer was
created. `task_pacing` has the pacer of an event loop: a program without one does not load asyncio.
"""

import threading
import time
from collections.abc import Callable

SHARE_USED = 0.95
"""Share of the allowed rate that is used: requests may be delayed on their way, and arrive closer together."""


class Pacer:
    """The instants at which requests may begin; `per_second` None: at any.

    held_seconds: the sum of all waits. Not thread-safe by itself.
    """

    def __init__(
        self, per_second: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` returns seconds."""
        self.per_second = per_second
        self.distance_seconds = 1 / (per_second * SHARE_USED) if per_second else 0.0
        self.held_seconds = 0.0
        self.clock = clock
        self.restart()

    def restart(self) -> None:
        """Let the next request begin a whole distance from now, as after creation."""
        self._next = self.clock() + self.distance_seconds

    def left(self) -> float:
        """Return the seconds until the next request may begin; 0 or less: now."""
        return self._next - self.clock()

    def wait(self) -> None:
        """Sleep until the next request may begin."""
        while (left := self.left()) > 0:
            time.sleep(left)

    def begin(self, requested_at: float) -> float:
        """Begin a request that waits since `requested_at`; return the seconds that it waited."""
        now = self.clock()
        self._next = now + self.distance_seconds
        self.held_seconds += now - requested_at
        return now - requested_at


class Threads:
    """A pacer for threads."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._queue = threading.Lock()

    def turn(self) -> float:
        """Wait until a request may begin; return the seconds that it waited."""
        requested_at = self._pacer.clock()
        with self._queue:
            while (left := self._pacer.left()) > 0:
                time.sleep(left)
            return self._pacer.begin(requested_at)
