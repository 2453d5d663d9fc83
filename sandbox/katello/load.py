"""Makes requests wait as the modelled server would. The time is waited for, and no CPU is burnt."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sandbox.exporter import MachineReading
from sandbox.katello.answers import Problem
from sandbox.katello.content_app import ContentApp
from sandbox.katello.machine import AT_ONCE, OF_CONTENT, OF_PROXY, OF_TASKS, Machine
from sandbox.katello.proxy import Proxy
from sandbox.katello.puma import POOL_SECONDS, Outcome, Puma, needed_gib, system_gib
from sandbox.katello.usage import ContentProcesses, Processes, Usage
from sandbox.katello.work import work_of

_POOL = (
    f"could not obtain a connection from the pool within {POOL_SECONDS:.3f} seconds "
    f"(waited {POOL_SECONDS + 0.001:.3f} seconds); all pooled connections were in use"
)
_BY_PROXY = ("/rhsm", "/register", "/unattended")
"""Where the paths begin that hosts ask for, through a smart proxy if there is one."""
_SAID = {
    Outcome.NO_POOL: _POOL,
    Outcome.NO_CONNECTION: "FATAL:  sorry, too many clients already",
    Outcome.TIMED_OUT: "Timed out reading data from server",
}


class Busy(Exception):
    """Nobody takes the request: httpd answers by itself, with a page."""


class GivenUp(Exception):
    """The smart proxy waits no longer for the answer of the server."""


@dataclass(slots=True, eq=False)
class _Turns:
    """Advances a model when its next event is due. now: on the clock of the model; scale: seconds here for one of it."""

    model: Puma | Proxy | ContentApp
    now: Callable[[], float]
    scale: float
    _timer: asyncio.TimerHandle | None = None

    def look(self) -> None:
        """Bring the model to the present instant."""
        self.model.advance(self.now())
        self.wake()

    def wake(self) -> None:
        """Be called when the next event is due."""
        self.stop()
        at = self.model.next_at()
        if at < math.inf:
            seconds = (at - self.now()) * self.scale
            self._timer = asyncio.get_running_loop().call_later(max(0.0, seconds), self.look)

    def stop(self) -> None:
        """Be called no more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None


