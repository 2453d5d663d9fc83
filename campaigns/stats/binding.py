"""Which resource of a target binds in one run: what was observed, and the rule that judges it. Pure.

MONITORING.md 8, ANSWER.md 4. Quantities and labels are the names of `campaigns.targets.watches.catalog`, as text.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.units import Count, Number, Seconds, Share

RULE = 3
"""Raise it with any change of what is judged: stored runs are judged again."""
Series = NDArray[np.float64]
"""Values at equal steps: of a gauge, or the rate of a counter. Not a number: a gap, or a counter that began anew."""


class Resource(StrEnum):
    """What may bind. STORAGE: what tasks wait for that is no disk of the machine; THROTTLE: a limit that somebody set, not a lack.

    SOCKETS stands in judgements by earlier rules alone.
    """

    CPU = "cpu"
    CORE = "core"
    QUOTA = "quota"
    STEAL = "steal"
    MEMORY = "memory"
    DISK = "disk"
    STORAGE = "storage"
    NETWORK = "network"
    LISTEN_QUEUE = "listen_queue"
    CONNECTIONS = "connections"
    LOCKS = "locks"
    DATABASE_WAITS = "database_waits"
    DATABASE_IO = "database_io"
    DATABASE_CPU = "database_cpu"
    THREADS = "threads"
    SLOTS = "slots"
    DESCRIPTORS = "descriptors"
    SOCKETS = "sockets"
    THROTTLE = "throttle"


JUDGED = tuple(each for each in Resource if each != Resource.SOCKETS)
"""What the rule judges."""
QUEUES = frozenset(
    {
        Resource.LISTEN_QUEUE,
        Resource.CONNECTIONS,
        Resource.THREADS,
        Resource.SLOTS,
        Resource.DESCRIPTORS,
        Resource.SOCKETS,
        Resource.THROTTLE,
    }
)
"""Queues and limits: work stands in them before it comes to whatever else is short."""


class State(StrEnum):
    """The state of one resource in one run."""

    BINDS = "binds"
    FREE = "free"
    UNKNOWN = "unknown"


class Sign(StrEnum):
    """By what a resource binds."""

    ERRORS = "errors"
    SATURATION = "saturation"
    UTILISATION = "utilisation"


class RunWord(StrEnum):
    """The word of a run. NONE: no resource that was watched binds; UNKNOWN: too little was watched to say so."""

    BINDS = "binds"
    NONE = "none"
    UNKNOWN = "unknown"


class Caveat(StrEnum):
    """What a reader has to know about a judgement.

    NO_PRESSURE: without PSI, judged by utilisation and queues. SPEED_UNKNOWN: of a card. CORES_UNKNOWN. GAPS: part of the
    window was not observed. COARSE: fewer than ten samples. LOAD: the load generator's own processes use this
    resource so much that it would not bind without them. NICED: niced programs use a part of the CPU that binds.
    """

    NO_PRESSURE = "no_pressure"
    SPEED_UNKNOWN = "speed_unknown"
    CORES_UNKNOWN = "cores_unknown"
    GAPS = "gaps"
    COARSE = "coarse"
    LOAD = "load"
    NICED = "niced"


class Unit(StrEnum):
    """The unit of a figure."""

    SHARE = "share"
    CORES = "cores"
    PER_SECOND = "1/s"
    COUNT = ""
    SECONDS = "s"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the reason. limit: what it was held against, None where it only informs; label: what it is of."""

    name: str
    value: Number
    unit: Unit = Unit.SHARE
    limit: Number | None = None
    label: str = ""


WHOLE: Share = 0.7
"""The part of the window at its limit from which on a resource binds in all of it, and not for a part alone. [own]"""


