"""Wake up at an instant, precise to some ten microseconds. Linux only.

Timers of uvloop have whole milliseconds, longer than a request takes: at 4000 requests a second they would
fire late and in bursts.
"""

import asyncio
import ctypes
import heapq
import itertools
import os
from collections.abc import Callable
from time import perf_counter_ns

from campaigns.kinds.programs.deadline import Itimerspec

CLOCK_MONOTONIC = 1
TFD_NONBLOCK, TFD_CLOEXEC, TFD_TIMER_ABSTIME = 0o4000, 0o2000000, 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Alarm:
    """Calls functions at instants of perf_counter_ns, in the running loop. Raise OSError without a timer."""

    def __init__(self) -> None:
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._set_to = 0
        self._timer = LIBC.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)
        if self._timer < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create failed")
        self._when = Itimerspec()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._timer, self._ring)

    def at(self, instant: int, call: Callable[[], None]) -> None:
        """Call `call` at `instant`, or as soon as possible where it is past."""
        heapq.heappush(self._due, (instant, next(self._order), call))
        if not self._set_to or instant < self._set_to:
            self._set(instant)

    async def until(self, instant: int) -> None:
        """Sleep until `instant`; return at once where it is past."""
        if instant <= perf_counter_ns():
            return
        waiter = self._loop.create_future()
        self.at(instant, lambda: None if waiter.done() else waiter.set_result(None))
        await waiter

    def close(self) -> None:
        """Drop all pending calls."""
        if self._timer >= 0:
            self._loop.remove_reader(self._timer)
            os.close(self._timer)
            self._timer = -1
            self._due.clear()

    def _ring(self) -> None:
        try:
            os.read(self._timer, 8)
        except BlockingIOError:
            return
        self._set_to = 0
        due = self._due
        while due and due[0][0] <= perf_counter_ns():
            heapq.heappop(due)[2]()
        if due and self._timer >= 0 and (not self._set_to or due[0][0] < self._set_to):
            self._set(due[0][0])

    def _set(self, instant: int) -> None:
        if self._timer < 0:
            return
        self._set_to = instant
        self._when.at_s, self._when.at_ns = divmod(max(1, instant), 1_000_000_000)
        if LIBC.timerfd_settime(self._timer, TFD_TIMER_ABSTIME, ctypes.byref(self._when), None):
            raise OSError(ctypes.get_errno(), "timerfd_settime failed")
