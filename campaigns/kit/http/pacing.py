"""Hold requests to the rate that a target's owner allows. Standard library only.

Requests begin one after the other, at equal distances, whoever sends them. A stall is not made up
for: who was late begins late, and the next one a whole distance later. So there is never a burst.
The first one begins a whole distance after the pacer was made, whatever was sent before.
"""

import asyncio
import threading
import time
from collections.abc import Callable

SHARE_USED = 0.95
"""Of what is allowed: the rest is for requests that are held up on their way, and come closer."""


class Pacer:
    """The instants at which requests may begin. `per_second` None: at any.

    `held_seconds` is what all who waited have waited, together. Not safe in threads by itself.
    """

    def __init__(
        self, per_second: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` gives seconds."""
        self.per_second = per_second
        self.distance_seconds = 1 / (per_second * SHARE_USED) if per_second else 0.0
        self.held_seconds = 0.0
        self.clock = clock
        self._next = clock() + self.distance_seconds

    def left(self) -> float:
        """Return the seconds until the next request may begin; 0 or less: now."""
        return self._next - self.clock()

    def wait(self) -> None:
        """Sleep until the next request may begin."""
        while (left := self.left()) > 0:
            time.sleep(left)

    def begin(self, asked_at: float) -> float:
        """Note that one begins now, which was asked for at `asked_at`; give the seconds it waited."""
        now = self.clock()
        self._next = now + self.distance_seconds
        self.held_seconds += now - asked_at
        return now - asked_at


class Tasks:
    """A pacer for the tasks of an event loop."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._queue = asyncio.Lock()

    async def turn(self) -> float:
        """Wait until a request may begin; give the seconds that it took."""
        asked_at = self._pacer.clock()
        async with self._queue:
            while (left := self._pacer.left()) > 0:
                await asyncio.sleep(left)
            return self._pacer.begin(asked_at)


class Threads:
    """A pacer for threads."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._queue = threading.Lock()

    def turn(self) -> float:
        """Wait until a request may begin; give the seconds that it took."""
        asked_at = self._pacer.clock()
        with self._queue:
            while (left := self._pacer.left()) > 0:
                time.sleep(left)
            return self._pacer.begin(asked_at)
