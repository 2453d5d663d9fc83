"""The rule that says which resource binds in a run. Pure. MONITORING.md 8; `binding.LIMITS` holds its thresholds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.binding import (
    LIMITS,
    Bound,
    Caveat,
    Figure,
    Observed,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    Series,
    Sign,
    State,
    Unit,
)

NEEDED = (Resource.CPU, Resource.MEMORY, Resource.DISK)
"""Without these nobody can say that nothing binds."""
DATABASES = ("postgres", "database")
"""Groups of a database: the defaults of families of targets call it so."""
OTHERS = "others"
ACTIVE_ON_CPU = "CPU"
"""The label of active sessions that wait for nothing."""
COMMIT_EVENTS = ("walsync", "walwrite")
"""Events in which a session waits for the log of a commit; PostgreSQL 17 writes WalSync."""
VIEWS_OF = {Resource.DATABASE_CPU: Resource.CPU, Resource.DATABASE_IO: Resource.DISK}
"""A resource as the database sees it: told together with the resource itself."""

LARGEST = 1e18
"""A larger value is no observation, in whatever unit."""


MOST_CORES = 16_384
"""What claims more is no machine, and would be reckoned with for hours."""


@cache
def binding_load(cores: int) -> float:
    """Return the utilisation at which the mean wait equals the service time: Erlang's C formula (M/M/c), solved."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        load = (low + high) / 2
        blocked = 1.0
        for servers in range(1, cores + 1):
            blocked = load * cores * blocked / (servers + load * cores * blocked)
        waits = blocked / (1 - load * (1 - blocked))
        low, high = (load, high) if waits < cores * (1 - load) else (low, load)
    return low


class _Window:
    """The observed series without what cannot be: negative rates, and values that are no numbers, are gaps."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.step = observed.step_seconds
        self.samples = max((len(values) for values in observed.series.values()), default=0)
        self._series = {key: self._clean(values) for key, values in observed.series.items()}

    def _clean(self, values: Series) -> Series:
        clean = np.full(self.samples, np.nan)
        clean[: len(values)] = values
        clean[~((clean >= 0) & (clean <= LARGEST))] = np.nan
        return clean

    def has_gaps(self) -> bool:
        """Return whether a part of the window was not observed.

        The machine's own series, without a label, are there from the start. Others may begin within the window, as an event that
        somebody waits for does, or a replica.
        """
        for (_, label), values in self._series.items():
            known = np.flatnonzero(~np.isnan(values))
            first = next(iter(known), len(values)) if label else 0
            if len(known) < len(values) - first:
                return True
        return False

    def labels(self, quantity: str) -> list[str]:
        """Return the labels of a quantity, the machine's own empty one left out."""
        return sorted(label for name, label in self._series if name == quantity and label)

    def has(self, quantity: str, label: str) -> bool:
        """Return whether a source has a series, however few its samples."""
        return (quantity, label) in self._series

    def names(self, *quantities: str) -> bool:
        """Return whether a source has any of these quantities, however few its samples."""
        return any(name in quantities for name, _ in self._series)

    def series(self, quantity: str, label: str = "") -> Series | None:
        """Return a series; None where it was not observed in enough of the window."""
        values = self._series.get((quantity, label))
        return None if values is None else self.enough(values)

    def any(self, quantity: str, label: str = "") -> Series | None:
        """Return a series, however few its samples."""
        return self._series.get((quantity, label))

    def enough(self, values: Series) -> Series | None:
        """Return values unless too many are gaps."""
        known = np.count_nonzero(~np.isnan(values))
        return values if known and known >= LIMITS.coverage * self.samples else None

    def mean(self, quantity: str, label: str = "") -> float | None:
        """Return the mean of a series; None where it was not observed."""
        return mean_of(self.series(quantity, label))

    def share(self, quantity: str, label: str = "") -> float | None:
        """Return the mean of a series of shares: rounding of clocks may give a little more than 1."""
        mean = self.mean(quantity, label)
        return None if mean is None else min(mean, 1.0)

    def count(self, quantity: str, label: str = "") -> float | None:
        """Return how much a counter grew in the window."""
        values = self.series(quantity, label)
        return None if values is None else float(np.nansum(values)) * self.step

    def total(self, quantity: str) -> float | None:
        """Return how much a counter grew, of the machine or of all its labels, whichever is more."""
        whole = self.count(quantity)
        parts = [self.count(quantity, label) for label in self.labels(quantity)]
        known = [each for each in parts if each is not None]
        if whole is None and not known:
            return None
        return max(whole or 0.0, sum(known))

    def most(self, quantity: str) -> tuple[float, str] | None:
        """Return the largest mean share, of the machine or of a group that is not perfdash's, and its label."""
        labels = ["", *self.labels(quantity)]
        means = [
            (mean, label)
            for label in labels
            if label not in self.observed.load_groups
            and (mean := self.share(quantity, label)) is not None
        ]
        return max(means, key=lambda each: each[0], default=None)

    def largest_group(self, quantity: str) -> tuple[str, float] | None:
        """Return the group with the largest mean."""
        means = [
            (mean, label)
            for label in self.labels(quantity)
            if (mean := self.mean(quantity, label)) is not None
        ]
        if not means:
            return None
        mean, label = max(means)
        return (label, mean) if mean > 0 else None


