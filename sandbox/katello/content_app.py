"""A model of Pulp's content app behind httpd, on the server or on a smart proxy. Pure: no clock, no waiting.

A request needs a place in httpd or in its backlog, and then one of the content processes, which works on one request after
another: `content_ms` of CPU, in the process itself and in PostgreSQL, and `content_wait_ms` in which it waits. All share the
CPUs of the machine. A new connection over TLS takes `content_tls_ms` of them first. A package that has to be fetched from the
feed takes `content_cold_ms` in place of `content_ms`.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random

from sandbox.katello.machine import Machine
from sandbox.katello.puma import needed_gib
from sandbox.katello.usage import Flow, Usage

BACKLOG = 511
"""Requests that wait for a place in httpd."""
PROCESS_SHARE = 0.78
"""Of a request's CPU that the content process takes; the rest is PostgreSQL's."""
_SPREAD = 0.25  # of the logarithm of a request's CPU time
_PROXY_SERVICES_GIB, _PROCESS_GIB, _CONNECTION_GIB = 8.0, 0.15, 0.0005
_SWAP_COST = 6.0
_MS = 0.001


@dataclass(frozen=True, slots=True)
class Place:
    """Where the content app runs: its CPUs, content processes, places in httpd, memory, and what others take of that."""

    cpus: int
    processes: int
    httpd_limit: int
    memory_gib: float
    others_gib: float

    @classmethod
    def of(cls, machine: Machine) -> "Place":
        """Return the smart proxy where there is one, or the server."""
        cpus = machine.proxy_cpus or machine.cpus
        processes = machine.content_workers or 2 * min(8, cpus) + 1
        if machine.proxy_cpus:
            memory, others = machine.proxy_memory_gib, _PROXY_SERVICES_GIB
            return cls(cpus, processes, machine.proxy_httpd_limit, memory, others)
        return cls(cpus, processes, machine.httpd_limit, machine.memory_gib, needed_gib(machine))

    def needed_gib(self, connections: int) -> float:
        """Return the memory that is needed for so many connections."""
        return self.others_gib + self.content_gib + _CONNECTION_GIB * connections

    @property
    def content_gib(self) -> float:
        """Return the memory of the content processes."""
        return _PROCESS_GIB * self.processes


@dataclass(slots=True, eq=False)
class _Request:
    """A request in the model. `leave` is called once, with whether it was served."""

    seconds: float  # of CPU
    leave: Callable[[bool], None]
    shakes_hands: bool = False


@dataclass(slots=True, eq=False)
class ContentApp:
    """The requests of the content app. Instants are seconds of the server, and never go back.

    clock: how much CPU each request that is worked on has had since the start. busy: processes with a request.
    """

    machine: Machine
    now: float = 0.0
    usage: Usage = field(default_factory=Usage)
    place: Place = field(init=False)
    inside: int = 0
    busy: int = 0
    served: int = 0
    refused: int = 0
    _clock: float = 0.0
    _rate: float = 0.0
    _running: list[tuple[float, int, _Request]] = field(default_factory=list)
    _resting: list[tuple[float, int, _Request]] = field(default_factory=list)
    _queue: deque[_Request] = field(default_factory=deque)
    _number: "count[int]" = field(default_factory=count)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.machine.seed)
        self.place = Place.of(self.machine)
        self.usage.flow = Flow()

    def arrive(
        self,
        now: float,
        leave: Callable[[bool], None],
        *,
        cold: bool = False,
        new_tls: bool = False,
    ) -> None:
        """Take a request; where httpd and its backlog are full, it leaves at once. new_tls: the first of a connection."""
        self.advance(now)
        if self.inside >= self.place.httpd_limit + BACKLOG:
            self.refused += 1
            leave(False)
            return
        self.inside += 1
        machine = self.machine
        median = machine.content_cold_ms if cold else machine.content_ms
        seconds = _MS * median * math.exp(self._random.gauss(-(_SPREAD**2) / 2, _SPREAD))
        request = _Request(seconds, leave, new_tls and machine.content_tls_ms > 0)
        if request.shakes_hands:
            self._run(request, _MS * machine.content_tls_ms)
        else:
            self._queue.append(request)
        self._settle()

    def advance(self, now: float) -> None:
        """Let the time pass; who has ended by then leaves."""
        while (at := self.next_at()) <= now:
            self._pass(at)
            if self._resting and self._resting[0][0] <= at:
                self._end(heapq.heappop(self._resting)[2])
            else:
                ends, _, request = heapq.heappop(self._running)
                self._clock = max(self._clock, ends)
                self._worked(request)
            self._settle()
        self._pass(now)

    def next_at(self) -> float:
        """When something happens by itself; infinity while nobody is inside."""
        at = self._resting[0][0] if self._resting else math.inf
        if self._running:
            left = max(0.0, self._running[0][0] - self._clock)
            at = min(at, self.now + left / self._rate)
        return at

    def clear(self) -> None:
        """Let everybody leave: httpd is restarted."""
        held = [each[2] for each in (*self._running, *self._resting)] + [*self._queue]
        for waiting in (self._running, self._resting, self._queue):
            waiting.clear()
        self.inside = self.busy = 0
        self._settle()
        for request in held:
            request.leave(False)

    def told(self) -> dict[str, object]:
        """Tell what the content app does."""
        return {
            "processes": self.place.processes,
            "busy": self.busy,
            "inside": self.inside,
            "served": self.served,
            "refused": self.refused,
        }

    def _worked(self, request: _Request) -> None:
        """Go on with a request whose part of CPU is done."""
        if request.shakes_hands:
            request.shakes_hands = False
            self._queue.append(request)
        elif self.machine.content_wait_ms:
            ends = self.now + _MS * self.machine.content_wait_ms
            heapq.heappush(self._resting, (ends, next(self._number), request))
        else:
            self._end(request)

    def _end(self, request: _Request) -> None:
        self.busy -= 1
        self.inside -= 1
        self.served += 1
        request.leave(True)

    def _run(self, request: _Request, seconds: float) -> None:
        heapq.heappush(self._running, (self._clock + seconds, next(self._number), request))

    def _settle(self) -> None:
        """Give free processes to those who wait longest, and say how fast each goes on."""
        while self._queue and self.busy < self.place.processes:
            request = self._queue.popleft()
            self.busy += 1
            self._run(request, request.seconds)
        place, running = self.place, len(self._running)
        needed = place.needed_gib(self.inside)
        swapping = 1 + _SWAP_COST * max(0.0, needed / place.memory_gib - 1)
        slower = max(1.0, running / place.cpus)
        self._rate = 1 / (slower * swapping)
        used = running / (slower * swapping)
        self.usage.flow = Flow(
            user=used,
            ruby=PROCESS_SHARE * used,
            wanted=float(running),
            requests=self.inside,
            slower=slower,
            swapping=swapping,
        )

    def _pass(self, now: float) -> None:
        gone = now - self.now
        if gone > 0:
            self._clock += gone * self._rate
            self.usage.add(gone * self.machine.content_scale)
            self.now = now
