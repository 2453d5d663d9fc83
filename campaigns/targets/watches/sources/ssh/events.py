"""See what happened on a machine from one frame to the next. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from campaigns.kit.numbers import counted, duration, number
from campaigns.targets.watches.base import Event, Key
from campaigns.targets.watches.catalog import OTHERS
from campaigns.targets.watches.sources.ssh.disks import FileSystem
from campaigns.targets.watches.sources.ssh.proc import printable
from campaigns.targets.watches.sources.ssh.processes import Process

STEAL_SHARE = 0.02
THROTTLED_SHARE = 0.1
"""Of the periods of a quota."""
FREQUENCY_SHARE = 0.9
"""Of the clock at the start, below which a machine that works is throttled."""
WORKS_SHARE = 0.5
CLOCK_SECONDS = 0.1
FULL_SHARE = 0.9
UNIT_SHARE = 0.02
"""Of the machine's cores, from which a service in no group is an event."""
USUAL_QUIET_SECONDS, QUIET_SECONDS = 3.0, {"timer": 12.0, "throttled": 25.0, "raid": 25.0}
"""So long without it ends something that went on; longer for what is not looked for in each frame."""
SNAPSHOT = re.compile(r"LVM-\w{64}-cow|.*-cow")
REBUILDS = re.compile(r"\b(recovery|resync|reshape|check|repair)\s*=\s*([\d.]{1,8})%")
MOST = 500
"""Events of one run; more are not reported."""
# The touched resources are those of campaigns.stats.binding.
TOUCHES = {
    "swap": "memory",
    "oom": "memory",
    "reclaim": "memory",
    "steal": "steal",
    "throttled": "cpu",
    "disk_full": "disk",
    "read_only": "disk",
    "raid": "disk",
    "snapshot": "disk",
}


@dataclass(slots=True)
class Episode:
    """Something that goes on. amounts: summed up, or the largest, as its text needs."""

    begin: float
    last: float
    amounts: list[float]


