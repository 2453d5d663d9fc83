"""Decide when a client sends its next request: closed loop, open loop, and the owner's limit. No Django."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Protocol

from campaigns.kinds.load.alarm import Alarm
from campaigns.kinds.load.part import NS, Part
from campaigns.kit.http.pacing import Pacer

NEVER_NS = 1 << 62


class Goes(Protocol):
    """A client of a loop."""

    left: int

    def go(self, intended_ns: int) -> None:
        """Send the request that should have begun at `intended_ns`."""


class Paced:
    """Delays requests to the rate that the target's owner allows."""

    def __init__(self, alarm: Alarm, pacer: Pacer) -> None:
        self._alarm = alarm
        self._pacer = pacer
        self._waiting: deque[tuple[Goes, int, float]] = deque()

    def go(self, client: Goes, intended_ns: int) -> None:
        """Queue a request of a client."""
        self._waiting.append((client, intended_ns, self._pacer.clock()))
        if len(self._waiting) == 1:
            self._wait()

    def _wait(self) -> None:
        left = max(0.0, self._pacer.left())
        self._alarm.at(perf_counter_ns() + int(left * NS), self._turn)

    def _turn(self) -> None:
        if self._pacer.left() > 0:
            self._wait()
            return
        client, intended_ns, asked_at = self._waiting.popleft()
        self._pacer.begin(asked_at)
        client.go(intended_ns)
        if self._waiting:
            self._wait()


class Closed:
    """Each client sends again after its answer and the think time."""

    def __init__(self, part: Part, clients: Sequence[Goes], paced: Paced | None) -> None:
        self.over = False
        self._part = part
        self._clients = clients
        self._paced = paced
        self._running = len(clients)
        self._think_ns = int(part.job.schedule.think_seconds * NS)
        self._end_ns = 0
        self._done = asyncio.Event()

    @property
    def chained_until_ns(self) -> int:
        """Until when a client may send its next request without calling `next`; 0: never."""
        if self._paced is not None or self._think_ns:
            return 0
        return self._end()

    async def run(self) -> None:
        """Start all clients, and wait for all."""
        schedule, part = self._part.job.schedule, self._part
        self._end_ns = self._end()
        for number, client in zip(schedule.numbers, self._clients, strict=True):
            self._begin(client, part.origin_ns + schedule.start_ns(number))
        await self._done.wait()

    def next(self, client: Goes, done_ns: int) -> None:
        """Let a client go on after an answer or a failure, or end it."""
        client.left -= 1
        if not client.left or done_ns + self._think_ns >= self._end_ns or self.over:
            self._running -= 1
            if not self._running:
                self.over = True
                self._done.set()
        elif self._think_ns:
            self._begin(client, done_ns + self._think_ns)
        elif self._paced is not None:
            self._paced.go(client, done_ns)
        else:
            client.go(done_ns)

    def drop_late(self, before_ns: int) -> Sequence[int]:
        """Return nothing: no request waits for a free client."""
        return ()

    def figures(self) -> Mapping[str, float]:
        """Return no figures: there is no offered rate."""
        return {}

    def _end(self) -> int:
        end_ns = self._part.job.schedule.end_ns
        return NEVER_NS if end_ns is None else self._part.origin_ns + end_ns

    def _begin(self, client: Goes, intended_ns: int) -> None:
        if self._paced is None:
            self._part.alarm.at(intended_ns, partial(client.go, intended_ns))
        else:
            self._part.alarm.at(intended_ns, partial(self._paced.go, client, intended_ns))


class Open:
    """Requests arrive by the schedule; where all clients are busy they wait, which counts as their time.

    offered, sent: requests that should begin after the warm-up, and those of them that were sent before the end of the arrivals.
    """

    chained_until_ns = 0

    def __init__(self, part: Part, clients: Sequence[Goes], paced: Paced | None) -> None:
        self.over = False
        self.offered = self.sent = 0
        self._part = part
        self._paced = paced
        self._idle = deque(clients)
        self._waiting: deque[int] = deque()
        self._count = len(clients)
        self._arrivals = part.job.schedule.arrivals_ns()
        self._next_ns: int | None = 0
        self._from_ns = 0
        self._every_ns = part.job.schedule.every_ns
        self._timer = part.alarm.timer(self._arrive)
        self._done = asyncio.Event()

    async def run(self) -> None:
        """Start the arrivals, and wait until all requests are done."""
        self._from_ns = self._part.from_ns
        self._advance()
        if self._next_ns is not None:
            self._timer.set(self._next_ns, self._every_ns)
        self._arrive()
        await self._done.wait()

    def next(self, client: Goes, done_ns: int) -> None:
        """Give a free client the request that has waited longest."""
        client.left -= 1
        if self._waiting:
            self._go(client, self._waiting.popleft())
            return
        self._idle.append(client)
        self._look()

    def drop_late(self, before_ns: int) -> Sequence[int]:
        """Drop the requests that have waited since before an instant; return their intended starts."""
        dropped = []
        while self._waiting and self._waiting[0] < before_ns:
            dropped.append(self._waiting.popleft())
        if dropped:
            self._look()
        return dropped

    def figures(self) -> Mapping[str, float]:
        """Return `offered` and `sent`."""
        return {"offered": float(self.offered), "sent": float(self.sent)}

    def _arrive(self) -> None:
        """Process all arrivals that are due."""
        now = perf_counter_ns()
        idle, arrived = self._idle, 0
        while (due := self._next_ns) is not None and due <= now:
            arrived += 1
            self.offered += due >= self._from_ns
            if idle:
                self._go(idle.popleft(), due)
            else:
                self._waiting.append(due)
            self._advance()
        if self._next_ns is None:
            self._timer.close()
            self._look()
        elif not arrived or not self._every_ns:
            # A timer that repeats is set again only where it rang early: its interval has no fractions.
            self._timer.set(self._next_ns, self._every_ns)

    def _advance(self) -> None:
        arrival = next(self._arrivals, None)
        self._next_ns = None if arrival is None else self._part.origin_ns + arrival[1]

    def _go(self, client: Goes, intended_ns: int) -> None:
        if self._next_ns is not None and intended_ns >= self._from_ns:
            self.sent += 1
        if self._paced is not None:
            self._paced.go(client, intended_ns)
        else:
            client.go(intended_ns)

    def _look(self) -> None:
        """End the loop when no request arrives, waits or is in flight any more."""
        if self._next_ns is None and not self._waiting and len(self._idle) == self._count:
            self.over = True
            self._done.set()
