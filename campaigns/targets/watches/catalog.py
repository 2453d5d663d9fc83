"""The quantities that sources read: one vocabulary for sources, stored series, the rule and charts. Pure.

A counter is stored as its rate: of seconds, bytes or pages a second. A counter of seconds of one core that is
divided by the number of cores becomes a share only where it is shown.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How the values of a quantity behave."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity. unit: of the gauge, or of the counter's rate. label: what its labels are; empty: it has none."""

    name: str
    text: str
    unit: str
    kind: Kind
    label: str = ""


def _all(*rows: tuple[str, str, str, Kind, str]) -> dict[str, Quantity]:
    return {row[0]: Quantity(*row) for row in rows}


G, C = Kind.GAUGE, Kind.COUNTER
CATALOG = _all(
    # Processor: counters of seconds, summed over cores; the rate is in cores.
    ("cpu.user", "CPU in programs", "cores", C, ""),
    ("cpu.nice", "CPU in niced programs", "cores", C, ""),
    ("cpu.system", "CPU in the kernel", "cores", C, ""),
    ("cpu.idle", "CPU idle", "cores", C, ""),
    ("cpu.iowait", "CPU idle, waiting for a disk", "cores", C, ""),
    ("cpu.irq", "CPU in interrupts", "cores", C, ""),
    ("cpu.steal", "CPU stolen by the host", "cores", C, ""),
    ("cpu.core_busy", "busy share of one core", "cores", C, "core"),
    ("cpu.frequency", "clock of the cores, mean", "Hz", G, ""),
    ("cpu.heat_throttles", "throttled by heat", "1/s", C, ""),
    ("cpu.running", "tasks that run or want to", "", G, ""),
    ("cpu.blocked", "tasks blocked by a disk", "", G, ""),
    ("cpu.load", "load average, 1 minute", "", G, ""),
    ("cpu.switches", "context switches", "1/s", C, ""),
    ("cpu.forks", "new processes", "1/s", C, ""),
    # Pressure: counters of seconds in which tasks waited; the rate is a share. Label: group; empty: the machine.
    ("pressure.cpu.some", "some waited for a CPU", "", C, "group"),
    ("pressure.memory.some", "some waited for memory", "", C, "group"),
    ("pressure.memory.full", "all waited for memory", "", C, "group"),
    ("pressure.io.some", "some waited for a disk", "", C, "group"),
    ("pressure.io.full", "all waited for a disk", "", C, "group"),
    # Memory.
    ("memory.total", "memory", "B", G, ""),
    ("memory.available", "memory available", "B", G, ""),
    ("memory.dirty", "memory to be written", "B", G, ""),
    ("memory.swap_total", "swap", "B", G, ""),
    ("memory.swap_used", "swap used", "B", G, ""),
    ("memory.swap_in", "pages swapped in", "1/s", C, ""),
    ("memory.swap_out", "pages swapped out", "1/s", C, ""),
    ("memory.major_faults", "major page faults", "1/s", C, ""),
    ("memory.direct_reclaim", "pages scanned by programs themselves", "1/s", C, ""),
    ("memory.refaults", "refaults of the working set", "1/s", C, ""),
    ("memory.oom_kills", "processes killed for memory", "1/s", C, "group"),
    # Disks. busy, queue: counters of seconds, weighted seconds.
    ("disk.busy", "disk busy", "", C, "disk"),
    ("disk.queue", "requests of the disk", "", C, "disk"),
    ("disk.read", "read", "B/s", C, "disk"),
    ("disk.written", "written", "B/s", C, "disk"),
    ("disk.reads", "reads", "1/s", C, "disk"),
    ("disk.writes", "writes", "1/s", C, "disk"),
    ("disk.read_time", "time of reads", "s/s", C, "disk"),
    ("disk.write_time", "time of writes", "s/s", C, "disk"),
    ("disk.errors", "errors of the disk", "1/s", C, "disk"),
    ("disk.free", "free share of the file system", "", G, "mount"),
    ("disk.read_only", "file system is read-only", "", G, "mount"),
    # Network.
    ("net.received", "received", "B/s", C, "card"),
    ("net.sent", "sent", "B/s", C, "card"),
    ("net.drops", "packets dropped", "1/s", C, "card"),
    ("net.speed", "speed of the card", "B/s", G, "card"),
    ("tcp.segments", "segments sent", "1/s", C, ""),
    ("tcp.retransmits", "segments sent again", "1/s", C, ""),
    ("tcp.timeouts", "TCP timeouts", "1/s", C, ""),
    ("tcp.listen_overflows", "listen queue overflows", "1/s", C, ""),
    ("tcp.listen_drops", "listen queue drops", "1/s", C, ""),
    ("tcp.backlog_drops", "TCP backlog drops", "1/s", C, ""),
    ("tcp.established", "TCP connections", "", G, ""),
    ("tcp.time_wait", "sockets in TIME_WAIT", "", G, ""),
    ("tcp.local_ports", "local ports", "", G, ""),
    # Groups of processes; they and "others" add up to the machine.
    ("group.cpu", "CPU of the group", "cores", C, "group"),
    ("group.niced", "CPU of niced programs, by program", "cores", C, "program"),
    ("group.busiest_thread", "busiest thread of the group", "cores", G, "group"),
    ("group.memory", "memory of the group", "B", G, "group"),
    ("group.processes", "processes of the group", "", G, "group"),
    ("group.threads", "threads of the group", "", G, "group"),
    ("group.descriptors", "descriptors, share of the limit, fullest process", "", G, "group"),
    ("group.throttled_periods", "throttled periods of the quota", "1/s", C, "group"),
    ("group.periods", "periods of the quota", "1/s", C, "group"),
    ("group.read", "read by the group", "B/s", C, "group"),
    ("group.written", "written by the group", "B/s", C, "group"),
    ("files.open_share", "open files, share of the limit", "", G, ""),
    # PostgreSQL. The watch's own session is in no count, and in no limit.
    ("db.connections", "database connections", "", G, ""),
    ("db.connections_limit", "database connections, limit", "", G, ""),
    ("db.youngest_session", "age of the youngest session", "s", G, ""),
    ("db.refused", "database connections refused", "1/s", C, ""),
    ("db.sessions", "sessions by state", "", G, "state"),
    ("db.active", "active sessions by what they wait for (CPU: nothing)", "", G, "wait"),
    ("db.waits", "active sessions by event (IO:WALSync)", "", G, "event"),
    ("db.oldest_transaction", "age of the oldest transaction", "s", G, ""),
    ("db.longest_statement", "longest active statement", "s", G, ""),
    ("db.ungranted_locks", "locks not granted", "", G, ""),
    ("db.commits", "commits", "1/s", C, "database"),
    ("db.rollbacks", "rollbacks", "1/s", C, "database"),
    ("db.blocks_read", "blocks read", "1/s", C, "database"),
    ("db.blocks_hit", "blocks hit", "1/s", C, "database"),
    ("db.rows_written", "rows inserted, updated, deleted", "1/s", C, "database"),
    ("db.temporary", "temporary files", "B/s", C, "database"),
    ("db.deadlocks", "deadlocks", "1/s", C, "database"),
    ("db.size", "size of the database", "B", G, "database"),
    ("db.wal", "WAL written", "B/s", C, ""),
    ("db.checkpoints", "checkpoints", "1/s", C, ""),
    ("db.reads", "read operations by process (PostgreSQL 16)", "1/s", C, "process"),
    ("db.writes", "write operations by process (PostgreSQL 16)", "1/s", C, "process"),
    ("db.syncs", "syncs by process (PostgreSQL 16)", "1/s", C, "process"),
    ("db.autovacuum_workers", "autovacuum workers", "", G, ""),
    ("db.replication_lag", "replication lag", "B", G, "replica"),
    # Queues: busy and limit of slots, who waits for one, errors. Label: "role name", roles below.
    ("queue.busy", "slots in use", "", G, "queue"),
    ("queue.limit", "slots", "", G, "queue"),
    ("queue.waiting", "waiting for a slot", "", G, "queue"),
    ("queue.errors", "refused or timed out in the queue", "1/s", C, "queue"),
    ("queue.requests", "requests", "1/s", C, "queue"),
)
del G, C

THREADS, SLOTS, POOL, THROTTLE = "threads", "slots", "pool", "throttle"
QUEUE_ROLES = (THREADS, SLOTS, POOL, THROTTLE)
"""The first word of a queue's label: application threads, task slots, a pool of connections, a limit that was set."""
OTHERS = "others"
"""The label of what is left to the machine beside all groups."""
OWN = "perfdash"
"""The label of perfdash's own sampler on the target."""
LOAD = "load generator"
"""The label of perfdash's programs that make the load, where the target is on their machine."""
SHARES = frozenset(
    {"cpu.core_busy", "disk.busy", "disk.free", "files.open_share", "group.descriptors"}
)
"""Quantities without a unit that are shares of 1, besides those of pressure."""


def text_of(quantity: str) -> str:
    """Return what a quantity is called; its name where the catalog does not know it."""
    return CATALOG[quantity].text if quantity in CATALOG else quantity


def shown_unit(quantity: str) -> str:
    """Return the unit in which values of a quantity are shown: that of the catalog, or share."""
    if quantity.startswith("pressure.") or quantity in SHARES:
        return "share"
    return CATALOG[quantity].unit if quantity in CATALOG else ""