@dataclass(frozen=True, slots=True)
class ResourceState:
    """One resource in one run. label: the disk, card and way, queue, group or class of waits that it is of; empty: the machine.

    utilisation: a share, mean over the window. saturation: the share of time, samples or sessions that waited.
    errors: counted in the window. pressure, pressure_full: PSI some and full. sign: by what it binds.
    judged_by: the figure by which it was judged; where it binds, its mean over the parts of the window at the limit.
    at_limit: the part of the window in which it binds; None where it is not known, or does not bind.
    group, group_share: whose use of it is largest.
    """

    resource: Resource
    label: str
    state: State
    utilisation: Share | None = None
    saturation: Share | None = None
    errors: Number | None = None
    pressure: Share | None = None
    pressure_full: Share | None = None
    sign: Sign | None = None
    judged_by: Figure | None = None
    at_limit: Share | None = None
    group: str = ""
    group_share: Share | None = None
    figures: Sequence[Figure] = field(default_factory=list)
    caveats: Sequence[Caveat] = field(default_factory=list)

    @property
    def is_partly(self) -> bool:
        """Whether it binds for a part of the window alone."""
        return self.state == State.BINDS and self.at_limit is not None and self.at_limit < WHOLE


@dataclass(frozen=True, slots=True)
class Bound:
    """A resource that binds, in a verdict."""

    resource: Resource
    label: str = ""


def in_front(bound: Iterable[Bound]) -> tuple[list[Bound], list[Bound]]:
    """Return what binds, and the queues and limits in front of it. Where nothing else is short, the queues are what binds."""
    behind: list[Bound] = []
    queues: list[Bound] = []
    for each in bound:
        (queues if each.resource in QUEUES else behind).append(each)
    return (behind, queues) if behind else (queues, [])


@dataclass(frozen=True, slots=True)
class RunBinding:
    """The judgement of one run.

    strongest: all that binds, hardware first, and the queues and limits in front of it last; empty unless `word` is BINDS.
    seconds, samples: of the window that was judged. sources, missing: the watches that were there, and those that were not.
    not_watched: resources that no source observed. load_share: of the used CPU, by perfdash's own processes.
    """

    word: RunWord
    strongest: Sequence[Bound]
    resources: Sequence[ResourceState]
    seconds: Seconds
    samples: Count
    sources: Sequence[str] = field(default_factory=list)
    missing: Sequence[str] = field(default_factory=list)
    not_watched: Sequence[Resource] = field(default_factory=list)
    caveats: Sequence[Caveat] = field(default_factory=list)
    load_share: Share | None = None
    rule: Count = RULE


