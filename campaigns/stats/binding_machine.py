"""Judge the hardware of a machine: processor, memory, storage, network. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from campaigns.stats.binding import (
    LIMITS,
    Caveat,
    Figure,
    Resource,
    ResourceState,
    Series,
    Sign,
    State,
    Unit,
)
from campaigns.stats.binding_window import (
    Indicator,
    Measure,
    Window,
    informing,
    judged,
    mean_of,
    measure_of,
    ratio_of,
    unknown,
)

OTHERS = "others"
MOST_CORES = 16_384
"""What claims more is no machine, and would be reckoned with for hours."""
MOST_NAMES = 3
"""Niced programs that are named."""


class Cpu:
    """The processor: all cores, one core, quotas, and what the host took."""

    MODES = ("user", "nice", "system", "irq", "steal", "idle", "iowait")
    NEEDED = ("user", "idle")

    def __init__(self, window: Window) -> None:
        self.window = window
        modes = {mode: window.series(f"cpu.{mode}") for mode in self.MODES}
        self.watched = window.names(*(f"cpu.{mode}" for mode in self.MODES))
        self.modes = {mode: values for mode, values in modes.items() if values is not None}
        self.total: Series | None = None
        if all(mode in self.modes for mode in self.NEEDED):
            total = np.sum(list(self.modes.values()), axis=0)
            total[total <= 0] = np.nan
            self.total = window.enough(total)
        self.cores = self._cores()
        self.busy = self._busy()
        quotas, core = list(self._quotas()), list(self._core())
        waits_are_theirs = any(each.state == State.BINDS for each in (*quotas, *core))
        self.all_cores = self._all_cores(waits_are_theirs)
        self.states = [
            *([self.all_cores] if self.all_cores else []),
            *core,
            *quotas,
            *self._steal(),
        ]
        """What was observed of the processor, judged."""

    @property
    def is_full(self) -> bool:
        """Whether the CPU binds for most of the window."""
        state = self.all_cores
        return state is not None and state.state == State.BINDS and not state.is_partly

    def _cores(self) -> int | None:
        cores = self.window.observed.facts.get("cores")
        if isinstance(cores, int | float) and cores >= 1:
            return round(cores) if cores <= MOST_CORES else None
        labels = self.window.labels("cpu.core_busy")
        if labels:
            return len(labels)
        total = mean_of(self.total)
        return max(1, round(total)) if total and total <= MOST_CORES else None

    def _mode(self, mode: str) -> Series:
        return self.modes.get(mode, np.zeros(self.window.samples))

    def _busy(self) -> Series | None:
        """Return the used cores, without those that the host took."""
        if self.total is None:
            return None
        free = self.modes["idle"] + self._mode("iowait") + self._mode("steal")
        return np.maximum(self.total - free, 0.0)

    def _used(self) -> Measure:
        """Return the share that is used of what the host leaves, whoever uses it: what is niced is used, too."""
        if self.total is None or self.busy is None:
            return Measure()
        there = self.total - self._mode("steal")
        return ratio_of(self.busy, there)

    def _load(self) -> float | None:
        """Return the cores of perfdash's own processes."""
        means = [
            mean
            for label in self.window.observed.load_groups
            if (mean := self.window.mean("group.cpu", label)) is not None
        ]
        return sum(means) if means else None

    @property
    def load_share(self) -> float | None:
        """Return the share of the used CPU that perfdash's own processes use."""
        load, busy = self._load(), mean_of(self.busy)
        return None if load is None or not busy else min(load / busy, 1.0)

    def _niced(self) -> Figure | None:
        """Return the share of the CPU that niced programs use, with their names; None where it is not worth a word."""
        nice, total = mean_of(self.modes.get("nice")), mean_of(self.total)
        if not nice or not total or nice / total < LIMITS.niced:
            return None
        window = self.window
        programs = [
            (mean, label)
            for label in window.labels("group.niced")
            if (mean := window.mean("group.niced", label)) and mean / total >= LIMITS.niced
        ]
        names = [label for _, label in sorted(programs, reverse=True)[:MOST_NAMES]]
        return Figure("cpu_niced", min(nice / total, 1.0), Unit.SHARE, None, ", ".join(names))

    def _all_cores(self, waits_are_theirs: bool) -> ResourceState | None:
        """Judge all cores. waits_are_theirs: whether tasks may wait for one core, or for a quota."""
        if not self.watched:
            return None
        if self.total is None or self.busy is None:
            return unknown(Resource.CPU)
        used, pressure = self._used(), self.window.share("pressure.cpu.some")
        group, busy = self.window.largest_group("group.cpu"), mean_of(self.busy)
        state = ResourceState(
            Resource.CPU,
            "",
            State.FREE,
            utilisation=min(used.whole or 0.0, 1.0),
            saturation=pressure.whole,
            pressure=pressure.whole,
            group=group[0] if group else "",
            group_share=min(group[1] / busy, 1.0) if group and busy else None,
            caveats=[Caveat.NO_PRESSURE] if pressure.whole is None else [],
        )
        niced, queue = self._niced(), self._queue().whole
        informs = [
            *([niced] if niced else []),
            *informing(
                ("running_per_core", None if pressure.whole is None else queue, Unit.COUNT),
                ("load_generator", self.load_share, Unit.SHARE),
            ),
        ]
        state = judged(state, self._indicators(used, pressure, waits_are_theirs), informs)
        if state.state == State.BINDS:
            found = [Caveat.NICED] if niced else []
            if self._is_of_load(used):
                found.append(Caveat.LOAD)
            return replace(state, caveats=[*state.caveats, *found])
        return state if self.cores else unknown(Resource.CPU, "", Caveat.CORES_UNKNOWN)

    def _indicators(
        self, used: Measure, pressure: Measure, waits_are_theirs: bool
    ) -> list[Indicator]:
        """Return by what all cores are judged: how much is used, and who waits."""
        loaded, waits = [(used, LIMITS.cpu_loaded)], Sign.SATURATION
        found = [Indicator("cpu_used", used, LIMITS.cpu_used, Sign.UTILISATION)]
        if pressure.whole is None:
            queue, limit = self._queue(), LIMITS.cpu_queue
            return [*found, Indicator("running_per_core", queue, limit, waits, Unit.COUNT, needs=loaded)]  # fmt: skip
        found.append(Indicator("pressure_some", pressure, LIMITS.cpu_pressure, waits, needs=loaded))
        if not waits_are_theirs:
            found.append(Indicator("pressure_some", pressure, LIMITS.cpu_waits, waits))
        return found

    def _queue(self) -> Measure:
        """Return the tasks that run or want to for each core, the reader of that left out."""
        running = self.window.series("cpu.running")
        if running is None or self.cores is None:
            return Measure()
        return measure_of(np.maximum(running - 1, 0.0) / self.cores)

    def _is_of_load(self, used: Measure) -> bool:
        """Return whether the CPU would have time left without perfdash's own processes."""
        load, total = self._load(), mean_of(self.total)
        there = (total or 0.0) - (mean_of(self.modes.get("steal")) or 0.0)
        return (
            load is not None
            and there > 0
            and (used.whole or 0.0) - load / there < LIMITS.cpu_loaded
        )

    def _niced_outside(self) -> Measure:
        """Return the cores of niced programs outside the groups, and of perfdash: one core that is full of them gives way."""
        nice = self.modes.get("nice")
        if nice is None:
            return Measure()
        outside = [
            values
            for label in (OTHERS, *self.window.observed.load_groups)
            if (values := self.window.series("group.cpu", label)) is not None
        ]
        grouped = self.window.series("group.cpu", OTHERS) is not None
        return measure_of(np.fmin(nice, np.nansum(outside, axis=0)) if grouped else nice)

    def _core(self) -> Iterator[ResourceState]:
        """Judge the busiest core, and the busiest thread of the groups, while the CPU as a whole has time left."""
        window = self.window
        if not window.names("cpu.core_busy", "group.busiest_thread"):
            return
        if self.cores is not None and self.cores < 2:
            return
        busiest = window.largest_group("cpu.core_busy")
        threads = self._threads()
        if busiest is None and not threads:
            known = [
                window.series("cpu.core_busy", each) for each in window.labels("cpu.core_busy")
            ]
            idle = any(values is not None for values in known)
            state = State.FREE if idle else State.UNKNOWN
            yield ResourceState(Resource.CORE, "", state, utilisation=0.0 if idle else None)
            return
        core = Measure()
        if busiest:
            core = window.share("cpu.core_busy", busiest[0]).less(self._niced_outside())
        of_core = Indicator("core_busy", core, LIMITS.core, Sign.UTILISATION, label=busiest[0] if busiest else "", needs=self._left())  # fmt: skip
        full = [each for each in threads if each.holds()]
        for each in full:
            yield self._of_core(each.label, [each, of_core])
        if not full:
            # A core that is full of something else is no thread's.
            first = threads[:1]
            least = max(core.whole or 0.0, *(each.measure.whole or 0.0 for each in first), 0.0) / 2
            whose = [each.label for each in first if (each.measure.whole or 0.0) >= least]
            yield self._of_core("" if of_core.holds() else "".join(whose), [*first, of_core])

    def _of_core(self, whose: str, indicators: Sequence[Indicator]) -> ResourceState:
        """Judge one core. whose: the group whose thread fills it."""
        state = ResourceState(
            Resource.CORE,
            whose,
            State.FREE,
            utilisation=max(each.measure.whole or 0.0 for each in indicators),
            group=whose,
            caveats=[Caveat.LOAD] if whose in self.window.observed.load_groups else [],
        )
        return judged(state, indicators)

    def _threads(self) -> list[Indicator]:
        """Return the busiest thread of each group, the busiest of all first."""
        window, found = self.window, []
        for label in window.labels("group.busiest_thread"):
            busy = window.share("group.busiest_thread", label)
            if label == OTHERS:
                busy = busy.less(self._niced_outside())
            if busy.whole:
                found.append(Indicator("thread_busy", busy, LIMITS.core, Sign.UTILISATION, label=label, needs=self._left()))  # fmt: skip
        return sorted(found, key=lambda each: -(each.measure.whole or 0.0))

    def _left(self) -> list[tuple[Measure, float]]:
        """Return what a full core needs: that the CPU as a whole has time left, less than which it is the CPU that is full."""
        used = self._used()
        if used.whole is None:
            return []
        return [(Measure(1 - used.whole, 1 - used.parts), 1 - LIMITS.cpu_used + 1e-9)]

    def _quotas(self) -> Iterator[ResourceState]:
        window = self.window
        whole = [""] if window.has("group.periods") else []
        for label in (*whole, *window.labels("group.periods")):
            periods, throttled = (
                window.series(name, label) for name in ("group.periods", "group.throttled_periods")
            )
            if periods is None or throttled is None:
                yield unknown(Resource.QUOTA, label)
                continue
            share = ratio_of(np.minimum(throttled, periods), periods)
            state = ResourceState(
                Resource.QUOTA,
                label,
                State.FREE,
                saturation=share.whole,
                errors=float(np.nansum(throttled)) * window.step,
                group=label,
                caveats=[Caveat.LOAD] if label in window.observed.load_groups else [],
            )
            yield judged(
                state,
                [Indicator("throttled_periods", share, LIMITS.quota_periods, Sign.ERRORS)],
            )

    def _steal(self) -> Iterator[ResourceState]:
        stolen = self.modes.get("steal")
        if stolen is None or self.total is None:
            return
        share = ratio_of(stolen, self.total)
        state = ResourceState(
            Resource.STEAL, "", State.FREE, utilisation=min(share.whole or 0.0, 1.0)
        )
        yield judged(state, [Indicator("stolen", share, LIMITS.steal, Sign.ERRORS)])


