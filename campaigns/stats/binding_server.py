"""Judge the servers on a machine: database, queues and limits in front of the work, open files. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from campaigns.stats.binding import (
    LIMITS,
    Caveat,
    Resource,
    ResourceState,
    Series,
    Sign,
    State,
    Unit,
)
from campaigns.stats.binding_machine import Cpu
from campaigns.stats.binding_window import (
    Indicator,
    Measure,
    Window,
    happens,
    informing,
    judged,
    measure_of,
    ratio_of,
    unknown,
)

DATABASES = ("postgres", "database")
"""Groups of a database: the defaults of families of targets call it so."""
ACTIVE_ON_CPU = "CPU"
"""The label of active sessions that wait for nothing."""
NO_WAITS = ("Client", "Activity")
"""Classes of waits of a session that waits for its client, or for work: it is not active for the server."""
COMMIT_EVENTS = ("walsync", "walwrite")
"""Events in which a session waits for the log of a commit; PostgreSQL 17 writes WalSync."""
PARALLEL = (
    "ExecuteGather",
    "MessageQueue",
    "Parallel",
    "Hash",
    "BgWorkerS",
    "BtreePage",
    "AppendReady",
)
"""How events of class IPC begin in which a session waits for its own parallel workers: they work meanwhile."""


def listen_queue(window: Window) -> Iterator[ResourceState]:
    """Judge whether connections overflow the listen queue."""
    names = ("tcp.listen_overflows", "tcp.listen_drops")
    if not window.names(*names):
        return
    known = [values for name in names if (values := window.series(name)) is not None]
    if not known:
        yield unknown(Resource.LISTEN_QUEUE)
        return
    grown = np.fmax.reduce(known)
    sent = window.series("tcp.segments")
    of_segments = Measure() if sent is None else ratio_of(grown, sent)
    state = ResourceState(
        Resource.LISTEN_QUEUE,
        "",
        State.FREE,
        saturation=happens(grown, grown > 0).whole,
        errors=float(np.nansum(grown)) * window.step,
    )
    samples = Indicator(
        "overflow_samples",
        Measure(float(np.count_nonzero(grown > 0))),
        LIMITS.listen_samples,
        Sign.SATURATION,
        Unit.COUNT,
        needs=[(of_segments, LIMITS.listen_drops)] if of_segments.whole else [],
    )
    yield judged(state, [samples], informing(("drops_of_segments", of_segments.whole, Unit.SHARE)))


def database(window: Window, cpu: Cpu) -> Iterator[ResourceState]:
    """Judge connections, what active sessions wait for, and whether the database is what fills the CPU."""
    yield from _connections(window)
    yield from _waits(window)
    yield from _database_cpu(window, cpu)


def _connections(window: Window) -> Iterator[ResourceState]:
    """Judge the connections of the server. Connections that are kept are not short while nobody asks for a new one."""
    if not window.names("db.connections", "db.refused"):
        return
    used, refused = Measure(), window.series("db.refused")
    connections, limit = window.series("db.connections"), window.series("db.connections_limit")
    if connections is not None and limit is not None:
        parts = window.enough(connections / np.where(limit > 0, limit, np.nan))
        used = measure_of(None if parts is None else np.minimum(parts, 1.0))
    often = happens(refused, None if refused is None else refused > 0)
    if refused is not None and np.count_nonzero(refused > 0) < 2:
        often = Measure(0.0)
    if used.whole is None and refused is None:
        yield unknown(Resource.CONNECTIONS)
        return
    youngest = window.series("db.youngest_session")
    asks = happens(youngest, None if youngest is None else youngest <= LIMITS.new_session)
    state = ResourceState(
        Resource.CONNECTIONS,
        "",
        State.FREE,
        utilisation=used.whole,
        errors=window.count("db.refused"),
    )
    state = judged(
        state,
        [
            Indicator(
                "connections_used",
                used,
                LIMITS.connections,
                Sign.UTILISATION,
                needs=[(asks, LIMITS.waiting_samples)] if asks.whole is not None else [],
            ),
            Indicator("refused_samples", often, LIMITS.refused, Sign.ERRORS),
        ],
    )
    yield (
        state
        if used.whole is not None or state.state == State.BINDS
        else unknown(Resource.CONNECTIONS)
    )


def _waits(window: Window) -> Iterator[ResourceState]:
    """Judge what active sessions of the database wait for: every class of waits but those of idle sessions and of clients."""
    if not window.names("db.active"):
        return
    classes = {
        label: np.nan_to_num(values)
        for label in window.labels("db.active")
        if label not in NO_WAITS and (values := window.series("db.active", label)) is not None
    }
    if not classes:
        yield unknown(Resource.LOCKS)
        yield unknown(Resource.DATABASE_IO)
        return
    active = np.sum(list(classes.values()), axis=0)
    events = {
        label: np.nan_to_num(values)
        for label in window.labels("db.waits")
        if (values := window.series("db.waits", label)) is not None
    }
    nothing = np.zeros(window.samples)
    commits = {
        label: values for label, values in events.items() if label.lower().endswith(COMMIT_EVENTS)
    }
    behind = sum((v for label, v in commits.items() if label.startswith("LWLock")), nothing)
    own = sum((v for label, v in events.items() if _parallel(label)), nothing)
    waits = {label: values for label, values in classes.items() if label != ACTIVE_ON_CPU}
    waits["Lock"] = waits.get("Lock", nothing)
    waits["IO"] = waits.get("IO", nothing) + behind
    for label, less in (("LWLock", behind), ("IPC", own)):
        if label in waits:
            waits[label] = np.maximum(waits[label] - less, 0.0)
    shares = {
        label: ratio_of(np.minimum(values, active), active) for label, values in waits.items()
    }
    largest = _largest(shares)
    needs = [(measure_of(active), LIMITS.active_sessions)]
    for label, share in shares.items():
        limit = LIMITS.sessions
        if label == largest:
            limit = min(limit, share.whole or limit)
        name, resource = _WAITS.get(label, ("waits", Resource.DATABASE_WAITS))
        of_commits = None
        if label == "IO" and commits and waits[label].sum() > 0:
            of_commits = min(float(sum(commits.values(), nothing).sum() / waits[label].sum()), 1.0)
        state = ResourceState(
            resource,
            label if resource == Resource.DATABASE_WAITS else "",
            State.FREE,
            saturation=share.whole,
            errors=_deadlocks(window) if resource == Resource.LOCKS else None,
        )
        yield judged(
            state,
            [Indicator(name, share, limit, Sign.SATURATION, label=_event(label, events), needs=needs)],
            informing(
                ("active_sessions", needs[0][0].whole, Unit.COUNT),
                ("of_commits", of_commits, Unit.SHARE),
            ),
        )  # fmt: skip


_WAITS: Mapping[str, tuple[str, Resource]] = {
    "Lock": ("waits_for_locks", Resource.LOCKS),
    "IO": ("waits_for_io", Resource.DATABASE_IO),
}


def _parallel(label: str) -> bool:
    kind, _, event = label.partition(":")
    return kind == "IPC" and event.startswith(PARALLEL)


def _largest(shares: Mapping[str, Measure]) -> str:
    """Return the class that is named where sessions wait most of the time, but for no class often enough; empty elsewhere."""
    means = {label: share.whole or 0.0 for label, share in shares.items()}
    if not means or max(means.values()) >= LIMITS.sessions:
        return ""
    return max(means, key=lambda label: means[label]) if sum(means.values()) >= LIMITS.all_sessions else ""  # fmt: skip


def _event(label: str, events: Mapping[str, Series]) -> str:
    """Return the event of a class for which most sessions wait; empty where it is not known."""
    of_class = {
        name.partition(":")[2]: float(values.sum())
        for name, values in events.items()
        if name.startswith(f"{label}:") and values.sum() > 0 and not _parallel(name)
    }
    return max(of_class, key=lambda name: of_class[name], default="")


def _deadlocks(window: Window) -> float | None:
    counts = [window.count("db.deadlocks", label) for label in ("", *window.labels("db.deadlocks"))]
    known = [each for each in counts if each is not None]
    return sum(known) if known else None


def _database_cpu(window: Window, cpu: Cpu) -> Iterator[ResourceState]:
    """Judge whether the database is what binds the CPU."""
    group, used = next(
        (
            (label, mean)
            for label in DATABASES
            if (mean := window.mean("group.cpu", label)) is not None
        ),
        ("", None),
    )
    whole = cpu.all_cores
    if used is None or whole is None:
        return
    if whole.state == State.UNKNOWN or cpu.cores is None:
        yield unknown(Resource.DATABASE_CPU)
        return
    busy, share = window.mean("db.active", ACTIVE_ON_CPU), min(used / cpu.cores, 1.0)
    figures = informing(
        ("database_cpu", share, Unit.SHARE),
        ("active_per_core", None if busy is None else busy / cpu.cores, Unit.COUNT),
    )
    state = ResourceState(
        Resource.DATABASE_CPU,
        "",
        State.FREE,
        utilisation=share,
        group=group,
        judged_by=figures[0],
        figures=figures,
    )
    if whole.state == State.BINDS and whole.group == group:
        state = replace(state, state=State.BINDS, sign=whole.sign, at_limit=whole.at_limit)
    yield state


def queues(window: Window) -> Iterator[ResourceState]:
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


def _queue(window: Window, resource: Resource, label: str, name: str) -> ResourceState:
    """Judge a queue by who waits in it.

    One that is full binds without a queue where nobody sees who waits: threads may have their queue in the kernel. A pool that
    is kept at its ceiling has none.
    """
    busy, limit, waiting = (
        window.series(f"queue.{each}", label) for each in ("busy", "limit", "waiting")
    )
    used = None
    if busy is not None and limit is not None:
        used = window.enough(busy / np.where(limit > 0, limit, np.nan))
    if used is None and waiting is None:
        return unknown(resource, name)
    queued = happens(waiting, None if waiting is None else waiting > 0)
    full = happens(used, None if used is None else used >= LIMITS.threads)
    if resource == Resource.SLOTS and waiting is not None and used is not None:
        while_full = window.enough(np.where(np.isnan(used), np.nan, waiting * (used >= 1)))
        if while_full is not None:
            queued = happens(while_full, while_full > 0)
    mean = measure_of(None if used is None else np.minimum(used, 1.0)).whole
    state = ResourceState(
        resource,
        name,
        State.FREE,
        utilisation=mean,
        saturation=queued.whole,
        errors=window.count("queue.errors", label),
    )
    if window.samples < LIMITS.queue_samples:
        return replace(state, state=State.UNKNOWN, caveats=[Caveat.COARSE])
    indicators = [
        Indicator("queued_samples", queued, LIMITS.waiting_samples, Sign.SATURATION),
    ]
    informs = informing(
        ("queue_length", window.mean("queue.waiting", label), Unit.COUNT),
        ("slots_used", mean, Unit.SHARE),
    )
    if waiting is None or resource == Resource.THREADS:
        indicators.append(Indicator("full_samples", full, LIMITS.threads_samples, Sign.UTILISATION))
    return judged(state, indicators, informs)


def open_files(window: Window) -> Iterator[ResourceState]:
    """Judge open files. They are read seldom, so that one sample is enough, and none is no lack of a source.

    They are short where they are used up, or become more and are nearly so; steady ones are not. TIME_WAIT is not judged: that of a
    server takes none of its ports.
    """
    for quantity in ("files.open_share", "group.descriptors"):
        for label in ["", *window.labels(quantity)]:
            share = window.any(quantity, label)
            if share is None or np.isnan(share).all():
                continue
            known = share[~np.isnan(share)]
            most, third = min(float(known.max()), 1.0), max(len(known) // 3, 1)
            rise = max(float(known[-third:].mean() - known[:third].mean()), 0.0)
            state = ResourceState(
                Resource.DESCRIPTORS,
                label,
                State.FREE,
                utilisation=most,
                group=label,
                caveats=[Caveat.LOAD] if label in window.observed.load_groups else [],
            )
            rises = [(Measure(rise), LIMITS.descriptors_rise)]
            yield judged(
                state,
                [
                    Indicator("most_used", Measure(most), LIMITS.descriptors, Sign.UTILISATION, needs=rises),
                    Indicator("most_used", Measure(most), LIMITS.descriptors_full, Sign.UTILISATION),
                ],
            )  # fmt: skip