def mean_of(values: Series | None) -> float | None:
    """Return the mean without gaps."""
    return None if values is None else float(np.nanmean(values))


def part_of(values: Series, holds: NDArray[np.bool_]) -> float:
    """Return the part of the samples, gaps left out, for which something holds."""
    known = ~np.isnan(values)
    return float(np.count_nonzero(holds & known) / np.count_nonzero(known))


def judge(observed: Observed) -> RunBinding:
    """Judge which resource binds in the observed window."""
    window = _Window(observed)
    cpu = _Cpu(window)
    states = [
        state
        for judged in (
            cpu.states(),
            _memory(window),
            _disks(window),
            _cards(window),
            _listen_queue(window),
            _database(window, cpu),
            _queues(window),
            _files_and_sockets(window),
        )
        for state in judged
    ]
    strongest = _strongest(states)
    caveats: set[Caveat] = {
        caveat for state in states for caveat in state.caveats if caveat != Caveat.LOAD
    }
    if strongest and any(
        Caveat.LOAD in state.caveats
        for state in states
        if Bound(state.resource, state.label) in strongest
    ):
        caveats.add(Caveat.LOAD)
    if window.has_gaps():
        caveats.add(Caveat.GAPS)
    if 0 < window.samples < LIMITS.few_samples:
        caveats.add(Caveat.COARSE)
    seen = {state.resource for state in states}
    return RunBinding(
        word=_word(states, observed.missing, bound=bool(strongest)),
        strongest=strongest,
        resources=states,
        seconds=window.samples * window.step,
        samples=window.samples,
        sources=list(observed.sources),
        missing=list(observed.missing),
        not_watched=[resource for resource in Resource if resource not in seen],
        caveats=[caveat for caveat in Caveat if caveat in caveats],
        load_share=cpu.load_share,
    )


def _word(states: Sequence[ResourceState], missing: Sequence[str], *, bound: bool) -> RunWord:
    """Return the word: none only where all that was to be watched was, and the machine itself."""
    if bound:
        return RunWord.BINDS
    judged = {state.resource for state in states if state.state != State.UNKNOWN}
    unknown = {
        state.resource
        for state in states
        if state.state == State.UNKNOWN and state.resource != Resource.NETWORK
    }
    if missing or unknown or not judged.issuperset(NEEDED):
        return RunWord.UNKNOWN
    return RunWord.NONE


