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
NS = 1_000_000_000
LIBC = ctypes.CDLL(None, use_errno=True)


class Timer:
    """A timer of the kernel that calls `call` in the running loop. Raise OSError where there is none."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._when = Itimerspec()
        self._loop = asyncio.get_running_loop()
        self._timer = LIBC.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)
        if self._timer < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create failed")
        self._loop.add_reader(self._timer, self._ring)

    def set(self, instant: int, every: int = 0) -> None:
        """Ring at an instant of perf_counter_ns, and from then on each `every` nanoseconds unless that is 0."""
        if self._timer < 0:
            return
        when = self._when
        when.at_s, when.at_ns = divmod(max(1, instant), NS)
        when.every_s, when.every_ns = divmod(every, NS)
        if LIBC.timerfd_settime(self._timer, TFD_TIMER_ABSTIME, ctypes.byref(when), None):
            raise OSError(ctypes.get_errno(), "timerfd_settime failed")

    def close(self) -> None:
        """Never ring again."""
        if self._timer >= 0:
            self._loop.remove_reader(self._timer)
            os.close(self._timer)
            self._timer = -1

    def _ring(self) -> None:
        try:
            os.read(self._timer, 8)
        except BlockingIOError:
            return
        self._call()


class Alarm:
    """Calls functions at instants of perf_counter_ns, in the running loop. Raise OSError without a timer."""

    def __init__(self) -> None:
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._set_to = 0
        self._timer = Timer(self._ring)
        self._timers = [self._timer]
        self._loop = asyncio.get_running_loop()

    def timer(self, call: Callable[[], None]) -> Timer:
        """Return a timer for what rings often: it has no queue, and is closed with this alarm."""
        timer = Timer(call)
        self._timers.append(timer)
        return timer

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
        for timer in self._timers:
            timer.close()
        self._due.clear()

    def _ring(self) -> None:
        self._set_to = 0
        due = self._due
        while due and due[0][0] <= perf_counter_ns():
            heapq.heappop(due)[2]()
        if due and (not self._set_to or due[0][0] < self._set_to):
            self._set(due[0][0])

    def _set(self, instant: int) -> None:
        self._set_to = instant
        self._timer.set(instant)
