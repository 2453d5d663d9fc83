"""Give the machine's processor time to groups of processes, so that they and the others add up to it. Pure.

What a group has used is the growth of the cgroups that belong to it as a whole, and of its other processes: their own time,
and that of children which they waited for, less what was counted of these while they lived. Kernels count the
machine by ticks and processes exactly, and at instants that are apart: so a group gets at most what the machine
used; what is missing, it gets later.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from campaigns.targets.watches.base import Key
from campaigns.targets.watches.catalog import LOAD, OTHERS, OWN
from campaigns.targets.watches.groups import Groups
from campaigns.targets.watches.sources.ssh.proc import printable
from campaigns.targets.watches.sources.ssh.processes import Process
from campaigns.targets.watches.sources.ssh.services import Service

MOST_NICED = 20
"""Niced programs that are counted by name; those that come later are one."""
MORE_NICED = "other programs"
UNIT_FIELDS = {
    "group.periods": "periods",
    "group.throttled_periods": "throttled",
    "group.read": "read",
    "group.written": "written",
    "memory.oom_kills": "oom_kills",
}


@dataclass(slots=True)
class Snapshot:
    """The processes and cgroups at one instant. complete: whether all processes were listed."""

    uptime: float | None
    busy: float
    rows: Sequence[Process]
    services: Mapping[str, Service]
    threads: Mapping[tuple[int, int], int] = field(default_factory=dict)
    own: Collection[int] = ()
    load: Collection[int] = ()


class Accounts:
    """Counters of groups, from one snapshot after the other. None of them ever falls."""

    def __init__(self, groups: Groups, ticks: int) -> None:
        self.groups = groups
        self._ticks = ticks
        self._names = [OWN, LOAD, *groups.names, OTHERS]
        self._due = dict.fromkeys(self._names, 0.0)
        self._counters: dict[Key, float] = {}
        self._before: Snapshot | None = None
        self._of: dict[int, str] = {}
        self.loads = False
        """Whether processes of the load generator were seen."""

    def group_of(self, row: Process) -> str:
        """Return the group of a process of the last snapshot."""
        return self._of.get(row.pid, OTHERS)

    def take(self, now: Snapshot) -> dict[Key, float]:
        """Return the counters and gauges of groups after a snapshot."""
        whole = self._whole(now)
        self._of = {row.pid: self._group(row, now, whole) for row in now.rows}
        self.loads = self.loads or bool(now.load)
        names = [name for name in self._names if name != LOAD or self.loads]
        before, self._before = self._before, now
        counters = self._counters
        for name in names:
            counters.setdefault(Key("group.cpu", name), 0.0)
        if before is not None:
            self._grow_cpu(before, now, whole)
        self._grow_niced(before, now)
        self._grow_units(before or now, now, whole)  # at first they are 0
        return {**counters, **self._gauges(before, now, whole)}

    def _whole(self, now: Snapshot) -> dict[str, str]:
        """Return the cgroups that belong to a group as a whole, with it; not where a process of ours is in it."""
        ours = {row.cgroup for row in now.rows if row.pid in now.own or row.pid in now.load}
        found = {}
        for path in now.services:
            name = self.groups.of_cgroup(path) if path else ""
            if name and not any(each == path or each.startswith(path + "/") for each in ours):
                found[path] = name
        return found

    def _group(self, row: Process, now: Snapshot, whole: Mapping[str, str]) -> str:
        if row.pid in now.own:
            return OWN
        if row.pid in now.load:
            return LOAD
        unit = _unit_of(row.cgroup, whole)
        return whole[unit] if unit else self.groups.of(row.cgroup, row.comm, row.word)

    def _grow_cpu(
        self,
        before: Snapshot,
        now: Snapshot,
        whole: Mapping[str, str],
    ) -> None:
        due, given = self._due, 0.0
        counted = {path for path in whole if now.services[path].cpu is not None}
        for path in counted:
            used = now.services[path].cpu or 0.0
            earlier = before.services.get(path)
            was = earlier.cpu if earlier is not None and earlier.cpu is not None else 0.0
            due[whole[path]] += used - was if used >= was else used
        was_there = {(row.pid, row.start): row for row in before.rows}
        are_there = {(row.pid, row.start): row for row in now.rows}
        ended: dict[int, float] = {}
        for key, row in was_there.items():
            if key not in are_there:
                ended[row.parent] = ended.get(row.parent, 0.0) + row.total
        for key, row in are_there.items():
            if _unit_of(row.cgroup, counted):
                continue
            earlier_row = was_there.get(key)
            if earlier_row is None:
                if self._is_new(row, before):
                    due[self._of[row.pid]] += row.total
                continue
            own = max(row.cpu - earlier_row.cpu, 0.0)
            waited = max(row.waited_for - earlier_row.waited_for - ended.get(row.pid, 0.0), 0.0)
            due[self._of[row.pid]] += own + waited
        busy = max(now.busy - before.busy, 0.0)
        wanted = {name: max(value, 0.0) for name, value in due.items() if name != OTHERS}
        due[OTHERS] = 0.0
        share = min(1.0, busy / total) if (total := sum(wanted.values())) > 0 else 0.0
        for name, value in wanted.items():
            part = value * share
            due[name] = min(value - part, busy)
            given += part
            if part or Key("group.cpu", name) in self._counters:
                key_of = Key("group.cpu", name)
                self._counters[key_of] = self._counters.get(key_of, 0.0) + part
        self._counters[Key("group.cpu", OTHERS)] += max(busy - given, 0.0)

    def _grow_niced(self, before: Snapshot | None, now: Snapshot) -> None:
        """Count what niced programs use, by name: they give way, and whose they are is told where the processor is full."""
        earlier = {(row.pid, row.start): row for row in before.rows} if before else {}
        for row in now.rows:
            if not row.niced or row.pid in now.own or row.pid in now.load:
                continue
            key = Key("group.niced", printable(row.comm))
            known = [each for each in self._counters if each.quantity == "group.niced"]
            if key not in known and len(known) >= MOST_NICED:
                key = Key("group.niced", MORE_NICED)
            was = earlier.get((row.pid, row.start))
            fresh = before is not None and was is None and self._is_new(row, before)
            grown = row.cpu - was.cpu if was is not None else row.cpu if fresh else 0.0
            if key in self._counters:
                self._counters[key] += max(grown, 0.0)
            else:  # it begins at 0, so that its rate is known from here on
                self._counters[key] = 0.0

    def _is_new(self, row: Process, before: Snapshot) -> bool:
        """Return whether a process began after the earlier snapshot, and was not just left out of it."""
        return before.uptime is None or row.start / self._ticks >= before.uptime - 0.05

    def _grow_units(self, before: Snapshot, now: Snapshot, whole: Mapping[str, str]) -> None:
        waits: dict[Key, float] = {}
        for path, service in now.services.items():
            name = whole.get(path) if path else ""
            earlier = before.services.get(path, Service())
            if name is None:
                continue
            for quantity, attribute in UNIT_FIELDS.items():
                value = getattr(service, attribute)
                was = getattr(earlier, attribute) or 0.0
                if value is None or (not path and quantity == "memory.oom_kills"):
                    continue
                key = Key(quantity, name)
                grown = value - was if value >= was else value
                self._counters[key] = self._counters.get(key, 0.0) + grown
            for (resource, kind), value in service.pressures.items():
                was = earlier.pressures.get((resource, kind), 0.0)
                key = Key(f"pressure.{resource}.{kind}", name)
                if path:
                    waits[key] = max(waits.get(key, 0.0), value - was if value >= was else value)
        for key, value in waits.items():  # of several services, the one that waited longest
            self._counters[key] = self._counters.get(key, 0.0) + value

    def _gauges(
        self, before: Snapshot | None, now: Snapshot, whole: Mapping[str, str]
    ) -> dict[Key, float]:
        values: dict[Key, float] = {}
        weighed = {path for path in whole if now.services[path].used is not None}
        for name in (each for each in self._names if each != LOAD or self.loads):
            for quantity in ("memory", "processes", "threads"):
                values[Key(f"group.{quantity}", name)] = 0.0
        for path in weighed:
            values[Key("group.memory", whole[path])] += now.services[path].used or 0.0
        for row in now.rows:
            name = self._of[row.pid]
            values[Key("group.processes", name)] += 1
            values[Key("group.threads", name)] += row.threads
            if not _unit_of(row.cgroup, weighed):
                values[Key("group.memory", name)] += row.memory
            if row.descriptors is not None:
                key = Key("group.descriptors", name)
                values[key] = max(values.get(key, 0.0), row.descriptors)
        if before is not None:
            values |= self._busiest(before, now)
        return values

    def _busiest(self, before: Snapshot, now: Snapshot) -> dict[Key, float]:
        """Return of each group the share of a core that its busiest thread took.

        Where the threads of a process are read for the first time, each had used at most what the process had: the share is
        at least what is above it.
        """
        if now.uptime is None or before.uptime is None or now.uptime <= before.uptime:
            return {}
        seconds, values = now.uptime - before.uptime, dict[Key, float]()
        earlier = {(row.pid, row.start): row.cpu for row in before.rows}
        measured = {pid for pid, _ in now.threads}
        used = {pid: cpu * self._ticks for (pid, _), cpu in earlier.items()}
        for row in now.rows:
            was = earlier.get((row.pid, row.start))
            if was is not None and row.pid not in measured:
                # Threads are read of processes that take more than half of a core: of others it is at most that.
                most = 1.0 if row.threads == 1 else 0.5
                key = Key("group.busiest_thread", self._of[row.pid])
                values[key] = max(values.get(key, 0.0), min((row.cpu - was) / seconds, most), 0.0)
        for thread, ticks in now.threads.items():
            if thread[0] in self._of:
                was_used = before.threads.get(thread, used.get(thread[0], 0.0))
                share = min(max(ticks - was_used, 0.0) / self._ticks / seconds, 1.0)
                key = Key("group.busiest_thread", self._of[thread[0]])
                values[key] = max(values.get(key, 0.0), share)
        return values


def _unit_of(cgroup: str, units: Collection[str]) -> str:
    """Return the unit in which a cgroup lies; empty without one."""
    while cgroup:
        if cgroup in units:
            return cgroup
        cgroup = cgroup.rpartition("/")[0]
    return ""