def _strongest(states: Sequence[ResourceState]) -> list[Bound]:
    """Return what binds by the strongest sign, what is nearly as strong, and how the database sees it."""
    order = list(Sign)
    bound = sorted(
        (state for state in states if state.state == State.BINDS and state.sign is not None),
        key=lambda state: (order.index(state.sign or Sign.UTILISATION), -(state.strength or 0)),
    )
    if not bound:
        return []
    first = bound[0]
    chosen = [
        state
        for state in bound
        if state.sign == first.sign
        and (state.strength or 0) * LIMITS.alike >= (first.strength or 0)
    ]
    kinds = {state.resource for state in chosen}
    kinds |= {VIEWS_OF[kind] for kind in kinds if kind in VIEWS_OF}
    views = [
        state
        for state in bound
        if state not in chosen
        and (state.resource in kinds or VIEWS_OF.get(state.resource) in kinds)
    ]
    kin = [state for state in views if state.resource in VIEWS_OF or first.resource in VIEWS_OF]
    return [Bound(state.resource, state.label) for state in [*chosen, *kin]]


def _binding(state: ResourceState, *signs: tuple[Sign, float | None, float, bool]) -> ResourceState:
    """Return a resource with the strongest sign that holds: sign, value, limit, and what else is needed."""
    for kind in Sign:
        ratios = [
            value / limit
            for sign, value, limit, needed in signs
            if sign == kind and needed and value is not None and value >= limit
        ]
        if ratios:
            return replace(state, state=State.BINDS, sign=kind, strength=max(ratios))
    return state


def _figures(*figures: tuple[str, float | None, Unit, float | None]) -> list[Figure]:
    """Return the figures that are known."""
    return [
        Figure(name, value, unit, limit)
        for name, value, unit, limit in figures
        if value is not None
    ]


def _unknown(resource: Resource, label: str = "", *caveats: Caveat) -> ResourceState:
    return ResourceState(resource, label, State.UNKNOWN, caveats=list(caveats))


