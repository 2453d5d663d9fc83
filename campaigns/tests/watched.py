"""What the watches of a target saw in a run, as the keeper stores it."""

import numpy as np

from campaigns.results.watched import (
    MEASURE,
    STEADY,
    RunEvent,
    Summary,
    WatchedRun,
    WatchedSource,
    observed,
    store_watched,
)
from campaigns.stats.binding_rule import judge
from campaigns.targets.watches.align import AlignedSeries
from campaigns.targets.watches.base import Key

SECONDS = 30.0
EVENTS = (RunEvent("timer", "dnf-makecache ran", 12.0, 14.0, matters=True),)
REFUSED = WatchedSource("postgresql", "db.example:5432", "not", 1.0, "Connection refused.")


def series(quantity, value, label="", *, seconds=SECONDS, before=5.0, step=1.0):
    """Return a series from a little before the clock to the end; value: a number, or of the seconds."""
    at = np.arange(-before, seconds, step)
    values = value(at) if callable(value) else np.full(len(at), float(value))
    return AlignedSeries(Key(quantity, label), -before, step, values.astype("<f4").astype(float))


def machine(busy, *, pressure=None, cores=2.0, seconds=SECONDS):
    """Return the series of a machine that is busy by a share; its groups add up to it."""
    used = cores * busy
    of = {"seconds": seconds}
    return [
        series("cpu.user", 0.9 * used, **of),
        series("cpu.system", 0.1 * used, **of),
        series("cpu.idle", cores - used, **of),
        series("cpu.iowait", 0.0, **of),
        series("cpu.running", cores * busy * 2, **of),
        series("group.cpu", 0.7 * used, "web", **of),
        series("group.cpu", 0.29 * used, "others", **of),
        series("group.cpu", 0.01 * used, "perfdash", **of),
        series("pressure.cpu.some", busy**2 if pressure is None else pressure, **of),
        series("pressure.memory.some", 0.0, **of),
        series("pressure.memory.full", 0.0, **of),
        series("pressure.io.some", 0.01, **of),
        series("pressure.io.full", 0.0, **of),
        series("memory.total", 8e9, **of),
        series("memory.available", 5e9, **of),
        series("disk.busy", 0.2, "sda", **of),
        series("disk.read", 1e6, "sda", **of),
        series("disk.written", 2e6, "sda", **of),
    ]


def watched(members, *, events=(), cores=2.0, others=(), seconds=SECONDS):
    """Return a run that SSH has watched, judged as the keeper does it."""
    ssh = WatchedSource(
        "ssh",
        "target.example:22",
        "whole",
        1.0,
        offset_seconds=-0.0004,
        uncertainty_seconds=0.0002,
        drift_seconds=0.0,
        frames=len(members[0].values),
        cpu_seconds=0.1,
        worker_cpu_seconds=0.2,
        facts={"cores": cores, "kernel": "6.18"},
        series=members,
    )
    sources = [ssh, *others]
    summaries = [
        Summary(
            each.key, phase, *(float(f(each.values)) for f in (np.mean, np.median, np.max, np.max))
        )
        for each in members
        for phase in (MEASURE, STEADY)
    ]
    return WatchedRun(sources, summaries, list(events), judge(observed(sources, seconds)))


def watch(run, busy, *, events=EVENTS, **named):
    """Store what was seen of the last attempt at a run, whose machine was busy by a share; return the attempt."""
    attempt = run.attempts.order_by("number").last()
    store_watched(attempt, watched(machine(busy), events=events, **named))
    return attempt


__all__ = ["REFUSED", "machine", "series", "watch", "watched"]
