"""Whether other programs kept a generator waiting for a CPU, so that its values are not those of the server.

`Waiting` reads /proc while the generator works; `waited_share` and `is_starved` are pure, and are the only rule: every kind, the
analysis and the pages ask them. `script/bench starved` measures what the limit is worth. Standard library only.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from campaigns.kinds.programs.processes import cpu_seconds_of

STARVED_SHARE = float(os.environ.get("PERFDASH_STARVED_SHARE", "0.1"))
"""Share of the time that a generator may wait for a CPU; beyond it a run is no value of the server.

A generator with one thread that waits a share w of the time takes at most 1 / (1 - w) as long: 11 % at a tenth. Where target and generator share a machine on purpose it may be raised; runs are
warned of all the same.
"""
WAITED_WARNS = 0.05
"""Share from which on a run is warned of: so many requests meet a wait, and the 95th percentile is one of theirs."""
FULL_SHARE = 0.9
"""Share in use of the CPUs that the generator may use, from which on none was free for it."""
OTHERS_STARVE = 0.5
"""Share of those CPUs that others use, from which on they starve a generator whose waiting the kernel does not count."""
SHORTEST_SECONDS = 0.1
"""Of a look: the kernel counts what a machine used in hundredths of a second."""
FIGURES = (
    "waited_share",
    *("cpu_waiting_cores", "cpu_cores", "cores", "others_cpu_share", "machine_cpu_share"),
)
"""The figures of a run's health that `waited_share` reads."""


def waited_share(figures: Mapping[str, float]) -> float | None:
    """Return the share of a run's time that others kept its generator waiting for a CPU; None where that is unknown."""
    share = figures.get("waited_share")
    return _estimated(figures) if share is None else min(1.0, share)


def is_too_long(share: float | None) -> bool:
    """Return whether a generator that waited this share of the time is starved; not where it is unknown."""
    return share is not None and share > STARVED_SHARE


def is_starved(figures: Mapping[str, float]) -> bool:
    """Return whether a generator waited so long for a CPU that its values are not those of the server."""
    return is_too_long(waited_share(figures))


def why_starved(figures: Mapping[str, float]) -> list[str]:
    """Return why a run is starved; nothing where it is not."""
    share = waited_share(figures)
    if share is None or not is_too_long(share):
        return []
    others = f"; other programs used {figures.get('others_cpu_share', 0.0):.0%} of it"
    where = "Run it on a quiet machine, or from another one."
    if figures.get("target_is_here"):
        where = (
            "The target, on this machine, is one of them: put it elsewhere for values that count."
        )
    return [f"The generator waited for a CPU {share:.0%} of the time{others}. {where}"]


def why_warned(figures: Mapping[str, float]) -> list[str]:
    """Return why a run that is not starved may be disturbed all the same; nothing where it is not."""
    share = waited_share(figures)
    if share is None or not WAITED_WARNS < share <= STARVED_SHARE:
        return []
    return [
        f"The generator waited for a CPU {share:.0%} of the time: the slowest of what it measured may be its own waits."
    ]


def waited_so_far(waiting: "Waiting") -> dict[str, float]:
    """Return the share so far for progress, while a run goes on; nothing where it is not known."""
    share = waited_share(waiting.figures())
    return {} if share is None else {"waited_share": share}


def waited_in(progress: Mapping[str, Any]) -> dict[str, float]:
    """Return the share in what a program reported, for the progress of its kind; nothing where there is none."""
    share = progress.get("waited_share")
    return {} if share is None else {"waited_share": share}


def _estimated(figures: Mapping[str, float]) -> float | None:
    """Return the share from what versions before this rule stored, or from the others' use where the kernel counts no waiting."""
    others, full = figures.get("others_cpu_share"), figures.get("machine_cpu_share")
    if others is None or full is None:
        return None
    cores = figures.get("cores", 1.0)
    waited = figures.get("cpu_waiting_cores")
    if waited is None:
        return others if others > OTHERS_STARVE and full > FULL_SHARE else 0.0
    return _share(waited, figures.get("cpu_cores", 0.0), others * cores, full)


def _share(waited: float, own: float, others: float, full: float) -> float:
    """Return the share of the time that a generator waited because of others. waited, own, others: in CPUs.

    Threads of one generator that want more than one CPU wait for each other, too. What others took of the CPUs that both used
    bounds what they can have cost, and they cost nothing while a CPU was free.
    """
    wanted = own + waited
    if wanted <= 1:
        return waited
    if full <= FULL_SHARE:
        return 0.0
    return min(waited / wanted, others / (others + own) if others else 0.0)


