"""Makes requests wait as the modelled server would. The time is waited for, and no CPU is burnt."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.exporter import MachineReading
from sandbox.katello.answers import Problem
from sandbox.katello.machine import AT_ONCE, OF_DYNFLOW, Machine
from sandbox.katello.puma import POOL_SECONDS, Outcome, Puma, needed_gib, system_gib
from sandbox.katello.usage import Processes, Usage
from sandbox.katello.work import work_of

_POOL = (
    f"could not obtain a connection from the pool within {POOL_SECONDS:.3f} seconds "
    f"(waited {POOL_SECONDS + 0.001:.3f} seconds); all pooled connections were in use"
)
_SAID = {
    Outcome.NO_POOL: _POOL,
    Outcome.NO_CONNECTION: "FATAL:  sorry, too many clients already",
    Outcome.TIMED_OUT: "Timed out reading data from server",
}


class Busy(Exception):
    """Nobody takes the request: httpd answers by itself, with a page."""


@dataclass(slots=True, eq=False)
class Load:
    """The server that is modelled now, and when it is back after a restart."""

    machine: Machine
    clock: Callable[[], float]
    ignored: Callable[[], str]  # the setting that a test lets take no effect
    _puma: Puma = field(init=False)
    _began: float = field(init=False)
    _back: float = 0.0
    _usage: Usage = field(init=False)
    _booted: float = field(init=False)
    _hardware: tuple[int, float] = (0, 0.0)
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._begin()

    def set(self, name: str, value: object) -> None:
        """Change a setting, and restart where it needs that. Raise UnknownSetting, BadSetting."""
        changed = self.machine.changed(name, value)
        if name == self.ignored():
            return
        if name in OF_DYNFLOW:
            self.machine = changed
            return
        self._hold_still()
        self.machine = changed
        if name in AT_ONCE:
            self._begin()
        else:
            self.restart()

    def replace(self, machine: Machine) -> None:
        """Be another machine, at once."""
        self._hold_still()
        self.machine, self._back = machine, 0.0
        self._begin()

    def restart(self) -> None:
        """Break off what runs, and serve nobody for a while."""
        self._back = self.clock() + self.machine.restart_seconds
        self._hold_still()
        self._begin()

    def away(self) -> float:
        """Give the seconds until it serves again; 0 while it does."""
        return max(0.0, self._back - self.clock())

    def told(self) -> dict[str, object]:
        """Tell what Puma does."""
        return self._puma.told() | {"ready": not self.away()}

    def reading(self, clock: float) -> MachineReading:
        """Return what the machine has used since it started, which takes no time of it. clock: as it shows now."""
        self._look()
        uptime = self.clock() - self._booted
        machine, others = self.machine, system_gib(self.machine)
        puma = Processes(
            machine.puma_workers, self._puma.threads(), self._puma.memory_gib(), others
        )
        # A machine that swaps has lent all that its workers may touch.
        needed = needed_gib(machine)
        used = needed if needed > machine.memory_gib else others + puma.memory_gib
        return self._usage.reading(machine, used, clock, uptime, puma)

    def control_statistics(self) -> dict[str, object] | None:
        """Return the statistics of Puma's control server; None while Puma restarts."""
        if self.away():
            return None
        self._look()
        return self._puma.control_statistics()

    def _look(self) -> None:
        """Bring the model to the present instant."""
        if self.machine.time_scale:
            self._turn()

    async def go_through(self, method: str, path: str) -> None:
        """Wait as long as the request would take. Raise Busy, Problem."""
        if self.away():
            raise Busy
        if not self.machine.time_scale:
            return
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def leave(outcome: Outcome) -> None:
            if not done.done():
                done.set_result(outcome)

        self._puma.arrive(self._now(), work_of(method, path), leave)
        self._wake()
        outcome = await done
        if outcome in (Outcome.FULL, Outcome.RESTARTED):
            raise Busy
        if text := _SAID.get(outcome):
            raise Problem(500, {"displayMessage": text, "errors": [text]})

    def _now(self) -> float:
        return (self.clock() - self._began) / self.machine.time_scale

    def _hold_still(self) -> None:
        """Let those who wait in the model leave it."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._puma.clear()

    def _begin(self) -> None:
        self._began = self.clock()
        hardware = self.machine.cpus, self.machine.memory_gib
        if hardware != self._hardware:  # another machine starts
            self._usage, self._booted, self._hardware = Usage(), self._began, hardware
        self._puma = Puma(self.machine, usage=self._usage)

    def _wake(self) -> None:
        """Be called when the next request has ended."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        at = self._puma.next_at()
        if at < math.inf:
            seconds = (at - self._now()) * self.machine.time_scale
            self._timer = asyncio.get_running_loop().call_later(max(0.0, seconds), self._turn)

    def _turn(self) -> None:
        self._puma.advance(self._now())
        self._wake()
