"""A model of a smart proxy through which hosts register: its CPUs and its memory. Pure: no clock, no waiting.

It passes requests on to the server. Each costs it some CPU, for TLS and for copying; its requests share the CPUs. A connection
takes memory until it is answered, beside that of the proxy's own services; what does not fit is swapped, which makes the
proxy slow.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random

from sandbox.katello.machine import Machine

REQUEST_SECONDS = 0.05
"""CPU that a request takes of the proxy; most of it is the handshake of TLS."""
_SPREAD = 0.25  # of the logarithm of that time
_SERVICES_GIB, _CONNECTION_GIB = 8.0, 0.008
_SWAP_COST = 6.0


@dataclass(slots=True, eq=False)
class Proxy:
    """The requests that the proxy works on. Instants are seconds of the server, and never go back.

    held: connections that were not answered yet. clock: how much work each request has had since the start.
    """

    machine: Machine
    now: float = 0.0
    held: int = 0
    clock: float = 0.0
    _running: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _number: "count[int]" = field(default_factory=count)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.machine.seed)

    def arrive(self, now: float, leave: Callable[[], None]) -> None:
        """Take a request; `leave` is called once, when it is passed on to the server."""
        self.advance(now)
        seconds = REQUEST_SECONDS * math.exp(self._random.gauss(0, _SPREAD))
        self.held += 1
        heapq.heappush(self._running, (self.clock + seconds, next(self._number), leave))

    def answered(self, now: float) -> None:
        """Let a connection go."""
        self.advance(now)
        self.held -= 1

    def advance(self, now: float) -> None:
        """Let the time pass; what is done by then is passed on."""
        while (at := self.next_at()) <= now:
            self._pass(at)
            ends, _, leave = heapq.heappop(self._running)
            self.clock = max(self.clock, ends)
            leave()
        self._pass(now)

    def next_at(self) -> float:
        """When the next request is passed on; infinity without any."""
        if not self._running:
            return math.inf
        return self.now + max(0.0, self._running[0][0] - self.clock) / self._rate()

    def clear(self) -> None:
        """Let everybody leave: the proxy is restarted."""
        running, self._running = self._running, []
        for *_, leave in running:
            leave()

    def _pass(self, now: float) -> None:
        if now > self.now:
            if self._running:
                self.clock += (now - self.now) * self._rate()
            self.now = now

    def _rate(self) -> float:
        """Return how fast each request goes on."""
        needed = _SERVICES_GIB + _CONNECTION_GIB * self.held
        swapped = max(0.0, needed / self.machine.proxy_memory_gib - 1)
        share = min(1.0, self.machine.proxy_cpus / len(self._running))
        return share / (1 + _SWAP_COST * swapped)