class _Cpu:
    """The processor: all cores, one core, quotas, and what the host took."""

    MODES = ("user", "nice", "system", "irq", "steal", "idle", "iowait")
    NEEDED = ("user", "idle")

    def __init__(self, window: _Window) -> None:
        self.window = window
        modes = {mode: window.series(f"cpu.{mode}") for mode in self.MODES}
        self.watched = window.names(*(f"cpu.{mode}" for mode in self.MODES))
        known = {mode: values for mode, values in modes.items() if values is not None}
        self.total: Series | None = None
        if all(mode in known for mode in self.NEEDED):
            total = np.sum(list(known.values()), axis=0)
            total[total <= 0] = np.nan
            self.total = window.enough(total)
        self.modes = known
        self.cores = self._cores()
        self.busy = self._busy()
        self.niced = self._niced()
        self.all_cores = self._all_cores()

    def _cores(self) -> int | None:
        cores = self.window.observed.facts.get("cores")
        if isinstance(cores, int | float) and cores >= 1:
            return round(cores) if cores <= MOST_CORES else None
        labels = self.window.labels("cpu.core_busy")
        if labels:
            return len(labels)
        total = mean_of(self.total)
        return max(1, round(total)) if total and total <= MOST_CORES else None

    def _busy(self) -> Series | None:
        """Return the used cores."""
        if self.total is None:
            return None
        idle = self.modes["idle"] + self.modes.get("iowait", np.zeros(self.window.samples))
        return np.maximum(self.total - idle, 0.0)

    def _niced(self) -> Series:
        """Return the cores of niced programs outside the groups, and of perfdash: they give way to all others."""
        nice = self.modes.get("nice")
        if nice is None:
            return np.zeros(self.window.samples)
        outside = [
            values
            for label in (OTHERS, *self.window.observed.load_groups)
            if (values := self.window.series("group.cpu", label)) is not None
        ]
        grouped = self.window.series("group.cpu", OTHERS) is not None
        return np.fmin(nice, np.nansum(outside, axis=0)) if grouped else nice

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

    def states(self) -> Iterator[ResourceState]:
        """Judge what was observed of the processor."""
        if self.all_cores is not None:
            yield self.all_cores
        yield from self._core()
        yield from self._quotas()
        yield from self._steal()

    def _all_cores(self) -> ResourceState | None:
        if not self.watched:
            return None
        if self.total is None or self.busy is None:
            return _unknown(Resource.CPU)
        if self.cores is None:
            return _unknown(Resource.CPU, "", Caveat.CORES_UNKNOWN)
        window = self.window
        total = mean_of(self.total) or float(self.cores)
        used = mean_of(self.busy / self.total) or 0.0
        niced = (mean_of(self.niced) or 0.0) / total
        own = max(used - niced, 0.0)
        limit, full = binding_load(self.cores), LIMITS.core
        pressure = window.share("pressure.cpu.some")
        running = window.mean("cpu.running")
        queue = None if running is None else max(running - 1, 0.0) / self.cores
        waits = (
            (pressure, LIMITS.cpu_pressure) if pressure is not None else (queue, LIMITS.cpu_queue)
        )
        load = self._load()
        group = window.largest_group("group.cpu")
        busy = mean_of(self.busy) or 0.0
        caveats = [Caveat.NICED] if niced >= LIMITS.niced else []
        if pressure is None:
            caveats.append(Caveat.NO_PRESSURE)
        state = ResourceState(
            Resource.CPU,
            "",
            State.FREE,
            utilisation=min(used, 1.0),
            saturation=pressure,
            pressure=pressure,
            group=group[0] if group else "",
            group_share=min(group[1] / busy, 1.0) if group and busy else None,
            figures=_figures(
                ("cpu_used", min(own, 1.0), Unit.SHARE, limit),
                ("cpu_niced", niced if niced >= LIMITS.niced else None, Unit.SHARE, None),
                ("pressure_some", pressure, Unit.SHARE, LIMITS.cpu_pressure),
                ("running_per_core", queue, Unit.COUNT, waits[1] if pressure is None else None),
                ("load_generator", self.load_share, Unit.SHARE, None),
            ),
            caveats=caveats,
        )
        state = _binding(
            state,
            (Sign.SATURATION, waits[0], waits[1], own >= limit),
            (Sign.UTILISATION, own, max(limit, full), True),
            (Sign.UTILISATION, own, limit, waits[0] is None),
        )
        if state.state == State.BINDS and load is not None and own - load / total < limit:
            return replace(state, caveats=[*state.caveats, Caveat.LOAD])
        return state

    def _core(self) -> Iterator[ResourceState]:
        """Judge the busiest core, and the busiest thread of each group, where the CPU as a whole is free."""
        window = self.window
        if not window.names("cpu.core_busy", "group.busiest_thread"):
            return
        if self.cores is not None and self.cores < 2:
            return
        busiest = window.largest_group("cpu.core_busy")
        thread = window.largest_group("group.busiest_thread")
        if busiest is None and thread is None:
            known = [
                window.series("cpu.core_busy", label) for label in window.labels("cpu.core_busy")
            ]
            idle = any(values is not None for values in known)
            yield ResourceState(
                Resource.CORE,
                "",
                State.FREE if idle else State.UNKNOWN,
                utilisation=0.0 if idle else None,
            )
            return
        niced = mean_of(self.niced) or 0.0
        core = max(min(busiest[1], 1.0) - niced, 0.0) if busiest else None
        of_thread = min(thread[1], 1.0) if thread else None
        if thread and of_thread is not None and thread[0] == OTHERS:
            of_thread = max(of_thread - niced, 0.0)
        used = max(core or 0.0, of_thread or 0.0)
        # A core that is full of something else is no thread's.
        least = LIMITS.core if used >= LIMITS.core else used / 2
        whose = thread[0] if thread and (of_thread or 0.0) >= least else ""
        state = ResourceState(
            Resource.CORE,
            whose,
            State.FREE,
            utilisation=used,
            group=whose,
            figures=[
                *(
                    [Figure("core_busy", core, Unit.SHARE, LIMITS.core, busiest[0])]
                    if busiest and core is not None
                    else []
                ),
                *(
                    [Figure("thread_busy", of_thread, Unit.SHARE, LIMITS.core, thread[0])]
                    if thread and of_thread is not None
                    else []
                ),
            ],
            caveats=[Caveat.LOAD] if whose in window.observed.load_groups else [],
        )
        whole_is_free = self.all_cores is None or self.all_cores.state != State.BINDS
        yield _binding(state, (Sign.UTILISATION, used, LIMITS.core, whole_is_free))

    def _quotas(self) -> Iterator[ResourceState]:
        window = self.window
        for label in window.labels("group.periods"):
            periods, throttled = (
                window.series(name, label) for name in ("group.periods", "group.throttled_periods")
            )
            if periods is None or throttled is None:
                yield _unknown(Resource.QUOTA, label)
                continue
            both = ~np.isnan(periods) & ~np.isnan(throttled)
            every = float(periods[both].sum())
            share = min(float(throttled[both].sum()) / every, 1.0) if every else 0.0
            state = ResourceState(
                Resource.QUOTA,
                label,
                State.FREE,
                saturation=share,
                errors=float(throttled[both].sum()) * window.step,
                group=label,
                figures=_figures(("throttled_periods", share, Unit.SHARE, LIMITS.quota_periods)),
                caveats=[Caveat.LOAD] if label in window.observed.load_groups else [],
            )
            yield _binding(state, (Sign.ERRORS, share, LIMITS.quota_periods, True))

    def _steal(self) -> Iterator[ResourceState]:
        stolen = self.modes.get("steal")
        if stolen is None or self.total is None:
            return
        share = min(mean_of(stolen / self.total) or 0.0, 1.0)
        state = ResourceState(
            Resource.STEAL,
            "",
            State.FREE,
            utilisation=share,
            figures=_figures(("stolen", share, Unit.SHARE, LIMITS.steal)),
        )
        yield _binding(state, (Sign.ERRORS, share, LIMITS.steal, True))


