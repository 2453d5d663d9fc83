"""Turn the frames of one run into values, facts and events. Pure: it is fed with what came, live or from a recording."""

import re
from collections.abc import Iterator, Mapping, Sequence

from campaigns.targets.watches.base import Event, Frame, Group, Key, Sink
from campaigns.targets.watches.groups import Groups
from campaigns.targets.watches.sources.ssh import disks, proc
from campaigns.targets.watches.sources.ssh.accounts import Accounts, Snapshot
from campaigns.targets.watches.sources.ssh.events import Events
from campaigns.targets.watches.sources.ssh.frames import Raw
from campaigns.targets.watches.sources.ssh.processes import (
    Machine,
    Process,
    Processes,
    descendants,
    machine_of,
    own_processes,
    threads_of,
)
from campaigns.targets.watches.sources.ssh.schedule import Schedule, happened
from campaigns.targets.watches.sources.ssh.services import services_of

MANY_PROCESSES = 1000


class Reader:
    """Reads one frame after the other into a sink.

    worker: the process number of the worker, the id of its machine's boot, and its namespace of process numbers: where
    they are the target's, its processes are the load generator's. way: what runs the sampler there.
    """

    def __init__(
        self,
        sink: Sink,
        groups: Sequence[Group],
        worker: tuple[int, str, str] = (0, "", ""),
        way: str = "",
    ) -> None:
        self.sink = sink
        self.events = Events()
        self.frames = 0
        self.first: Raw | None = None
        self.last: Raw | None = None
        self._worker = worker
        self._way = way
        self._groups = Groups(groups)
        self._machine = Machine()
        self._processes = Processes(self._machine)
        self._accounts = Accounts(self._groups, self._machine.ticks)
        self._labels: dict[str, str] = {}
        self._constant: dict[Key, float] = {}
        self._own_seconds = 0.0
        self._counted: dict[tuple[int, int], Process] = {}
        self._same_machine = False
        self._cores = 1.0
        self._many = False

    def read(self, raw: Raw) -> None:
        """Read a frame into the sink."""
        if self.first is None:
            self._begin(raw)
        values = self._values(raw.parts)
        stalls = proc.stalls(raw.parts["/proc/vmstat"]) if "/proc/vmstat" in raw.parts else None
        values |= self._of_processes(raw, proc.busy_of(values))
        uptime = raw.uptime if raw.at_once else None
        self._give(self.events.frame(raw.at, uptime, values, stalls))
        if "mounts" in raw.parts or "df" in raw.parts:
            systems = disks.file_systems(raw.parts)
            self._give(self.events.disks(raw.at, systems, raw.parts))
            for mount, system in systems.items():
                values[Key("disk.free", mount)] = system.free
                values[Key("disk.read_only", mount)] = float(system.read_only)
        self.sink.frame(Frame(raw.at, raw.received, values, uptime))
        self.frames += 1
        self.last = raw

    def finish(self, before: Schedule, after: Schedule) -> None:
        """Report what still goes on, and what ran by the schedules of the beginning and the end."""
        self._give(self.events.finish())
        if self.first is not None and self.last is not None:
            boot = None if self.last.uptime is None else self.last.at - self.last.uptime
            found = happened(before, after, self.first.at, self.last.at, boot)
            self._give(self.events.given(found))

    def _give(self, events: Iterator[Event]) -> None:
        for event in events:
            self.sink.event(event)

    def _begin(self, raw: Raw) -> None:
        parts, sink = raw.parts, self.sink
        self.first = raw
        self._machine = machine_of(parts) or self._machine
        self._processes = Processes(self._machine)
        self._accounts = Accounts(self._groups, self._machine.ticks)
        self._labels = disks.labels(parts)
        self._constant = proc.speeds(parts) | proc.local_ports(
            parts.get("/proc/sys/net/ipv4/ip_local_port_range", "")
        )
        number, boot, namespace = self._worker
        self._same_machine = bool(number) and (boot, namespace) == (
            parts.get("/proc/sys/kernel/random/boot_id", "").strip(),
            parts.get("pid_namespace", "").strip(),
        )
        cores = sum(
            bool(re.match(r"cpu\d+ ", line)) for line in parts.get("/proc/stat", "").split("\n")
        )
        self._cores = float(cores or 1)
        facts: dict[str, str | float] = {
            "kernel": proc.printable(parts.get("/proc/sys/kernel/osrelease", "").strip(), 100),
            "system": _pretty_name(parts.get("/etc/os-release", "")),
            "processor": proc.printable(parts.get("model", "").rpartition(":")[2].strip(), 100),
            "pressure": "yes" if "/proc/pressure/cpu" in parts else "no",
            "cgroups": _cgroups(parts),
            "sampler": self._way,
        }
        if cores:
            facts["cores"] = float(cores)
        memory = proc.meminfo(parts.get("/proc/meminfo", ""))
        if Key("memory.total") in memory:
            facts["memory_total"] = memory[Key("memory.total")]
        for name, value in facts.items():
            if value != "":
                sink.fact(name, value)

    def _values(self, parts: Mapping[str, str]) -> proc.Values:
        def text(path: str) -> str:
            return parts.get(f"/proc/{path}", "")

        values = {
            **proc.stat(text("stat"), self._machine.ticks),
            **proc.meminfo(text("meminfo")),
            **proc.vmstat(text("vmstat")),
            **proc.diskstats(text("diskstats"), self._labels),
            **proc.net_dev(text("net/dev")),
            **proc.netstat(text("net/netstat")),
            **proc.snmp(text("net/snmp")),
            **proc.sockstat(text("net/sockstat")),
            **proc.loadavg(text("loadavg")),
            **proc.file_nr(text("sys/fs/file-nr")),
            **proc.disk_errors(parts, self._labels),
            **self._constant,
        }
        for resource in proc.PRESSURES:
            values |= proc.pressure(text(f"pressure/{resource}"), resource)
        if (clock := proc.frequency(parts)) is not None:
            values[Key("cpu.frequency")] = clock
        if (throttles := proc.heat_throttles(parts)) is not None:
            values[Key("cpu.heat_throttles")] = throttles
        return values

    def _of_processes(self, raw: Raw, busy: float | None) -> proc.Values:
        rows = self._processes.of(raw)
        if rows is None or busy is None:
            return {}
        own = own_processes(rows, self._machine.sampler)
        load = descendants(rows, self._worker[0]) - own if self._same_machine else set[int]()
        now = Snapshot(
            raw.uptime, busy, rows, services_of(raw.parts), threads_of(raw.parts), own, load
        )
        values = self._accounts.take(now)
        groups = {row.pid: self._accounts.group_of(row) for row in rows}
        self._give(self.events.processes(raw.at, rows, own, groups, self._cores))
        self._add_cost(rows, own)
        if not self._many and len(rows) > MANY_PROCESSES:
            self._many = True
            self.sink.fact("processes", "more than 1,000: read every 10 s, instead of every 5 s")
        if left_out := proc.number(raw.parts.get("left_out", "")):
            self.sink.fact("processes_left_out", left_out)
        return values

    def _add_cost(self, rows: Sequence[Process], own: set[int]) -> None:
        """Sum up what the sampler and its session have used, with the login."""
        now = {(row.pid, row.start): row for row in rows if row.pid in own}
        for key, row in now.items():
            was = self._counted.get(key)
            if was is not None:
                self._own_seconds += max(row.total - was.total, 0.0)
            elif (
                not self._counted
            ):  # later ones are short: their parent has waited for them by the next look
                self._own_seconds += row.total
        self._counted = now
        self.sink.cost(self._own_seconds)


def _pretty_name(text: str) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.MULTILINE)
    return proc.printable(match[1], 100) if match else ""


def _cgroups(parts: Mapping[str, str]) -> str:
    paths = [path for path in parts if path.startswith("/sys/fs/cgroup/")]
    if any("/cpuacct/" in path or path.startswith("/sys/fs/cgroup/cpu/") for path in paths):
        return "1"
    return "2" if paths else ""