@dataclass(frozen=True, slots=True)
class Observed:
    """What was observed over the judged window, on one grid.

    series: by (quantity, label). facts: of the machine, `cores` above all. sources: those that gave frames; missing:
    those that were to be read and were not, or whose clock is too uncertain. load_groups: groups that hold
    perfdash's own processes: the sampler, and the load generator where it runs on the target's machine.
    """

    step_seconds: float
    series: Mapping[tuple[str, str], Series]
    facts: Mapping[str, str | float] = field(default_factory=dict)
    sources: Sequence[str] = field(default_factory=list)
    missing: Sequence[str] = field(default_factory=list)
    load_groups: Collection[str] = ("perfdash", "load generator")


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of the rule, in one table. MONITORING.md 8 and ANSWER.md 4 tell each; [own]: chosen by the known cases of 9."""

    cpu_used: Share = 0.90
    """Of what the host leaves, whoever uses it, niced or not. ANSWER.md 4."""
    cpu_loaded: Share = 0.70
    """Used so far, a CPU is what tasks wait for. A job waits as long as it is served by 71 % of two cores (Erlang's C). [own]"""
    cpu_pressure: Share = 0.25
    """PSI `some`, of a CPU that is loaded. [own]"""
    cpu_waits: Share = 0.40
    """PSI `some`, however much is used: but where one core is full, or a quota is used up, tasks may wait for that. Some job waits
    41 % of the time where two cores are used to 71 % (M/M/2). [own]"""
    cpu_queue: Number = 1.0
    """Tasks that run or want to, but the reader, over cores, of a loaded CPU without PSI: as many wait as the cores can run. [own]"""
    core: Share = 0.95
    """Of one core, or of one thread. [own]"""
    quota_periods: Share = 0.10
    """Periods in which the quota of a cgroup was used up. [own]"""
    steal: Share = 0.10
    """Of all CPU time. [own]"""
    memory_full: Share = 0.01
    """PSI `full`. systemd-oomd kills at 0.60 over 30 s by default (oomd.conf(5)), long after it hurts. [own]"""
    memory_some: Share = 0.05
    """PSI `some`, and pages come back that had been given away. [own]"""
    pages: Number = 10.0
    """Pages swapped in, or refaults of the working set, a second. [own]"""
    kills: Count = 3
    """OOM kills of programs that are in no group; fewer are events. One in a group is enough. [own]"""
    io_full: Share = 0.20
    """PSI `full`, wherever the disk is. ANSWER.md 4."""
    io_some: Share = 0.50
    """PSI `some` while the CPU is full: `full` is 0 as long as anybody computes. [own]"""
    disk_full: Share = 0.10
    """PSI `full`, and a disk is busy. [own]"""
    disk_some: Share = 0.30
    """PSI `some`, and a disk is busy: `full` stays 0 while anybody computes. [own]"""
    disk_blocked: Number = 1.0
    """Tasks blocked by a disk on average, where there is no PSI. [own]"""
    disk_busy: Share = 0.90
    """io_ticks; never alone, since an SSD answers many requests at once. [own]"""
    disk_works: Share = 0.50
    """io_ticks of the disk that all wait for; where no disk has so much, they wait for other storage. [own]"""
    disk_rests: Share = 0.20
    """io_ticks of the busiest disk, from which on it may be what a writer of logs waits for, and not storage elsewhere. [own]"""
    network: Share = 0.80
    """Of the card's speed, one way. [own]"""
    retransmits: Share = 0.01
    """Of segments, where the card carries `network_lossy` of its speed at least. [own]"""
    network_lossy: Share = 0.30
    listen_samples: Count = 3
    """Samples in which the listen queue overflowed. [own]"""
    listen_drops: Share = 0.001
    """Drops of the listen queue against the segments sent: fewer are events beside the work that is done. [own]"""
    connections: Share = 0.95
    """Of the connections that are not reserved. [own]"""
    new_session: Number = 10.0
    """Seconds. Where the youngest session is older, connections are kept, and nobody asks for one. [own]"""
    refused: Share = 0.05
    """Samples in which a connection was refused, and at least two. [own]"""
    sessions: Share = 0.30
    """Of active session time that waits for one class of waits. [own]"""
    all_sessions: Share = 0.50
    """Of active session time that waits for whatever class, none of which is `sessions`: the largest is named. [own]"""
    active_sessions: Number = 1.0
    """The least active sessions on average, for their waits to matter. [own]"""
    threads: Share = 0.95
    """Busy, in `threads_samples` of the samples. [own]"""
    threads_samples: Share = 0.50
    waiting_samples: Share = 0.20
    """Samples in which somebody waits in a queue. [own]"""
    queue_samples: Count = 5
    """A queue is not judged by fewer: 20 % of the samples would be less than one of them. [own]"""
    descriptors: Share = 0.90
    """Of open files, where they become more by `descriptors_rise` from the first third of the window to the last. [own]"""
    descriptors_rise: Share = 0.10
    descriptors_full: Share = 0.99
    """Of open files, however steady. [own]"""
    part: Share = 0.30
    """The part of the window at its limit from which on a resource binds, if for a part of the run. [own]"""
    coverage: Share = 0.5
    """The least part of the window with samples; below it a quantity was not observed. [own]"""
    niced: Share = 0.02
    """CPU of niced programs that is worth a word. [own]"""
    silent_card: Number = 1_000.0
    """B/s: a card without a speed that carries less is left out: such are bridges that nobody uses. [own]"""
    few_samples: Count = 10
    """With fewer the judgement is called coarse. [own]"""


LIMITS = Limits()