def _memory(window: _Window) -> Iterator[ResourceState]:
    if not window.names(
        "memory.available", "memory.swap_in", "pressure.memory.some", "memory.oom_kills"
    ):
        return
    total, available = window.mean("memory.total"), window.mean("memory.available")
    if total is None and isinstance(fact := window.observed.facts.get("memory_total"), int | float):
        total = float(fact)
    kills = window.total("memory.oom_kills")
    some, full = window.most("pressure.memory.some"), window.most("pressure.memory.full")
    swapped, refaults = window.mean("memory.swap_in"), window.mean("memory.refaults")
    returned = max((each for each in (swapped, refaults) if each is not None), default=None)
    if some is None and full is None and swapped is None and not kills:
        yield _unknown(Resource.MEMORY)
        return
    pressed = some is not None or full is not None
    group = window.largest_group("group.memory")
    state = ResourceState(
        Resource.MEMORY,
        "",
        State.FREE,
        utilisation=max(1 - available / total, 0.0) if total and available is not None else None,
        saturation=some[0] if some else None,
        errors=kills,
        pressure=some[0] if some else None,
        pressure_full=full[0] if full else None,
        group=group[0] if group else "",
        group_share=min(group[1] / total, 1.0) if group and total else None,
        figures=[
            *_figures(("oom_kills", kills, Unit.COUNT, 1.0)),
            *(
                [Figure("pressure_full", full[0], Unit.SHARE, LIMITS.memory_full, full[1])]
                if full
                else []
            ),
            *(
                [Figure("pressure_some", some[0], Unit.SHARE, LIMITS.memory_some, some[1])]
                if some
                else []
            ),
            *_figures(
                ("swapped_in", swapped, Unit.PER_SECOND, LIMITS.pages),
                ("refaults", refaults, Unit.PER_SECOND, LIMITS.pages),
            ),
        ],
        caveats=[] if pressed else [Caveat.NO_PRESSURE],
    )
    yield _binding(
        state,
        (Sign.ERRORS, _some(kills), 1.0, True),
        (Sign.SATURATION, full[0] if full else None, LIMITS.memory_full, True),
        (
            Sign.SATURATION,
            some[0] if some else None,
            LIMITS.memory_some,
            returned is not None and returned > LIMITS.pages,
        ),
        (Sign.SATURATION, swapped, LIMITS.pages, not pressed),
    )