class Memory:
    """Memory: who waits for it, and how much of that is a wait for a disk."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.some, self.some_of = window.most("pressure.memory.some")
        self.full, self.full_of = window.most("pressure.memory.full")
        self.swapped, self.refaults = (
            window.measure(f"memory.{each}") for each in ("swap_in", "refaults")
        )
        known = [each for each in (self.swapped, self.refaults) if each.whole is not None]
        self.returned = max(known, key=lambda each: each.whole or 0.0, default=Measure())
        self.state = self._judge()

    @property
    def returns(self) -> bool:
        """Whether memory binds, and pages come back from a disk: who waits for memory waits for that disk."""
        binds = self.state is not None and self.state.state == State.BINDS
        return binds and (self.returned.whole or 0.0) > LIMITS.pages

    def _kills(self) -> list[Indicator]:
        """Return the OOM kills: one in a group counts; of others, who may be a cron job, several do."""
        window = self.window
        left_out = {"", OTHERS, *window.observed.load_groups}
        groups = [each for each in window.labels("memory.oom_kills") if each not in left_out]
        found = [(window.count("memory.oom_kills", each) or 0.0, each) for each in groups]
        kills, group = max(found, default=(0.0, ""))
        indicators = []
        if kills:  # one at the window's edge is counted in part
            indicators.append(
                Indicator(
                    "oom_kills", Measure(max(kills, 1.0)), 1.0, Sign.ERRORS, Unit.COUNT, group
                )
            )
        if (whole := window.count("memory.oom_kills")) is not None:
            indicators.append(
                Indicator("oom_kills", Measure(whole), LIMITS.kills, Sign.ERRORS, Unit.COUNT)
            )
        return indicators

    def _judge(self) -> ResourceState | None:
        window = self.window
        if not window.names(
            "memory.available", "memory.swap_in", "pressure.memory.some", "memory.oom_kills"
        ):
            return None
        kills = self._kills()
        pressed = self.some.whole is not None or self.full.whole is not None
        if not pressed and self.swapped.whole is None and not any(each.holds() for each in kills):
            return unknown(Resource.MEMORY)
        total, available = window.mean("memory.total"), window.mean("memory.available")
        fact = window.observed.facts.get("memory_total")
        if total is None and isinstance(fact, int | float):
            total = float(fact)
        group = window.largest_group("group.memory")
        state = ResourceState(
            Resource.MEMORY,
            "",
            State.FREE,
            utilisation=max(1 - available / total, 0.0)
            if total and available is not None
            else None,
            saturation=self.some.whole,
            errors=next((each.measure.whole for each in kills), None),
            pressure=self.some.whole,
            pressure_full=self.full.whole,
            group=group[0] if group else "",
            group_share=min(group[1] / total, 1.0) if group and total else None,
            caveats=[] if pressed else [Caveat.NO_PRESSURE],
        )
        come_back = [(self.returned, LIMITS.pages)]
        saturated, pages = Sign.SATURATION, Unit.PER_SECOND
        indicators = [
            Indicator("pressure_full", self.full, LIMITS.memory_full, saturated, label=self.full_of),
            Indicator("pressure_some", self.some, LIMITS.memory_some, saturated, label=self.some_of, needs=come_back),
        ]  # fmt: skip
        informs = informing(("refaults", self.refaults.whole, pages))
        if pressed:
            informs = [*informing(("swapped_in", self.swapped.whole, pages)), *informs]
        else:
            indicators.append(Indicator("swapped_in", self.swapped, LIMITS.pages, saturated, pages))
        return judged(state, [*indicators, *kills], informs)


class Io:
    """Disks, and storage that is none of them: tasks that wait for I/O wait for something, wherever it is.

    What tasks wait for memory whose pages come back from a disk is left out. cpu_is_full: then PSI `full` tells nothing, since
    somebody computes all the time, and `some` takes its place.
    """

    def __init__(self, window: Window, memory: Memory, *, cpu_is_full: bool) -> None:
        self.window, self.cpu_is_full = window, cpu_is_full
        self.some, self.some_of = window.most("pressure.io.some")
        self.full, self.full_of = window.most("pressure.io.full")
        self.pressed = self.some.whole is not None or self.full.whole is not None
        if memory.returns:
            self.some, self.full = self.some.less(memory.some), self.full.less(memory.full)
        self.blocked = window.measure("cpu.blocked")
        self.busy = {each: window.share("disk.busy", each) for each in window.labels("disk.busy")}
        self.most = max((each.whole or 0.0 for each in self.busy.values()), default=0.0)
        disks = [self._disk(label, share) for label, share in self.busy.items()]
        is_local = any(each.state == State.BINDS for each in disks)
        self.states = [*disks, *self._elsewhere(is_local)]
        """Each disk, and storage elsewhere, judged."""

    def _waits(self, *needs: tuple[Measure, float], elsewhere: bool = False) -> list[Indicator]:
        """Return by what a disk is judged for which all wait, if any. elsewhere: storage, of which nobody sees how busy it is."""
        saturated = Sign.SATURATION
        if not self.pressed:
            limit = LIMITS.disk_blocked
            return [Indicator("blocked_tasks", self.blocked, limit, saturated, Unit.COUNT, needs=needs)]  # fmt: skip
        found = [Indicator("pressure_full", self.full, LIMITS.io_full, saturated, label=self.full_of, needs=needs)]  # fmt: skip
        if self.cpu_is_full and not (elsewhere and self.most >= LIMITS.disk_rests):
            found.append(Indicator("pressure_some", self.some, LIMITS.io_some, saturated, label=self.some_of, needs=needs))  # fmt: skip
        return found

    def _disk(self, label: str, share: Measure) -> ResourceState:
        window = self.window
        if share.whole is None or not (self.pressed or self.blocked.whole is not None):
            return unknown(Resource.DISK, label)
        # Of disks that work, all wait for the busiest; a volume on it is as busy.
        busiest = (share, max(LIMITS.disk_works, LIMITS.disk_busy * self.most))
        indicators = self._waits(busiest)
        if self.pressed:
            full, saturated = [(share, LIMITS.disk_busy)], Sign.SATURATION
            indicators += [
                Indicator("pressure_full", self.full, LIMITS.disk_full, saturated, label=self.full_of, needs=full),
                Indicator("pressure_some", self.some, LIMITS.disk_some, saturated, label=self.some_of, needs=full),
            ]  # fmt: skip
        state = ResourceState(
            Resource.DISK,
            label,
            State.FREE,
            utilisation=share.whole,
            saturation=self.some.whole,
            errors=window.count("disk.errors", label),
            pressure=self.some.whole,
            pressure_full=self.full.whole,
            caveats=[] if self.pressed else [Caveat.NO_PRESSURE],
        )
        informs = informing(("disk_busy", share.whole, Unit.SHARE), *_requests(window, label))
        return judged(state, indicators, informs)

    def _elsewhere(self, is_local: bool) -> Iterator[ResourceState]:
        """Judge storage that is no disk of the machine: it is free where a disk binds, which is what tasks wait for."""
        state = ResourceState(Resource.STORAGE, "", State.FREE)
        if is_local:
            yield state
        elif self.pressed or self.blocked.whole is not None:
            state = replace(
                state,
                saturation=self.some.whole,
                pressure=self.some.whole,
                pressure_full=self.full.whole,
                caveats=[] if self.pressed else [Caveat.NO_PRESSURE],
            )
            yield judged(state, self._waits(elsewhere=True))


def _requests(window: Window, label: str) -> list[tuple[str, float | None, Unit]]:
    """Return how many requests a disk has at a time, and how long one takes."""

    def both(what: str) -> float | None:
        of_reads, of_writes = (window.mean(f"disk.{each}", label) for each in what.split())
        known = [each for each in (of_reads, of_writes) if each is not None]
        return sum(known) if known else None

    operations, seconds = both("reads writes"), both("read_time write_time")
    wait = seconds / operations if operations and seconds is not None else None
    return [
        ("disk_queue", window.mean("disk.queue", label), Unit.COUNT),
        ("disk_wait", wait, Unit.SECONDS),
    ]


def cards(window: Window) -> Iterator[ResourceState]:
    """Judge each way of each network card."""
    segments, again = window.series("tcp.segments"), window.series("tcp.retransmits")
    lost = Measure()
    if segments is not None and again is not None and np.nansum(segments) > 0:
        lost = ratio_of(np.minimum(again, segments), segments)
    for card in sorted({*window.labels("net.received"), *window.labels("net.sent")}):
        speed = window.mean("net.speed", card)
        for way in ("received", "sent"):
            moved = window.series(f"net.{way}", card)
            label = f"{card} {way}"
            if moved is None:
                if window.has(f"net.{way}", card):
                    yield unknown(Resource.NETWORK, label)
                continue
            if not speed:
                if (mean_of(moved) or 0.0) >= LIMITS.silent_card:
                    yield unknown(Resource.NETWORK, label, Caveat.SPEED_UNKNOWN)
                continue
            used = measure_of(moved / speed)
            state = ResourceState(
                Resource.NETWORK,
                label,
                State.FREE,
                utilisation=min(used.whole or 0.0, 1.0),
                saturation=lost.whole,
                errors=window.count("net.drops", card),
            )
            yield judged(
                state,
                [
                    Indicator("of_speed", used, LIMITS.network, Sign.UTILISATION),
                    Indicator(
                        "retransmitted",
                        lost,
                        LIMITS.retransmits,
                        Sign.SATURATION,
                        needs=[(used, LIMITS.network_lossy)],
                    ),
                ],
            )
