"""What the modelled machine has used so far: CPU, memory, swap, and who waited for them. Pure.

The model tells how much is used between two of its events (`Flow`), and this adds it up (`Usage`). A request
that finds its pages swapped waits for them a share of its time; pressure is as the kernel defines it: the share
of time in which at least one (`some`), or each (`full`), of those who are served waits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from sandbox.exporter import MachineReading, ProcessReading
from sandbox.katello.machine import Machine

PAGE_SECONDS = 0.001  # that a request waits for a swapped page
_GIB = 2.0**30
_OTHERS = {  # processes beside Puma: their share of the CPU that is not Puma's, of the memory that is not, and threads
    "java": (0.6, 0.3, 60),
    "postgres": (0.4, 0.3, 40),
    "httpd": (0.0, 0.02, 120),
    "redis-server": (0.0, 0.01, 4),
}
_LEAST_AVAILABLE = 0.02  # of the memory: the kernel keeps some


@dataclass(frozen=True, slots=True)
class Flow:
    """What is used in a second of the model, while nobody comes or ends.

    user, system: CPUs, for the work and for switching between too many. ruby: those of both that Puma uses. wanted: CPUs that they could use. requests: those
    that are served. slower: by how much each is slowed down for want of CPU; swapping: for want of memory.
    """

    user: float = 0.0
    system: float = 0.0
    ruby: float = 0.0
    wanted: float = 0.0
    requests: int = 0
    slower: float = 1.0
    swapping: float = 1.0

    @property
    def waits(self) -> float:
        """Share of its time that a request waits for memory."""
        return 1 - 1 / self.swapping

    @property
    def some_wait_for_cpu(self) -> float:
        """Share of time in which a task waits for a CPU."""
        return float(1 - (1 / self.slower) ** self.wanted)

    @property
    def some_wait_for_memory(self) -> float:
        """Share of time in which a request waits for memory."""
        return float(1 - (1 - self.waits) ** self.requests)

    @property
    def all_wait_for_memory(self) -> float:
        """Share of time in which all wait for memory."""
        return float(self.waits**self.requests) if self.requests else 0.0


IDLE = Flow()


@dataclass(frozen=True, slots=True)
class Processes:
    """What Puma is made of at one instant: processes, threads, and GiB of memory; and GiB of all others."""

    workers: int
    threads: int
    memory_gib: float
    others_gib: float


@dataclass(frozen=True, slots=True)
class ContentProcesses:
    """Processes of the content app: how many, seconds of CPU since the start, GiB of memory."""

    processes: int
    cpu: float
    memory_gib: float


@dataclass(slots=True, eq=False)
class Usage:
    """Sums since the machine started, in seconds of the clock here. `flow` is what is used now."""

    flow: Flow = IDLE
    user: float = 0.0
    system: float = 0.0
    ruby: float = 0.0
    iowait: float = 0.0
    pages: float = 0.0
    cpu_waiting: float = 0.0
    memory_waiting: float = 0.0
    memory_stalled: float = 0.0
    disk_waiting: float = 0.0

    def add(self, seconds: float) -> None:
        """Add what was used in the last seconds."""
        flow = self.flow
        if not flow.requests:
            return
        self.user += seconds * flow.user
        self.system += seconds * flow.system
        self.ruby += seconds * flow.ruby
        self.iowait += seconds * flow.wanted / flow.slower * flow.waits
        self.disk_waiting += seconds * flow.requests * flow.waits
        self.pages += seconds * flow.requests * flow.waits / PAGE_SECONDS
        self.cpu_waiting += seconds * flow.some_wait_for_cpu
        self.memory_waiting += seconds * flow.some_wait_for_memory
        self.memory_stalled += seconds * flow.all_wait_for_memory

    def joined(self, other: "Usage") -> "Usage":
        """Return the sums of both; `ruby` is that of this one."""
        names = [each.name for each in fields(self) if each.name not in ("flow", "ruby")]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        wanted = self.flow.wanted + other.flow.wanted
        return Usage(flow=Flow(wanted=wanted), ruby=self.ruby, **sums)

    def reading(
        self,
        machine: Machine,
        needed_gib: float,
        clock: float,
        uptime: float,
        processes: Processes | None = None,
        content: ContentProcesses | None = None,
    ) -> MachineReading:
        """Return all that exporters tell; CPUs share the work evenly. needed_gib: of memory, now."""
        modes = {"user": self.user, "system": self.system, "iowait": self.iowait}
        memory = machine.memory_gib * _GIB
        free = machine.memory_gib - needed_gib
        return MachineReading(
            clock=clock,
            uptime=uptime,
            cpus=({mode: sum_ / machine.cpus for mode, sum_ in modes.items()},) * machine.cpus,
            running=float(round(self.flow.wanted)),
            memory=memory,
            available=max(free * _GIB, _LEAST_AVAILABLE * memory),
            swap=memory,
            swap_used=min(memory, max(0.0, -free) * _GIB),
            pages_in=float(int(self.pages)),
            pages_out=float(int(self.pages)),  # each takes the place of another
            # Who waits for a swapped page waits for the disk, too.
            waiting={
                "cpu": self.cpu_waiting,
                "memory": self.memory_waiting,
                "io": self.memory_waiting,
            },
            stalled={"memory": self.memory_stalled, "io": self.memory_stalled},
            disk_busy=self.memory_waiting,
            disk_waiting=self.disk_waiting,
            processes=(*self._content(content), *self._processes(processes, content)),
        )

    def _content(self, now: ContentProcesses | None) -> Iterator[ProcessReading]:
        if now:
            count, memory = now.processes, now.memory_gib * _GIB
            yield ProcessReading("pulpcore-content", count, count, now.cpu, memory)

    def _processes(
        self, now: Processes | None, content: ContentProcesses | None
    ) -> tuple[ProcessReading, ...]:
        """Tell the model's Puma, and all others by fixed shares of what is left."""
        if now is None:
            return ()
        rest = self.user + self.system - self.ruby - (content.cpu if content else 0.0)
        puma = ProcessReading(
            "puma", now.workers + 1, now.threads, self.ruby, now.memory_gib * _GIB
        )
        return puma, *(
            ProcessReading(name, 1, threads, cpu * rest, memory * now.others_gib * _GIB)
            for name, (cpu, memory, threads) in _OTHERS.items()
        )