def _disks(window: _Window) -> Iterator[ResourceState]:
    some, full = window.most("pressure.io.some"), window.most("pressure.io.full")
    pressed = some is not None or full is not None
    blocked = window.mean("cpu.blocked")
    for label in window.labels("disk.busy"):
        busy = window.share("disk.busy", label)
        if busy is None or not (pressed or blocked is not None):
            yield _unknown(Resource.DISK, label)
            continue
        works = busy >= LIMITS.disk_busy
        operations = _sum(window.mean("disk.reads", label), window.mean("disk.writes", label))
        seconds = _sum(window.mean("disk.read_time", label), window.mean("disk.write_time", label))
        state = ResourceState(
            Resource.DISK,
            label,
            State.FREE,
            utilisation=busy,
            saturation=some[0] if some else None,
            errors=window.count("disk.errors", label),
            pressure=some[0] if some else None,
            pressure_full=full[0] if full else None,
            figures=[
                *_figures(("disk_busy", busy, Unit.SHARE, LIMITS.disk_busy)),
                *(
                    [Figure("pressure_full", full[0], Unit.SHARE, LIMITS.disk_full, full[1])]
                    if full
                    else []
                ),
                *(
                    [Figure("pressure_some", some[0], Unit.SHARE, LIMITS.disk_some, some[1])]
                    if some
                    else []
                ),
                *_figures(
                    ("disk_queue", window.mean("disk.queue", label), Unit.COUNT, None),
                    (
                        "blocked_tasks",
                        blocked,
                        Unit.COUNT,
                        None if pressed else LIMITS.disk_blocked,
                    ),
                    (
                        "disk_wait",
                        seconds / operations if operations and seconds is not None else None,
                        Unit.SECONDS,
                        None,
                    ),
                ),
            ],
            caveats=[] if pressed else [Caveat.NO_PRESSURE],
        )
        yield _binding(
            state,
            (Sign.SATURATION, full[0] if full else None, LIMITS.disk_full, works),
            (Sign.SATURATION, some[0] if some else None, LIMITS.disk_some, works),
            (Sign.SATURATION, blocked, LIMITS.disk_blocked, works and not pressed),
        )


def _some(count: float | None) -> float | None:
    """Return a count, of which any binds: one at the window's edge is counted in part."""
    return max(count, 1.0) if count else None


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _cards(window: _Window) -> Iterator[ResourceState]:
    segments, again = window.count("tcp.segments"), window.count("tcp.retransmits")
    lost = min(again / segments, 1.0) if segments and again is not None else None
    for card in sorted({*window.labels("net.received"), *window.labels("net.sent")}):
        speed = window.mean("net.speed", card)
        for way in ("received", "sent"):
            moved = window.mean(f"net.{way}", card)
            label = f"{card} {way}"
            if moved is None:
                if window.has(f"net.{way}", card):
                    yield _unknown(Resource.NETWORK, label)
                continue
            if not speed:
                if moved >= LIMITS.silent_card:
                    yield _unknown(Resource.NETWORK, label, Caveat.SPEED_UNKNOWN)
                continue
            used = moved / speed
            state = ResourceState(
                Resource.NETWORK,
                label,
                State.FREE,
                utilisation=min(used, 1.0),
                saturation=lost,
                errors=window.count("net.drops", card),
                figures=_figures(
                    ("of_speed", used, Unit.SHARE, LIMITS.network),
                    ("retransmitted", lost, Unit.SHARE, LIMITS.retransmits),
                ),
            )
            yield _binding(
                state,
                (Sign.SATURATION, lost, LIMITS.retransmits, used >= LIMITS.network_lossy),
                (Sign.UTILISATION, used, LIMITS.network, True),
            )


def _listen_queue(window: _Window) -> Iterator[ResourceState]:
    names = ("tcp.listen_overflows", "tcp.listen_drops")
    if not window.names(*names):
        return
    known = [values for name in names if (values := window.series(name)) is not None]
    if not known:
        yield _unknown(Resource.LISTEN_QUEUE)
        return
    grown = np.fmax.reduce(known)
    samples = int(np.count_nonzero(grown > 0))
    share = part_of(grown, grown > 0)
    state = ResourceState(
        Resource.LISTEN_QUEUE,
        "",
        State.FREE,
        saturation=share,
        errors=float(np.nansum(grown)) * window.step,
        figures=_figures(("overflow_samples", float(samples), Unit.COUNT, LIMITS.listen_samples)),
    )
    state = _binding(state, (Sign.SATURATION, float(samples), LIMITS.listen_samples, True))
    if (
        state.state == State.BINDS
    ):  # as strong as the queues that are judged by parts of the samples
        state = replace(state, strength=max(1.0, share / LIMITS.waiting_samples))
    yield state


