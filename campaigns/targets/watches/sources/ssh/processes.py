"""Read the processes of a frame: one form for both samplers. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from campaigns.targets.watches.sources.ssh.frames import Raw
from campaigns.targets.watches.sources.ssh.proc import number

LONGEST_CHAIN = 8
"""Of processes above the sampler: shells, and sshd."""
STAT = re.compile(r"/proc/(\d{1,9})/stat")


@dataclass(frozen=True, slots=True)
class Process:
    """A process.

    cpu, waited_for: seconds of its own, and of its children that it has waited for. start: in ticks of the machine's
    uptime, so that a process number that is used again is seen. word: the first of its command line.
    """

    pid: int
    parent: int
    cpu: float
    waited_for: float
    threads: int
    start: int
    memory: float
    comm: str
    cgroup: str = ""
    word: str = ""
    descriptors: float | None = None
    niced: bool = False

    @property
    def total(self) -> float:
        """Return its seconds with those of its children, as they come to its parent when it has ended."""
        return self.cpu + self.waited_for


@dataclass(frozen=True, slots=True)
class Machine:
    """What processes are counted in, and the process of the sampler."""

    sampler: int = 0
    page_bytes: int = 4096
    ticks: int = 100


def machine_of(parts: Mapping[str, str]) -> Machine | None:
    """Return it from a first frame; None where it is not there."""
    words = parts.get("self", "").split()
    if len(words) != 3 or not all(word.isdigit() and len(word) < 10 for word in words):
        return None
    sampler, page_bytes, ticks = map(int, words)
    return Machine(sampler, page_bytes, ticks) if page_bytes and ticks else None


class Processes:
    """Reads the processes of one frame after the other; remembers what is sent of a process only once."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._once: dict[tuple[int, int], tuple[str, str]] = {}
        self._cgroups: dict[int, str] = {}

    def of(self, raw: Raw) -> Sequence[Process] | None:
        """Return the processes of a frame; None where it has none."""
        if "processes" in raw.parts:
            niced = set(raw.parts.get("niced", "").split())
            lines = raw.parts["processes"].split("\n")
            rows = [row for line in lines if (row := self._row(line, niced))]
        elif any(STAT.fullmatch(path) for path in raw.parts):
            rows = self._of_stat(raw.parts)
        else:
            return None
        living = {(row.pid, row.start) for row in rows}
        self._once = {key: value for key, value in self._once.items() if key in living}
        return rows

    def _row(self, line: str, niced: Collection[str]) -> Process | None:
        words = line.split(" ")
        if len(words) not in {9, 11} or not all(each.isdigit() and len(each) < 20 for each in words[:7]):  # fmt: skip
            return None
        pid, parent, own, waited, threads, start, pages = map(int, words[:7])
        if len(words) == 11:
            self._once[pid, start] = (words[9], words[10].strip("?"))
        cgroup, word = self._once.get((pid, start), ("", ""))
        count, _, limit = words[7].partition("/")
        share, most = number(count), number(limit)
        return Process(
            pid,
            parent,
            own / self.machine.ticks,
            waited / self.machine.ticks,
            threads,
            start,
            pages * self.machine.page_bytes,
            words[8],
            cgroup,
            word,
            share / most if share is not None and most else None,
            words[0] in niced,
        )

    def _of_stat(self, parts: Mapping[str, str]) -> list[Process]:
        """Read lines of /proc/<pid>/stat and /proc/<pid>/cgroup. Here no first words are read: that would need programs."""
        rows = []
        for path, text in parts.items():
            match = STAT.fullmatch(path)
            if match is None or not (" (" in text and ") " in text):
                continue
            pid, comm = int(match[1]), text[text.find("(") + 1 : text.rfind(")")]
            words = text[text.rfind(")") + 2 :].split()
            if len(words) < 22 or not all(each.isdigit() for each in (words[1], *words[11:15], words[17], words[19], words[21])):  # fmt: skip
                continue
            if lines := parts.get(f"/proc/{pid}/cgroup"):
                self._cgroups[pid] = max((line.split(":", 2)[-1] for line in lines.split("\n")), key=len)  # fmt: skip
            ticks = self.machine.ticks
            rows.append(
                Process(
                    pid,
                    int(words[1]),
                    (int(words[11]) + int(words[12])) / ticks,
                    (int(words[13]) + int(words[14])) / ticks,
                    int(words[17]),
                    int(words[19]),
                    int(words[21]) * self.machine.page_bytes,
                    comm,
                    self._cgroups.get(pid, ""),
                    niced=not words[16].startswith("-") and words[16] != "0",
                )
            )
        living = {row.pid for row in rows}
        self._cgroups = {pid: cgroup for pid, cgroup in self._cgroups.items() if pid in living}
        return rows


def own_processes(rows: Sequence[Process], sampler: int) -> set[int]:
    """Return the sampler's process numbers: itself, what it starts, and the two processes of sshd that serve it."""
    by_pid = {row.pid: row for row in rows}
    found, chain, sshds = descendants(rows, sampler), list[int](), 0
    above = by_pid.get(sampler)
    for _ in range(LONGEST_CHAIN):
        above = by_pid.get(above.parent) if above is not None else None
        if above is None:
            break
        parent = by_pid.get(above.parent)
        is_sshd = above.comm.startswith("sshd")
        listens = is_sshd and (parent is None or not parent.comm.startswith("sshd"))
        if listens or sshds == 2 or (sshds and not is_sshd):
            break
        chain.append(above.pid)
        sshds += is_sshd
    return found | set(chain) if sshds else found


def descendants(rows: Sequence[Process], root: int) -> set[int]:
    """Return a process with all that it has started, as far as their parents live."""
    children: dict[int, list[int]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row.pid)
    found, below = set[int](), [root] if root else []
    while below:
        pid = below.pop()
        if pid not in found:
            found.add(pid)
            below += children.get(pid, [])
    return found


def threads_of(parts: Mapping[str, str]) -> dict[tuple[int, int], int]:
    """Return the ticks of the threads of busy processes."""
    found = {}
    for line in parts.get("threads", "").split("\n"):
        words = line.split(" ")
        if len(words) == 3 and all(word.isdigit() and len(word) < 20 for word in words):
            found[int(words[0]), int(words[1])] = int(words[2])
    return found