@dataclass(slots=True, eq=False)
class Load:
    """The server that is modelled now, and when it is back after a restart."""

    machine: Machine
    clock: Callable[[], float]
    ignored: Callable[[], str]  # the setting that a test lets take no effect
    _puma: Puma = field(init=False)
    _proxy: Proxy = field(init=False)
    _turns: _Turns = field(init=False)
    _turns_of_proxy: _Turns = field(init=False)
    _content: ContentApp = field(init=False)
    _turns_of_content: _Turns = field(init=False)
    _usage_of_content: Usage = field(init=False)
    _began: float = field(init=False)
    _back: float = 0.0
    _usage: Usage = field(init=False)
    _booted: float = field(init=False)
    _hardware: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        self._begin()

    def set(self, name: str, value: object) -> None:
        """Change a setting, and restart where it needs that. Raise UnknownSetting, BadSetting."""
        changed = self.machine.changed(name, value)
        if name == self.ignored():
            return
        if name in OF_TASKS:
            self.machine = changed
            return
        if name in OF_CONTENT:
            self._hold_content_still()
            self.machine = changed
            self._begin_content()
            return
        if name in OF_PROXY:
            self._hold_proxy_still()
            self._hold_content_still()
            self.machine = changed
            self._begin_proxy()
            self._begin_content()
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

    def told_of_content(self) -> dict[str, object]:
        """Tell what the content app does."""
        return self._content.told()

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
        if not self._has_content:
            return self._usage.reading(machine, used, clock, uptime, puma)
        used += self._content.place.needed_gib(self._content.inside) - needed
        both = self._usage.joined(self._usage_of_content)
        return both.reading(machine, used, clock, uptime, puma, self._content_processes())

    def reading_of_proxy(self, clock: float) -> MachineReading | None:
        """Return what the smart proxy has used for content, like `reading`; None without a proxy or a model of content."""
        machine, place = self.machine, self._content.place
        if not (machine.proxy_cpus and machine.content_scale):
            return None
        self._turns_of_content.look()
        hardware = replace(machine, cpus=place.cpus, memory_gib=place.memory_gib)
        needed = place.needed_gib(self._content.inside)
        uptime = self.clock() - self._booted
        processes = self._content_processes()
        return self._usage_of_content.reading(hardware, needed, clock, uptime, content=processes)

    @property
    def _has_content(self) -> bool:
        """Whether content is modelled on the server itself."""
        return bool(self.machine.content_scale and not self.machine.proxy_cpus)

    def _content_processes(self) -> ContentProcesses:
        place = self._content.place
        return ContentProcesses(place.processes, self._usage_of_content.ruby, place.content_gib)

    def control_statistics(self) -> dict[str, object] | None:
        """Return the statistics of Puma's control server; None while Puma restarts."""
        if self.away():
            return None
        self._look()
        return self._puma.control_statistics()

    def _look(self) -> None:
        """Bring the model to the present instant."""
        if self.machine.time_scale:
            self._turns.look()
        if self.machine.content_scale:
            self._turns_of_content.look()

    async def deliver(self, *, cold: bool, new_tls: bool) -> None:
        """Wait as long as a request for content would take. Raise Busy."""
        if self.away():
            raise Busy
        if not self.machine.content_scale:
            return
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def leave(served: bool) -> None:
            if not done.done():
                done.set_result(served)

        self._content.arrive(self._content_now(), leave, cold=cold, new_tls=new_tls)
        self._turns_of_content.wake()
        if not await done:
            raise Busy

    async def go_through(self, method: str, path: str) -> None:
        """Wait as long as the request would take. Raise Busy, Problem, GivenUp."""
        if self.away():
            raise Busy
        if not self.machine.time_scale:
            return
        if self.machine.proxy_cpus and path.startswith(_BY_PROXY):
            await self._through_proxy(method, path)
        else:
            await self._served(method, path)

    async def _through_proxy(self, method: str, path: str) -> None:
        """Wait for the proxy, and as long as it waits for the server, which works on in any case."""
        proxy, turns, machine = self._proxy, self._turns_of_proxy, self.machine
        passed = asyncio.Event()
        proxy.arrive(self._now(), passed.set)
        turns.wake()
        await passed.wait()
        try:
            async with asyncio.timeout(machine.proxy_timeout * machine.time_scale):
                await self._served(method, path)
        except TimeoutError:
            raise GivenUp from None
        finally:
            if proxy is self._proxy:
                proxy.answered(self._now())
                turns.wake()

    async def _served(self, method: str, path: str) -> None:
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def leave(outcome: Outcome) -> None:
            if not done.done():
                done.set_result(outcome)

        self._puma.arrive(self._now(), work_of(method, path), leave)
        self._turns.wake()
        outcome = await done
        if outcome in (Outcome.FULL, Outcome.RESTARTED):
            raise Busy
        if text := _SAID.get(outcome):
            raise Problem(500, {"displayMessage": text, "errors": [text]})

    def _now(self) -> float:
        return (self.clock() - self._began) / self.machine.time_scale

    def _content_now(self) -> float:
        return (self.clock() - self._began) / self.machine.content_scale

    def _hold_still(self) -> None:
        """Let those who wait in the models leave them."""
        self._turns.stop()
        self._puma.clear()
        self._hold_proxy_still()
        self._hold_content_still()

    def _hold_proxy_still(self) -> None:
        self._turns_of_proxy.stop()
        self._proxy.clear()

    def _hold_content_still(self) -> None:
        self._turns_of_content.stop()
        self._content.clear()

    def _begin(self) -> None:
        self._began = self.clock()
        hardware = self.machine.cpus, self.machine.memory_gib
        if hardware != self._hardware:  # another machine starts
            self._usage, self._booted, self._hardware = Usage(), self._began, hardware
            self._usage_of_content = Usage()
        self._puma = Puma(self.machine, usage=self._usage)
        self._turns = _Turns(self._puma, self._now, self.machine.time_scale)
        self._begin_proxy()
        self._begin_content()

    def _begin_content(self) -> None:
        now = self._content_now() if self.machine.content_scale else 0.0
        self._content = ContentApp(self.machine, now, self._usage_of_content)
        self._turns_of_content = _Turns(
            self._content, self._content_now, self.machine.content_scale
        )

    def _begin_proxy(self) -> None:
        self._proxy = Proxy(self.machine, self._now() if self.machine.time_scale else 0.0)
        self._turns_of_proxy = _Turns(self._proxy, self._now, self.machine.time_scale)