class Events:
    """Gives events out when they are over, and the rest at `finish`."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Episode] = {}
        self._before: Mapping[Key, float] = {}
        self._at: float | None = None
        self._boot: float | None = None
        self._stalls: float | None = None
        self._frequency: float | None = None
        self._throttled: float | None = None
        self._reported: set[tuple[str, str]] = set()
        self._mounts: Mapping[str, FileSystem] = {}
        self._sessions: set[tuple[int, int]] | None = None
        self._waiting: set[tuple[int, int]] = set()
        self._rows: dict[tuple[int, int], Process] = {}
        self._rows_at: float | None = None
        self._count = 0
        self._gap = 0.0

    def frame(
        self, at: float, uptime: float | None, values: Mapping[Key, float], stalls: float | None
    ) -> Iterator[Event]:
        """Yield what a frame shows against the one before. stalls: how often programs freed memory themselves."""
        before, since = self._before, self._at
        self._before, self._at = {**before, **values}, at
        self._frequency = self._frequency or values.get(Key("cpu.frequency"))
        yield from self._clock(at, uptime)
        if since is not None and at > since:
            self._gap = at - since
            swapped_in, swapped_out = (
                _grown(before, values, Key(f"memory.swap_{way}")) for way in ("in", "out")
            )
            if swapped_in + swapped_out > 0:
                self._goes_on("swap", "", since, at, [swapped_in, swapped_out])
            if (kills := _grown(before, values, Key("memory.oom_kills"))) > 0:
                self._goes_on("oom", "", since, at, [kills])
            if stalls is not None and self._stalls is not None and stalls > self._stalls:
                self._goes_on("reclaim", "", since, at, [stalls - self._stalls])
            modes = ("user", "nice", "system", "idle", "iowait", "irq", "steal")
            spent = {mode: _grown(before, values, Key(f"cpu.{mode}")) for mode in modes}
            whole = sum(spent.values())
            if whole > 0 and spent["steal"] / whole > STEAL_SHARE:
                self._goes_on("steal", "", since, at, [spent["steal"], whole])
            works = 1 - (spent["idle"] + spent["iowait"]) / whole if whole > 0 else 0.0
            self._throttles(since, at, before, values, works)
        self._stalls = self._stalls if stalls is None else stalls
        yield from self._over(at)

    def _clock(self, at: float, uptime: float | None) -> Iterator[Event]:
        if uptime is None:
            return
        boot, self._boot = self._boot, at - uptime
        if boot is not None and abs(self._boot - boot) > CLOCK_SECONDS:
            jump = self._boot - boot
            # What goes on is timed by the clock as it was.
            yield from self._over(None)
            way = "forward" if jump > 0 else "back"
            yield from self._give("clock", f"The clock was set {way} by {duration(abs(jump))}.", at)
            self._at = None if self._at is None else at

    def _throttles(
        self,
        since: float,
        at: float,
        before: Mapping[Key, float],
        values: Mapping[Key, float],
        works: float,
    ) -> None:
        heat = _grown(before, values, Key("cpu.heat_throttles"))
        if heat > 0:
            self._goes_on("throttled", "heat", since, at, [heat])
        for key in values:
            if key.quantity == "group.throttled_periods":
                throttled = _grown(before, values, key)
                periods = _grown(before, values, Key("group.periods", key.label))
                if throttled > THROTTLED_SHARE * periods and throttled > 0:
                    self._goes_on(
                        "throttled", f"quota {key.label}", since, at, [throttled, periods]
                    )
        clock = values.get(Key("cpu.frequency"))
        share = clock / self._frequency if clock and self._frequency else 1.0
        if works > WORKS_SHARE and share < FREQUENCY_SHARE:
            self._goes_on("throttled", "frequency", since, at, [share], least=True)

    def disks(
        self, at: float, systems: Mapping[str, FileSystem], parts: Mapping[str, str]
    ) -> Iterator[Event]:
        """Yield what a look at disks shows: full or read-only file systems, a RAID that is rebuilt, snapshots."""
        for mount, system in systems.items():
            was = self._mounts.get(mount)
            if system.free < 1 - FULL_SHARE:
                text = f"{mount} is {number(100 * (1 - system.free), 2)} % full."
                yield from self._once("disk_full", mount, text, at)
            if system.failed or (system.read_only and was is not None and not was.read_only):
                yield from self._once("read_only", mount, f"{mount} is read-only.", at)
        self._mounts = dict(systems)
        for match in REBUILDS.finditer(parts.get("/proc/mdstat", "")):
            self._goes_on("raid", match[1], at, at, [float(match[2]) if match[2].count(".") < 2 else 0.0])  # fmt: skip
        for path, text in parts.items():
            if path.startswith("/sys/block/dm-") and SNAPSHOT.fullmatch(text.strip()):
                name = path.split("/")[3]
                yield from self._once("snapshot", name, f"There is a snapshot ({name}): each first write is done twice.", at)  # fmt: skip

    def processes(
        self,
        at: float,
        rows: Sequence[Process],
        own: Collection[int],
        groups: Mapping[int, str],
        cores: float,
    ) -> Iterator[Event]:
        """Yield new logins, and services in no group that use much."""
        by_pid = {row.pid: row for row in rows}
        sessions = {
            (row.pid, row.start) for row in rows if row.pid not in own and _is_session(row, by_pid)
        }
        if self._sessions is not None:
            for session in sorted(sessions - self._sessions):
                text = "Somebody logged in by SSH."
                yield from self._once("login", f"{session}", text, at)
        self._sessions = sessions | (self._sessions or set())
        since, self._rows_at = self._rows_at, at
        used: dict[str, float] = {}
        for row in rows:
            was = self._rows.get((row.pid, row.start))
            if groups.get(row.pid) != OTHERS or not row.cgroup.endswith(".service"):
                continue
            grown = row.cpu - was.cpu if was is not None else row.cpu if self._rows else 0.0
            unit = printable(row.cgroup.rpartition("/")[2])
            used[unit] = used.get(unit, 0.0) + max(grown, 0.0)
        self._rows = {(row.pid, row.start): row for row in rows}
        if since is not None and at > since:
            for unit, seconds in used.items():
                if seconds > UNIT_SHARE * cores * (at - since):
                    self._goes_on("timer", unit, since, at, [seconds])

    def given(self, events: Sequence[Event]) -> Iterator[Event]:
        """Yield events that were found elsewhere, as far as there are not too many."""
        for event in events:
            if self._count < MOST:
                self._count += 1
                yield event

    def finish(self) -> Iterator[Event]:
        """Yield what still goes on."""
        yield from self._over(None)

    def _goes_on(
        self,
        kind: str,
        label: str,
        since: float,
        at: float,
        amounts: list[float],
        *,
        least: bool = False,
    ) -> None:
        episode = self._open.get((kind, label))
        if episode is None:
            self._open[kind, label] = Episode(since, at, amounts)
            return
        episode.last = at
        pairs = list(zip(episode.amounts, amounts, strict=True))
        if least:
            episode.amounts = [min(pair) for pair in pairs]
        else:
            episode.amounts = [max(pair) if kind == "raid" else sum(pair) for pair in pairs]

    def _over(self, now: float | None) -> Iterator[Event]:
        """Yield what is over; with None, all."""
        for (kind, label), episode in list(self._open.items()):
            quiet = max(QUIET_SECONDS.get(kind, USUAL_QUIET_SECONDS), 2.5 * self._gap)
            if now is None or episode.last < now - quiet:
                del self._open[kind, label]
                text = _text(kind, label, episode.amounts)
                yield from self._give(kind, text, episode.begin, episode.last)

    def _once(self, kind: str, label: str, text: str, at: float) -> Iterator[Event]:
        if (kind, label) not in self._reported:
            self._reported.add((kind, label))
            yield from self._give(kind, text, at)

    def _give(self, kind: str, text: str, at: float, until: float | None = None) -> Iterator[Event]:
        self._count += 1
        if self._count <= MOST:
            yield Event(kind, text, at, until, TOUCHES.get(kind, ""))


def _grown(before: Mapping[Key, float], values: Mapping[Key, float], key: Key) -> float:
    """Return the growth of a counter; 0 where it began anew."""
    if key not in before or key not in values:
        return 0.0
    return max(values[key] - before[key], 0.0)


def _is_session(row: Process, by_pid: Mapping[int, Process]) -> bool:
    """Return whether a process is that of sshd which stands for a whole session, and has come so far as to start something."""
    parent = by_pid.get(row.parent)
    if parent is None or not row.comm.startswith("sshd") or not parent.comm.startswith("sshd"):
        return False
    above = by_pid.get(parent.parent)
    if above is not None and above.comm.startswith("sshd"):
        return False
    return any(each.parent == row.pid for each in by_pid.values())


def _text(kind: str, label: str, amounts: list[float]) -> str:
    if kind == "swap":
        return f"{number(amounts[0])} pages were swapped in, and {number(amounts[1])} out."
    if kind == "oom":
        return f"The kernel killed {counted(int(amounts[0]), 'program')} for memory."
    if kind == "reclaim":
        return f"Programs had to free memory themselves {number(amounts[0])} times."
    if kind == "steal":
        return f"The host took {number(100 * amounts[0] / amounts[1])} % of the processor time."
    if kind == "raid":
        return f"A RAID works by itself: {label}, up to {number(amounts[0])} %."
    if kind == "timer":
        return f"{label}, which is in no group, used {duration(amounts[0])} of CPU."
    if label == "heat":
        return f"The processor was throttled by heat {number(amounts[0])} times."
    if label == "frequency":
        return f"The clock of the processor fell to {number(100 * amounts[0])} % of its start."
    what = label.removeprefix("quota ").strip() or "the machine"
    share = 100 * amounts[0] / max(amounts[1], amounts[0])
    return f"The quota of CPU throttled {what} in {number(share)} % of its periods."
