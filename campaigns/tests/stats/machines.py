"""Constructed machines whose limits are known, and what the rule has to say of each: ANSWER.md 4.

A machine is an idle one of two cores with a database, and what is changed of it: "quantity label" to a value for the whole
window or to a series of 60 samples. What it must say is written as “resource label”.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from campaigns.stats.binding import Observed
from campaigns.targets.watches.catalog import CATALOG, LOAD, OTHERS

SAMPLES = 60


def machine(cores=2, changed=None, without=(), **how):
    """An idle machine of two cores with a database, and what is changed of it: "quantity label" to a value or a series."""
    values = {
        "cpu.user": 0.05,
        "cpu.nice": 0,
        "cpu.system": 0.03,
        "cpu.irq": 0.0,
        "cpu.steal": 0.0,
        "cpu.iowait": 0.0,
        "cpu.running": 1,
        "cpu.blocked": 0,
        **{f"cpu.core_busy {core}": 0.04 for core in range(cores)},
        "pressure.cpu.some": 0.01,
        "pressure.memory.some": 0,
        "pressure.memory.full": 0,
        "pressure.io.some": 0.001,
        "pressure.io.full": 0.0,
        "memory.total": 8e9,
        "memory.available": 6e9,
        "memory.swap_in": 0,
        "memory.refaults": 0,
        "memory.oom_kills": 0,
        "disk.busy sda": 0.02,
        "disk.queue sda": 0.02,
        "tcp.listen_drops": 0,
        "tcp.segments": 100,
        "tcp.retransmits": 0,
        "net.received eth0": 1e5,
        "net.sent eth0": 1e5,
        "net.speed eth0": 1.25e8,
        "db.connections": 5,
        "db.connections_limit": 97,
        "db.active CPU": 0.1,
        **(changed or {}),
    }
    modes = ("user", "nice", "system", "irq", "steal", "iowait")
    used = sum(np.maximum(np.nan_to_num(values[f"cpu.{mode}"]), 0) for mode in modes)
    values.setdefault("cpu.idle", np.maximum(cores - used, 0))
    series = {}
    for name, value in values.items():
        quantity, _, label = name.partition(" ")
        assert quantity in CATALOG
        if not name.startswith(tuple(without)):
            series[quantity, label] = np.broadcast_to(np.array(value, float), SAMPLES).copy()
    return Observed(1.0, series, {"cores": cores}, **how)


def first(part, value, rest=0.0):
    """A series that has one value in the first part of the window, and another in the rest."""
    return np.where(np.arange(SAMPLES) < part * SAMPLES, value, rest)


def last(part, value, rest=0.0):
    """A series that has one value in the last part of the window, and another before."""
    return first(part, value, rest)[::-1]


def once(count):
    """A counter that grows by a count in one sample."""
    return np.where(np.arange(SAMPLES) == 30, float(count), 0.0)


def queue(role, name, busy, limit, waiting=None):
    """The gauges of a queue."""
    label = f"{role} {name}"
    values = {f"queue.busy {label}": busy, f"queue.limit {label}": limit}
    return values if waiting is None else {**values, f"queue.waiting {label}": waiting}


BUSY = {"cpu.user": 1.9, "cpu.system": 0.09, "cpu.running": 5, "pressure.cpu.some": 0.97}
SLOW = {"disk.busy sda": 0.99, "pressure.io.some": 0.9, "pressure.io.full": 0.7, "cpu.blocked": 3}
LOCKED = {"db.active Lock": 30, "db.active CPU": 1}
THRASHES = {
    "pressure.memory.some": 0.6, "pressure.memory.full": 0.5, "memory.swap_in": 4000, "disk.busy sda": 0.97,
    "pressure.io.some": 0.62, "pressure.io.full": 0.52,
}  # fmt: skip
PUMA = queue("threads", "puma", 4, 4, 28)


@dataclass(frozen=True)
class Known:
    """A machine. binds: what it is short of; queues: the queues and limits in front of that; part: what binds for a part alone."""

    name: str
    changed: dict = field(default_factory=dict)
    binds: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    part: tuple[str, ...] = ()
    cores: int = 2
    without: tuple[str, ...] = ()

    @property
    def observed(self):
        """What was observed of it."""
        return machine(self.cores, self.changed, self.without)


MACHINES = (
    # Nothing is short.
    Known("idle"),
    Known("two cores at 60 %", {"cpu.user": 1.1, "cpu.system": 0.1, "pressure.cpu.some": 0.12}),
    Known("half of the CPU, and somebody waits a quarter of the time", {"cpu.user": 1.0, "pressure.cpu.some": 0.27}),
    Known("eight cores at 80 %", {"cpu.user": 6.0, "cpu.system": 0.4, "pressure.cpu.some": 0.1}, cores=8),
    Known("64 cores at 85 %", {"cpu.user": 54.4, "pressure.cpu.some": 0.15}, cores=64),
    Known("a Redis that takes 70 % of a core", {"cpu.user": 0.7, "group.busiest_thread redis": 0.7, "group.cpu redis": 0.7}),
    Known("a light niced job", {"cpu.nice": 0.3, "pressure.cpu.some": 0.05}),
    Known("a niced job on one core beside a light service",
          {"cpu.user": 0.2, "cpu.nice": 1.0, "cpu.core_busy 1": 0.99, "pressure.cpu.some": 0.08,
           "group.cpu puma": 0.2, f"group.cpu {OTHERS}": 1.0, f"group.busiest_thread {OTHERS}": 0.99}),
    Known("a burst of five seconds", {"cpu.user": first(5 / 60, 1.95, 0.1), "pressure.cpu.some": first(5 / 60, 0.9)}),
    Known("steal of 3 %", {"cpu.steal": 0.06}),
    Known("a quota that is seldom used up", {"group.periods puma": 10, "group.throttled_periods puma": 0.2}),
    Known("little memory, and no pressure", {"memory.available": 1e7}),
    Known("swap that is in use, and at rest", {"memory.available": 1e8, "memory.swap_used": 4e9}),
    Known("one OOM kill of a cron job", {"memory.oom_kills": once(1), f"group.processes {OTHERS}": 80}),
    Known("one OOM kill in a group of others", {f"memory.oom_kills {OTHERS}": once(1), "memory.oom_kills": once(1)}),
    Known("an SSD that answers many at once", {"disk.busy sda": 1.0, "pressure.io.some": 0.05}),
    Known("a writer of logs on an SSD", {"disk.busy sda": 0.3, "pressure.io.some": 0.4, "pressure.io.full": 0.02}),
    Known("iowait alone", {"cpu.iowait": 1.9}),
    Known("a loss of packets on a quiet network", {"tcp.retransmits": 2}),
    Known("a card whose speed nobody knows", {"net.sent eth0": 1e7}, without=("net.speed",)),
    Known("two drops of the listen queue", {"tcp.listen_drops": once(9)}),
    Known("a drop of the listen queue now and then", {"tcp.listen_drops": [1] + [0] * 14 + [1] + [0] * 14 + [1] + [0] * 29, "tcp.segments": 9000}),
    Known("TIME_WAIT on a server", {"tcp.time_wait": 27_000, "tcp.local_ports": 28_000}),
    Known("open files that are steady at 93 %", {"group.descriptors puma": 0.93}),
    Known("open files that come and go", {"group.descriptors puma": [0.8, 0.95] * 30}),
    Known("a pool that is kept at its ceiling", queue("pool", "db", 10, 10, 0)),
    Known("two pools that are kept at their ceilings", {**queue("pool", "app", 20, 20, 0), **queue("pool", "jobs", 5, 5, 0)}),
    Known("kept connections at max_connections", {"db.connections": 97, "db.youngest_session": 4000, "db.refused": 0}),
    Known("one refused connection", {"db.connections": 60, "db.refused": once(1), "db.commits bench": 800}),
    Known("one lock among few", {"db.active Lock": 0.5}),
    Known("sessions that wait for their clients", {"db.active Client": 9, "db.active CPU": 0.5}),
    Known("sessions that wait for their parallel workers",
          {"db.active IPC": 1, "db.waits IPC:ExecuteGather": 1, "db.active CPU": 1.1, "cpu.user": 1.1}),
    Known("an autovacuum that sleeps", {"db.active Timeout": 0.2, "db.active CPU": 0.4}),
    Known("a slow client", queue("threads", "puma", 1, 4, 0)),
    Known("tasks that wait while workers idle", queue("slots", "pulp", 1, 2, 9)),
    Known("a proxy that lets all through", queue("throttle", "app", 3, 100, 0)),
    # The processor.
    Known("busy loops", BUSY, ("cpu",)),
    Known("two cores at 90 %, and somebody waits", {"cpu.user": 1.7, "cpu.system": 0.11, "pressure.cpu.some": 0.2}, ("cpu",)),
    Known("two cores at 92 %, and nobody waits", {"cpu.user": 1.75, "cpu.system": 0.1, "pressure.cpu.some": 0.03}, ("cpu",)),
    Known("eight cores at 78 %, and many wait", {"cpu.user": 6.2, "pressure.cpu.some": 0.4}, ("cpu",), cores=8),
    Known("64 cores at 85 %, and many wait", {"cpu.user": 54.4, "pressure.cpu.some": 0.3}, ("cpu",), cores=64),
    Known("bursts of many short programs", {"cpu.user": 1.1, "pressure.cpu.some": 0.45}, ("cpu",)),
    Known("16 cores at 95 %", {"cpu.user": 15.2, "pressure.cpu.some": 0.2}, ("cpu",), cores=16),
    Known("niced loops on all cores",
          {"cpu.user": 0.3, "cpu.nice": 1.7, "pressure.cpu.some": 0.6, "cpu.core_busy 0": 1.0, "cpu.core_busy 1": 1.0}, ("cpu",)),
    Known("niced loops on all cores, told by groups",
          {"cpu.user": 0.3, "cpu.nice": 1.7, "pressure.cpu.some": 0.6, "group.cpu puma": 0.3,
           f"group.cpu {OTHERS}": 1.7, f"group.busiest_thread {OTHERS}": 1.0, "group.niced updatedb": 1.7}, ("cpu",)),
    Known("a full CPU, a third of it niced", {"cpu.user": 1.33, "cpu.nice": 0.67, "pressure.cpu.some": 0.99997}, ("cpu",)),
    Known("a full CPU without pressure information", {**BUSY}, ("cpu",), without=("pressure",)),
    Known("interrupts", {"cpu.irq": 1.3, "cpu.system": 0.6, "cpu.user": 0.05, "pressure.cpu.some": 0.2}, ("cpu",)),
    Known("a CPU that the database fills",
          {**BUSY, "group.cpu postgres": 1.5, "group.cpu puma": 0.4, "db.active CPU": 4}, ("cpu", "database_cpu")),
    Known("a CPU that the load generator fills", {**BUSY, "group.cpu puma": 0.5, f"group.cpu {LOAD}": 1.45}, ("cpu",)),
    Known("the event loop of one process", {"cpu.user": 1.0, "group.busiest_thread node": 0.99, "group.cpu node": 1.0}, ("core node",)),
    Known("one thread full beside others",
          {"cpu.user": 2.5, "group.busiest_thread redis": 0.99, "group.cpu redis": 1.0, "group.cpu puma": 1.5,
           "pressure.cpu.some": 0.3, "cpu.core_busy 1": 0.99}, ("core redis",), cores=4),
    Known("one thread full beside others on two cores",
          {"cpu.user": 1.3, "group.busiest_thread redis": 0.99, "group.cpu redis": 1.0, "group.cpu puma": 0.3,
           "pressure.cpu.some": 0.28, "cpu.core_busy 1": 0.99}, ("core redis",)),
    Known("one thread full, and a core for which others wait",
          {"cpu.user": 1.7, "group.busiest_thread redis": 0.99, "group.cpu redis": 1.0, "group.cpu puma": 0.7,
           "pressure.cpu.some": 0.6, "cpu.core_busy 1": 0.99}, ("cpu", "core redis")),
    Known("the threads of two programs",
          {"cpu.user": 2.1, "group.busiest_thread redis": 0.99, "group.busiest_thread node": 0.97, "group.cpu redis": 1.0,
           "group.cpu node": 1.0}, ("core node", "core redis"), cores=4),
    Known("interrupts on one core", {"cpu.irq": 0.97, "cpu.core_busy 1": 0.99, f"group.busiest_thread {OTHERS}": 0.3}, ("core",)),
    Known("programs that are pinned to one core", {"cpu.user": 1.0, "cpu.core_busy 0": 1.0, "pressure.cpu.some": 0.95}, ("core",)),
    Known("a service at its quota",
          {"cpu.user": 0.4, "group.periods puma": 10, "group.throttled_periods puma": 7, "pressure.cpu.some": 0.7}, ("quota puma",)),
    Known("a container at its quota",
          {"cpu.user": 0.9, "group.periods": 10, "group.throttled_periods": 9, "pressure.cpu.some": 0.6}, ("quota",)),
    Known("a host that takes the CPU", {"cpu.user": 0.9, "cpu.steal": 0.6, "pressure.cpu.some": 0.1}, ("steal",)),
    Known("a host that takes half, and the rest is full", {"cpu.user": 0.95, "cpu.steal": 1.0, "pressure.cpu.some": 0.8}, ("cpu", "steal")),
    # Memory.
    Known("a service whose memory is squeezed", {"pressure.memory.full puma": 0.05}, ("memory",)),
    Known("swapping", {"pressure.memory.some": 0.06, "memory.swap_in": 40}, ("memory",)),
    Known("a storm of swapping", THRASHES, ("memory",)),
    Known("swapping without pressure information", {"memory.swap_in": 400}, ("memory",), without=("pressure",)),
    Known("OOM kills of the workers", {"memory.oom_kills pulp workers": once(2), "memory.oom_kills": once(2)}, ("memory",)),
    Known("OOM kills again and again", {"memory.oom_kills": [0, 0, 0, 0, 0, 0, 0, 0, 0, 1] * 6}, ("memory",)),
    # Disks and other storage.
    Known("random reads", SLOW, ("disk sda",)),
    Known("an SSD at 80 % for which all wait", {"disk.busy sda": 0.8, "pressure.io.some": 0.6, "pressure.io.full": 0.4}, ("disk sda",)),
    Known("a server of files", {"pressure.io.some": 0.7, "pressure.io.full": 0.5}, ("storage",)),
    Known("a server of files without pressure information", {"cpu.blocked": 3, "cpu.iowait": 1.5}, ("storage",), without=("pressure",)),
    Known("a server of files for one service", {"pressure.io.full pulp content": 0.6, "pressure.io.some pulp content": 0.7}, ("storage",)),
    Known("a machine without disks of its own", {"pressure.io.some": 0.7, "pressure.io.full": 0.5}, ("storage",), without=("disk",)),
    Known("an SSD at 80 % without pressure information", {"disk.busy sda": 0.8, "cpu.blocked": 2.5}, ("disk sda",), without=("pressure",)),
    Known("a disk without pressure information", {**SLOW, "cpu.blocked": 4}, ("disk sda",), without=("pressure",)),
    Known("the second disk", {**SLOW, "disk.busy sda": 0.1, "disk.busy sdb": 0.98}, ("disk sdb",)),
    # The network.
    Known("a full card", {"net.sent eth0": 1.2e8}, ("network eth0 sent",)),
    Known("a card that loses", {"net.sent eth0": 5e7, "tcp.retransmits": 2}, ("network eth0 sent",)),
    # The database.
    Known("locks of rows", LOCKED, ("locks",)),
    Known("LWLocks", {"db.active LWLock": 20, "db.waits LWLock:LockManager": 18, "db.active CPU": 4}, ("database_waits LWLock",)),
    Known("pins of buffers", {"db.active BufferPin": 3, "db.active CPU": 1}, ("database_waits BufferPin",)),
    Known("a synchronous replica", {"db.active IPC": 12, "db.waits IPC:SyncRep": 12, "db.active CPU": 1}, ("database_waits IPC",)),
    Known("an extension", {"db.active Extension": 6, "db.active CPU": 1}, ("database_waits Extension",)),
    Known("statements that sleep", {"db.active Timeout": 4, "db.waits Timeout:PgSleep": 4}, ("database_waits Timeout",)),
    Known("LWLocks among many that wait for clients",
          {"db.active Client": 30, "db.active LWLock": 6, "db.active CPU": 2}, ("database_waits LWLock",)),
    Known("waits of many classes",
          {"db.active Lock": 2, "db.active LWLock": 2.5, "db.active BufferPin": 1, "db.active IPC": 1, "db.active CPU": 3},
          ("database_waits LWLock",)),
    Known("reads of the database", {**SLOW, "db.active IO": 8, "db.active CPU": 1}, ("disk sda", "database_io")),
    Known("commits",
          {**SLOW, "db.active IO": 8, "db.active LWLock": 20, "db.waits LWLock:WALWrite": 20, "db.waits IO:WALSync": 8},
          ("disk sda", "database_io")),
    Known("max_connections, and sessions come and go", {"db.connections": 97, "db.youngest_session": 0.4}, ("connections",)),
    Known("connections that are refused", {"db.connections": 97, "db.youngest_session": 30, "db.refused": 0.5}, ("connections",)),
    # Queues and limits with nothing behind them.
    Known("threads of Puma", PUMA, ("threads puma",)),
    Known("workers of Gunicorn whose queue nobody sees", queue("threads", "gunicorn", 8, 8), ("threads gunicorn",)),
    Known("threads of Tomcat before Candlepin", queue("threads", "tomcat", 200, 200, 40), ("threads tomcat",)),
    Known("workers of Celery", queue("slots", "celery", 4, 4, 90), ("slots celery",)),
    Known("workers of Celery whose queue nobody sees", queue("slots", "celery", 4, 4), ("slots celery",)),
    Known("a pool for which sessions wait", queue("pool", "db", 10, 10, [0, 0, 3] * 20), ("connections db",)),
    Known("a limit that was set", queue("throttle", "app", 3, 3, 5), ("throttle app",)),
    Known("a listen queue", {"tcp.listen_drops": [0] * 56 + [2, 2, 2, 2]}, ("listen_queue",)),
    Known("open files that leak", {"group.descriptors puma": np.linspace(0.2, 0.96, SAMPLES)}, ("descriptors puma",)),
    Known("open files that are used up", {"group.descriptors puma": 1.0}, ("descriptors puma",)),
    # Hardware behind a queue, and two that are short.
    Known("a CPU behind Puma's threads", {**BUSY, **PUMA}, ("cpu",), ("threads puma",)),
    Known("a CPU behind a queue that is seldom empty", {**BUSY, **queue("threads", "puma", 4, 4, [1, 1, 1, 0] * 15)}, ("cpu",), ("threads puma",)),
    Known("a CPU just full behind a full queue", {"cpu.user": 1.8, "cpu.system": 0.05, "pressure.cpu.some": 0.26, **PUMA}, ("cpu",), ("threads puma",)),
    Known("a disk behind workers", {**SLOW, **queue("slots", "pulp", 2, 2, 9)}, ("disk sda",), ("slots pulp",)),
    Known("a CPU behind max_connections", {**BUSY, "db.connections": 97, "db.refused": 12}, ("cpu",), ("connections",)),
    Known("a network behind a limit", {"net.sent eth0": 1.22e8, **queue("throttle", "app", 3, 3, 5)}, ("network eth0 sent",), ("throttle app",)),
    Known("locks behind threads", {**LOCKED, **PUMA}, ("locks",), ("threads puma",)),
    Known("a full thread behind a listen queue",
          {"cpu.user": 1.0, "group.busiest_thread node": 0.99, "tcp.listen_drops": 4}, ("core node",), ("listen_queue",)),
    Known("a full CPU with one OOM kill", {**BUSY, "memory.oom_kills": once(1)}, ("cpu",)),
    Known("a CPU and locks", {**BUSY, **LOCKED}, ("cpu", "locks")),
    Known("a CPU and memory", {**BUSY, "pressure.memory.full": 0.03}, ("cpu", "memory")),
    Known("a CPU and a disk", {**BUSY, "disk.busy sda": 0.97, "pressure.io.some": 0.6, "pressure.io.full": 0.0}, ("cpu", "disk sda")),
    Known("a CPU and an SSD", {**BUSY, "disk.busy sda": 0.8, "pressure.io.some": 0.7}, ("cpu", "disk sda")),
    Known("a CPU and a server of files", {**BUSY, "pressure.io.some": 0.8}, ("cpu", "storage")),
    Known("a full CPU beside a writer of logs", {**BUSY, "disk.busy sda": 0.3, "pressure.io.some": 0.6}, ("cpu",)),
    Known("a CPU and a card", {**BUSY, "net.received eth0": 1.2e8}, ("cpu", "network eth0 received")),
    Known("memory and a disk", {**SLOW, "pressure.memory.full": 0.04, "pressure.memory.some": 0.1, "memory.refaults": 60}, ("memory", "disk sda")),
    Known("a CPU, memory and a disk",
          {**BUSY, "pressure.memory.full": 0.02, "disk.busy sda": 0.99, "pressure.io.some": 0.8}, ("cpu", "memory", "disk sda")),
    Known("two queues", {**PUMA, **queue("pool", "db", 10, 10, 6)}, ("connections db", "threads puma")),
    # For a part of the window.
    Known("a CPU for the first half", {"cpu.user": first(0.5, 1.97, 0.1), "pressure.cpu.some": first(0.5, 0.95)}, ("cpu",), part=("cpu",)),
    Known("a disk for the last half",
          {name: last(0.5, value, 0.01) for name, value in SLOW.items()}, ("disk sda",), part=("disk sda",)),
    Known("locks for the first half", {"db.active Lock": first(0.5, 20), "db.active CPU": 1}, ("locks",), part=("locks",)),
    Known("threads for the last half", queue("threads", "puma", last(0.5, 4, 1), 4, last(0.5, 20)), ("threads puma",), part=("threads puma",)),
    Known("a card for two fifths", {"net.sent eth0": first(0.4, 1.2e8, 1e6)}, ("network eth0 sent",), part=("network eth0 sent",)),
    Known("a CPU all the time, and memory for a part",
          {**BUSY, "pressure.memory.full": last(0.3, 0.2)}, ("cpu", "memory"), part=("memory",)),
    Known("a full thread for the last half",
          {"cpu.user": last(0.5, 1.0, 0.1), "group.busiest_thread node": last(0.5, 1.0, 0.1)}, ("core node",), part=("core node",)),
    Known("a series with gaps", {**BUSY, "cpu.running": [5.0] * 50 + [math.nan] * 10}, ("cpu",)),
)  # fmt: skip
"""At least sixty, each with its right word; test_binding_rule judges them all."""