@dataclass(frozen=True, slots=True)
class _Look:
    """Seconds so far, at one instant. waited: of all threads; busy, there: of the CPUs that the generator may use."""

    at: float
    waited: float
    own_cpu: float
    busy: float
    there: float


class Waiting:
    """How long the threads of this process and of its children waited for a CPU, and what others used meanwhile.

    Threads and processes that end between two looks are counted up to the first of them.
    """

    def __init__(self, *, only_watches: bool = False) -> None:
        """only_watches: the children are the generator, so it does not matter whether this process waits."""
        self._only_watches = only_watches
        self._threads: dict[tuple[str, str], int] = {}
        self._used: dict[int, float] = {}
        self._waited_ns = 0
        self._counted = Path("/proc/self/schedstat").exists()
        self._cpus = {f"cpu{number}".encode() for number in os.sched_getaffinity(0)}
        self._stat = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self._tick = os.sysconf("SC_CLK_TCK")
        self._first = self._last = _Look(0.0, 0.0, 0.0, 0.0, 0.0)
        self._shares = 0.0

    def begin(self, children: Sequence[int] = ()) -> None:
        """Count from here on. children: numbers of processes."""
        self._threads.clear()
        self._used.clear()
        self._count(children)
        self._waited_ns = 0
        self._shares = 0.0
        self._first = self._last = self._look(children)

    def look(self, children: Sequence[int] = (), *, last: bool = False) -> None:
        """Add what was since the last look; a look that comes too early is left out unless it is the last."""
        if not last and perf_counter() - self._last.at < SHORTEST_SECONDS:
            return
        self._count(children)
        now, before = self._look(children), self._last
        seconds, there = now.at - before.at, now.there - before.there
        if seconds <= 0:
            return
        self._last = now
        own = (now.own_cpu - before.own_cpu) / seconds
        full = (now.busy - before.busy) / there if there else 1.0
        others = max(0.0, (now.busy - before.busy) / seconds - own)
        share = _share((now.waited - before.waited) / seconds, own, others, full)
        self._shares += share * seconds

    @property
    def seconds(self) -> float:
        """The time between the begin and the last look."""
        return self._last.at - self._first.at

    def figures(self) -> dict[str, float]:
        """Return the figures for `waited_share` that this machine provides."""
        first, last, seconds = self._first, self._last, self.seconds
        figures: dict[str, float] = {}
        if there := last.there - first.there:
            busy, own = last.busy - first.busy, last.own_cpu - first.own_cpu
            figures["machine_cpu_share"] = min(1.0, busy / there)
            figures["others_cpu_share"] = min(1.0, max(0.0, busy - own) / there)
        if self._counted and seconds > 0:
            figures["cpu_waiting_cores"] = last.waited / seconds
            figures["waited_share"] = min(1.0, self._shares / seconds)
        return figures

    def _count(self, children: Sequence[int]) -> None:
        """Add what each thread has waited since it was seen last."""
        own = () if self._only_watches else ("self",)
        for process in (*own, *map(str, children)) if self._counted else ():
            with suppress(OSError):
                for thread in os.listdir(f"/proc/{process}/task"):
                    self._count_thread(process, thread)

    def _count_thread(self, process: str, thread: str) -> None:
        with suppress(OSError, IndexError, ValueError):
            waited = int(Path(f"/proc/{process}/task/{thread}/schedstat").read_bytes().split()[1])
            before = self._threads.get((process, thread), 0)
            self._threads[process, thread] = waited
            # Another thread may have the number of one that has ended.
            self._waited_ns += waited - before if waited >= before else waited

    def _own_cpu(self, children: Sequence[int]) -> float:
        """Return the seconds of CPU of this process and of its children, also of those that have ended."""
        for child in children:
            self._used[child] = max(self._used.get(child, 0.0), cpu_seconds_of(child))
        return process_time() + sum(self._used.values())

    def _look(self, children: Sequence[int]) -> _Look:
        # user nice system idle iowait irq softirq steal: steal is time that another guest had
        busy = there = 0
        for line in os.pread(self._stat, 1 << 16, 0).splitlines():
            name, *rest = line.split()
            if name in self._cpus:
                counts = [int(count) for count in rest[:8]]
                busy += sum(counts) - counts[3] - counts[4]
                there += sum(counts)
        return _Look(
            perf_counter(),
            self._waited_ns / 1e9,
            self._own_cpu(children),
            busy / self._tick,
            there / self._tick,
        )
