"""The checks, as data with their sources. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

DAYS = 30.0
"""The age from which a check says nothing any more."""
GUIDE = "Red Hat Satellite performance tuning guide"
OURS = "perfdash; nobody has published a threshold"
MIB_PER_S = 1024 * 1024 / 1e6


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound of the mean of a metric, in its unit. word: what a target is that is not within it."""

    value: float
    word: str
    source: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check. metric: that is judged; unit: of the thresholds and the metric. shown: the threshold as its source writes it.

    at_least: whether more is better. thresholds: from the least strict on; the word of the first that is not kept counts.
    parameters: what a run must have had; what else the kind has must be as the kind begins with, but for `free`. needs_storage:
    a run that measured the page cache does not count. same: facts of the machine whose change makes it old.
    levels: of `factor`, which alone varies; then the last level's share of the best one is judged, by repetition.
    needs_size: a run whose database fits into memory does not count.
    """

    name: str
    label: str
    kind: str
    metric: str
    unit: str
    at_least: bool
    thresholds: tuple[Threshold, ...]
    shown: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    free: tuple[str, ...] = ("directory", "rw", "drop_caches")
    needs_storage: bool = False
    same: tuple[str, ...] = ("kernel", "ram bytes")
    factor: str = ""
    levels: tuple[int, ...] = ()
    needs_size: bool = False
    days: float = DAYS


NOT_FIT, WARNING = "not fit", "fit with a warning"
MOST_CLIENTS = 500
OF_ITS_FILE = ("directory", "rw", "drop_caches", "size_gib")
OF_DATABASE = ("database", "shared_buffers", "max_connections", "synchronous_commit", "fsync")
"""Facts of a database whose change makes a check old."""

CHECKS: Mapping[str, Check] = {
    check.name: check
    for check in (
        Check(
            "storage-published",
            "Storage: published benchmark, sequential read",
            "storage",
            "read_throughput",
            "MB/s",
            at_least=True,
            thresholds=(
                Threshold(60.0, NOT_FIT, f"{GUIDE} 4.1: below 60 to 80 MB/s “severe implications”"),
                Threshold(100.0, WARNING, f"{GUIDE} 4.1: “100MB/sec or higher”"),
            ),
            shown="at least 60 MB/s, better 100 MB/s",
            parameters={"profile": "published"},
            free=OF_ITS_FILE,
            needs_storage=True,
        ),
        Check(
            "storage-ssd",
            "Storage: as fast as a local SSD, sequential read",
            "storage",
            "read_throughput",
            "MB/s",
            at_least=True,
            thresholds=(
                Threshold(60.0, NOT_FIT, f"{GUIDE} 4.1"),
                Threshold(600.0, WARNING, f"{GUIDE} 4.1: local SSD “600MB/sec or higher”"),
            ),
            shown="at least 60 MB/s, of an SSD 600 MB/s",
            parameters={"profile": "published"},
            free=OF_ITS_FILE,
            needs_storage=True,
        ),
        Check(
            "storage-maintenance",
            "Storage: check of the maintenance tool, direct 4 KiB",
            "storage",
            "read_throughput",
            "MB/s",
            at_least=True,
            thresholds=(
                Threshold(
                    60 * MIB_PER_S, NOT_FIT, "foreman_maintain 15db198: read.bw / 1024 at least 60"
                ),
            ),
            shown="at least 60 MiB/s (62.91 MB/s)",
            parameters={"profile": "maintenance"},
        ),
        Check(
            "storage-database",
            "Storage: synchronisation of a database, p99",
            "storage",
            "fsync_p99",
            "ms",
            at_least=False,
            thresholds=(Threshold(10.0, WARNING, OURS),),
            shown="at most 10 ms, else a warning",
            parameters={"profile": "database"},
        ),
        Check(
            "database-commit",
            "Database: commit latency of 10 clients, p99",
            "sql",
            "response_p99",
            "ms",
            at_least=False,
            thresholds=(Threshold(50.0, WARNING, OURS),),
            shown="at most 50 ms, else a warning",
            parameters={"script": "tpcb-like", "clients": 10, "scale": 10, "duration_seconds": 60},
            free=(),
            same=OF_DATABASE,
        ),
        Check(
            "database-collapse",
            "Database: rate of 500 clients, against its best",
            "sql",
            "tps",
            "of the best rate",
            at_least=True,
            thresholds=(Threshold(0.7, WARNING, OURS),),
            shown="at least 0.7 of the best rate of 10 to 500 clients, in a database larger than memory; else a warning",
            parameters={"script": "tpcb-like", "duration_seconds": 60},
            free=("scale", "clients"),
            same=OF_DATABASE,
            factor="clients",
            levels=(10, 50, 100, 250, MOST_CLIENTS),
            needs_size=True,
        ),
    )
}

HOST = "host"
"""The check of facts of the machine, which every run of the kind `storage` reads."""
HOST_LABEL = "Settings of the machine: clock, tuned, huge pages, governor"
HOST_FACTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "tuned": (("throughput-performance", "virtual-guest"), f"{GUIDE} 4.2"),
    "huge pages": (("madvise", "never"), f"{GUIDE} 5.6, where PostgreSQL or Redis runs"),
    "governor": (("performance",), f"{GUIDE} 4.3"),
}
"""Facts with the values that are well, and their source; what a machine does not say, such as a governor, is no warning."""
CLOCK_SKEW_SECONDS = 1.0
CONNECTIONS = "database-connections"
"""The check of the connections that a database allows, which every run of the kind `sql` reads."""
CONNECTIONS_LABEL = "Database: connections for the clients of a campaign, and 10 more"
SPARE_CONNECTIONS = 10
OF_FACTS: Mapping[str, tuple[str, str]] = {
    HOST: ("storage", HOST_LABEL),
    CONNECTIONS: ("sql", CONNECTIONS_LABEL),
}
"""Checks that need no campaign of their own: the kind whose latest run has read their facts, and their label."""
NAMES = (*CHECKS, *OF_FACTS)


def label_of(name: str) -> str:
    """Return how people call a check."""
    return OF_FACTS[name][1] if name in OF_FACTS else CHECKS[name].label


def kind_of(name: str) -> str:
    """Return the kind whose runs a check looks at."""
    return OF_FACTS[name][0] if name in OF_FACTS else CHECKS[name].kind
