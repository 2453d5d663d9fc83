"""The CPUs of the simulated Pulp: each file that it downloads or serves takes one for a while, and waits where all are busy.

The time is waited for, and no CPU is burnt. Memory and disk always suffice: what is downloaded is discarded.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable

from sandbox.exporter import MachineReading
from sandbox.pulp.behaviour import Behaviour

_GIB = 2.0**30
_MEMORY, _AVAILABLE = 8 * _GIB, 6 * _GIB


class Machine:
    """The CPUs, and who waits for one, in the order of their coming."""

    def __init__(
        self, behaviour: Callable[[], Behaviour], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._behaviour, self._clock = behaviour, clock
        self._booted = self._now = clock()
        self._busy: set[int] = set()
        self._queue: deque[asyncio.Future[int]] = deque()
        self._used: defaultdict[int, float] = defaultdict(float)
        self._waiting = 0.0

    @property
    def cpus(self) -> int:
        """How many there are; with 0, none are modelled."""
        return self._behaviour().cpus

    async def download(self) -> None:
        """Take the CPU time of one file that is downloaded."""
        await self.work(self._behaviour().file_cpu_seconds)

    async def work(self, seconds: float) -> None:
        """Take one CPU for so long."""
        if not (self.cpus and seconds):
            return
        cpu = await self._cpu()
        try:
            await asyncio.sleep(seconds)
        finally:
            self._release(cpu)

    def reading(self, clock: float) -> MachineReading:
        """Return what was used since the start. clock: as Pulp's machine shows now."""
        self._pass()
        return MachineReading(
            clock=clock,
            uptime=self._now - self._booted,
            cpus=tuple({"user": self._used[number]} for number in range(self.cpus)),
            running=float(len(self._busy) + len(self._queue)),
            memory=_MEMORY,
            available=_AVAILABLE,
            waiting={"cpu": self._waiting},
        )

    async def _cpu(self) -> int:
        """Wait for a CPU, and take it."""
        self._pass()
        free = next((number for number in range(self.cpus) if number not in self._busy), None)
        if free is not None:
            self._busy.add(free)
            return free
        place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._release(place.result())
            elif place in self._queue:
                self._pass()
                self._queue.remove(place)
            raise

    def _release(self, cpu: int) -> None:
        """Give a CPU to who waits longest."""
        self._pass()
        self._busy.discard(cpu)
        while self._queue and cpu < self.cpus:
            place = self._queue.popleft()
            if not place.done():
                self._busy.add(cpu)
                place.set_result(cpu)
                return

    def _pass(self) -> None:
        """Count the time since the last change."""
        now = self._clock()
        gone, self._now = now - self._now, now
        for number in self._busy:
            self._used[number] += gone
        if self._queue:
            self._waiting += gone