def _database(window: _Window, cpu: _Cpu) -> Iterator[ResourceState]:
    yield from _connections(window)
    yield from _waits(window)
    yield from _database_cpu(window, cpu)


def _connections(window: _Window) -> Iterator[ResourceState]:
    if not window.names("db.connections", "db.refused"):
        return
    used, limit = window.series("db.connections"), window.series("db.connections_limit")
    refused = window.count("db.refused")
    share = None
    if used is not None and limit is not None:
        parts = window.enough(used / np.where(limit > 0, limit, np.nan))
        share = None if parts is None else min(mean_of(parts) or 0.0, 1.0)
    if share is None and not refused:
        yield _unknown(Resource.CONNECTIONS)
        return
    state = ResourceState(
        Resource.CONNECTIONS,
        "",
        State.FREE,
        utilisation=share,
        errors=refused,
        figures=_figures(
            ("connections_used", share, Unit.SHARE, LIMITS.connections),
            ("refused", refused, Unit.COUNT, 1.0),
        ),
    )
    yield _binding(
        state,
        (Sign.ERRORS, _some(refused), 1.0, True),
        (Sign.UTILISATION, share, LIMITS.connections, True),
    )


def _waits(window: _Window) -> Iterator[ResourceState]:
    """Judge what active sessions of the database wait for."""
    if not window.names("db.active"):
        return
    means = {
        label: mean
        for label in window.labels("db.active")
        if (mean := window.mean("db.active", label)) is not None
    }
    if not means:
        yield _unknown(Resource.LOCKS)
        yield _unknown(Resource.DATABASE_IO)
        return
    active = sum(means.values())
    events = {label: window.mean("db.waits", label) or 0.0 for label in window.labels("db.waits")}
    commits = {
        label: mean for label, mean in events.items() if label.lower().endswith(COMMIT_EVENTS)
    }
    behind = sum(mean for label, mean in commits.items() if label.startswith("LWLock"))
    waits = {
        Resource.LOCKS: means.get("Lock", 0.0),
        Resource.DATABASE_IO: means.get("IO", 0.0) + behind,
    }
    for resource, waiting in waits.items():
        share = min(waiting / active, 1.0) if active > 0 else 0.0
        of_commits = min(sum(commits.values()) / waiting, 1.0) if waiting > 0 and commits else None
        name = "waits_for_locks" if resource == Resource.LOCKS else "waits_for_io"
        state = ResourceState(
            resource,
            "",
            State.FREE,
            saturation=share,
            errors=window.total("db.deadlocks") if resource == Resource.LOCKS else None,
            figures=_figures(
                (name, share, Unit.SHARE, LIMITS.sessions),
                ("active_sessions", active, Unit.COUNT, LIMITS.active_sessions),
                (
                    "of_commits",
                    of_commits if resource == Resource.DATABASE_IO else None,
                    Unit.SHARE,
                    None,
                ),
            ),
        )
        yield _binding(
            state, (Sign.SATURATION, share, LIMITS.sessions, active >= LIMITS.active_sessions)
        )


def _database_cpu(window: _Window, cpu: _Cpu) -> Iterator[ResourceState]:
    """Judge whether the database is what binds the CPU."""
    group, used = next(
        (
            (label, mean)
            for label in DATABASES
            if (mean := window.mean("group.cpu", label)) is not None
        ),
        ("", None),
    )
    if used is None or cpu.all_cores is None:
        return
    whole = cpu.all_cores
    if whole.state == State.UNKNOWN or cpu.cores is None:
        yield _unknown(Resource.DATABASE_CPU)
        return
    busy = window.mean("db.active", ACTIVE_ON_CPU)
    share = min(used / cpu.cores, 1.0)
    state = ResourceState(
        Resource.DATABASE_CPU,
        "",
        State.FREE,
        utilisation=share,
        group=group,
        figures=_figures(
            ("database_cpu", share, Unit.SHARE, None),
            ("active_per_core", None if busy is None else busy / cpu.cores, Unit.COUNT, None),
        ),
    )
    if whole.state == State.BINDS and whole.group == group:
        state = replace(state, state=State.BINDS, sign=whole.sign, strength=whole.strength)
    yield state


