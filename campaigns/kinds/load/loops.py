"""What decides when a client sends its next request: a closed loop, an open one, and the owner's limit. No Django."""

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
    """A client: it sends when it is told to."""

    left: int

    def go(self, intended_ns: int) -> None:
        """Send the request that should have begun at `intended_ns`."""


class Paced:
    """Lets one request after the other begin, as the target's owner allows."""

    def __init__(self, alarm: Alarm, pacer: Pacer) -> None:
        self._alarm = alarm
        self._pacer = pacer
        self._waiting: deque[tuple[Goes, int, float]] = deque()

    def go(self, client: Goes, intended_ns: int) -> None:
        """Let a client send, in its turn."""
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
    """Each client sends again when it has its answer and has thought."""

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
        """Until when a client may send its next request without being asked for; 0: never."""
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
        """Go on after an answer or a failure, or retire."""
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

    def drop_late(self, before_ns: int) -> int:
        """Nothing waits for a free client here."""
        return 0

    def figures(self) -> Mapping[str, float]:
        """Nothing is offered: clients send as they can."""
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
    """Requests arrive as the schedule says; they wait where all clients are busy, and lose no time by it."""

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
        self._done = asyncio.Event()

    async def run(self) -> None:
        """Let all arrive, and wait until all are dealt with."""
        self._advance()
        self._arrive()
        await self._done.wait()

    def next(self, client: Goes, done_ns: int) -> None:
        """Give a client that is free what waits longest."""
        client.left -= 1
        if self._waiting:
            self._go(client, self._waiting.popleft())
            return
        self._idle.append(client)
        self._look()

    def drop_late(self, before_ns: int) -> int:
        """Forget what waits since before an instant; give how many that were."""
        count = 0
        while self._waiting and self._waiting[0] < before_ns:
            self._waiting.popleft()
            count += 1
        if count:
            self._look()
        return count

    def figures(self) -> Mapping[str, float]:
        """Return how many requests should have been sent, and how many were before the arrivals' end."""
        return {"offered": float(self.offered), "sent": float(self.sent)}

    def _arrive(self) -> None:
        """Take all that is due."""
        now = perf_counter_ns()
        while self._next_ns is not None and self._next_ns <= now:
            self.offered += 1
            if self._idle:
                self._go(self._idle.popleft(), self._next_ns)
            else:
                self._waiting.append(self._next_ns)
            self._advance()
        if self._next_ns is not None:
            self._part.alarm.at(self._next_ns, self._arrive)
        else:
            self._look()

    def _advance(self) -> None:
        arrival = next(self._arrivals, None)
        self._next_ns = None if arrival is None else self._part.origin_ns + arrival[1]

    def _go(self, client: Goes, intended_ns: int) -> None:
        if self._next_ns is not None:
            self.sent += 1
        if self._paced is not None:
            self._paced.go(client, intended_ns)
        else:
            client.go(intended_ns)

    def _look(self) -> None:
        """Say so when nothing arrives, waits or is on its way any more."""
        if self._next_ns is None and not self._waiting and len(self._idle) == self._count:
            self.over = True
            self._done.set()