def _queues(window: _Window) -> Iterator[ResourceState]:
    """Judge application threads, task slots, pools of connections, and limits that were set."""
    roles = {
        "threads": Resource.THREADS,
        "slots": Resource.SLOTS,
        "pool": Resource.CONNECTIONS,
        "throttle": Resource.THROTTLE,
    }
    names = ("queue.busy", "queue.limit", "queue.waiting")
    for label in sorted({each for name in names for each in window.labels(name)}):
        role, _, name = label.partition(" ")
        if role in roles:
            yield _queue(window, roles[role], label, name or role)


def _queue(window: _Window, resource: Resource, label: str, name: str) -> ResourceState:
    busy, limit, waiting = (
        window.series(f"queue.{each}", label) for each in ("busy", "limit", "waiting")
    )
    used = None
    if busy is not None and limit is not None:
        used = window.enough(busy / np.where(limit > 0, limit, np.nan))
    if used is None and waiting is None:
        return _unknown(resource, name)
    queued = None if waiting is None else part_of(waiting, waiting > 0)
    full = None if used is None else part_of(used, used >= LIMITS.threads)
    if resource == Resource.SLOTS and waiting is not None and used is not None:
        while_full = window.enough(np.where(np.isnan(used), np.nan, waiting * (used >= 1)))
        queued = queued if while_full is None else part_of(while_full, while_full > 0)
    mean = None if used is None else min(mean_of(used) or 0.0, 1.0)
    pool = resource == Resource.CONNECTIONS
    threads = resource == Resource.THREADS
    state = ResourceState(
        resource,
        name,
        State.FREE,
        utilisation=mean,
        saturation=queued,
        errors=window.count("queue.errors", label),
        figures=_figures(
            ("queued_samples", queued, Unit.SHARE, LIMITS.waiting_samples),
            ("full_samples", full, Unit.SHARE, LIMITS.threads_samples if threads else None),
            ("slots_used", mean, Unit.SHARE, LIMITS.connections if pool else None),
        ),
    )
    if window.samples < LIMITS.queue_samples:
        return replace(state, state=State.UNKNOWN, caveats=[Caveat.COARSE])
    return _binding(
        state,
        (Sign.SATURATION, queued, LIMITS.waiting_samples, True),
        (Sign.UTILISATION, full, LIMITS.threads_samples, threads),
        (Sign.UTILISATION, mean, LIMITS.connections, pool),
    )


def _files_and_sockets(window: _Window) -> Iterator[ResourceState]:
    """Judge what fills up. It is read seldom, so that one sample is enough, and none is no lack of a source."""
    for quantity in ("files.open_share", "group.descriptors"):
        for label in ["", *window.labels(quantity)]:
            yield from _filled(window, Resource.DESCRIPTORS, label, window.any(quantity, label))
    waiting, ports = window.any("tcp.time_wait"), window.any("tcp.local_ports")
    if waiting is not None and ports is not None:
        share = waiting / np.where(ports > 0, ports, np.nan)
        yield from _filled(window, Resource.SOCKETS, "", share)


def _filled(
    window: _Window, resource: Resource, label: str, share: Series | None
) -> Iterator[ResourceState]:
    """Judge something that fills up by the most that was seen: what is full at the end hurts then."""
    if share is None or np.isnan(share).all():
        return
    most = min(float(np.nanmax(share)), 1.0)
    state = ResourceState(
        resource,
        label,
        State.FREE,
        utilisation=most,
        group=label,
        figures=_figures(("most_used", most, Unit.SHARE, LIMITS.descriptors)),
        caveats=[Caveat.LOAD] if label in window.observed.load_groups else [],
    )
    yield _binding(state, (Sign.UTILISATION, most, LIMITS.descriptors, True))
