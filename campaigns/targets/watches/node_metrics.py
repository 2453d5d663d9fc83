"""The quantities in node_exporter's metrics, for the sources that read them: itself, and a Prometheus. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import isfinite

from campaigns.targets.watches.base import Key

Sample = tuple[str, Mapping[str, str], float]
"""The name of a metric, its labels and its value."""

MOST_LABELS = 256
PLAIN = {
    "node_load1": "cpu.load",
    "node_procs_running": "cpu.running",
    "node_procs_blocked": "cpu.blocked",
    "node_context_switches_total": "cpu.switches",
    "node_forks_total": "cpu.forks",
    "node_pressure_cpu_waiting_seconds_total": "pressure.cpu.some",
    "node_pressure_memory_waiting_seconds_total": "pressure.memory.some",
    "node_pressure_memory_stalled_seconds_total": "pressure.memory.full",
    "node_pressure_io_waiting_seconds_total": "pressure.io.some",
    "node_pressure_io_stalled_seconds_total": "pressure.io.full",
    "node_memory_MemTotal_bytes": "memory.total",
    "node_memory_MemAvailable_bytes": "memory.available",
    "node_memory_Dirty_bytes": "memory.dirty",
    "node_memory_SwapTotal_bytes": "memory.swap_total",
    "node_vmstat_pswpin": "memory.swap_in",
    "node_vmstat_pswpout": "memory.swap_out",
    "node_vmstat_pgmajfault": "memory.major_faults",
    "node_vmstat_oom_kill": "memory.oom_kills",
    "node_netstat_Tcp_OutSegs": "tcp.segments",
    "node_netstat_Tcp_RetransSegs": "tcp.retransmits",
    "node_netstat_Tcp_CurrEstab": "tcp.established",
    "node_netstat_TcpExt_TCPTimeouts": "tcp.timeouts",
    "node_netstat_TcpExt_ListenOverflows": "tcp.listen_overflows",
    "node_netstat_TcpExt_ListenDrops": "tcp.listen_drops",
    "node_sockstat_TCP_tw": "tcp.time_wait",
}
MODES = {
    "user": "cpu.user",
    "nice": "cpu.nice",
    "system": "cpu.system",
    "idle": "cpu.idle",
    "iowait": "cpu.iowait",
    "irq": "cpu.irq",
    "softirq": "cpu.irq",
    "steal": "cpu.steal",
}
AT_REST = ("idle", "iowait")
OF_DISKS = {
    "node_disk_io_time_seconds_total": "disk.busy",
    "node_disk_io_time_weighted_seconds_total": "disk.queue",
    "node_disk_read_bytes_total": "disk.read",
    "node_disk_written_bytes_total": "disk.written",
    "node_disk_reads_completed_total": "disk.reads",
    "node_disk_writes_completed_total": "disk.writes",
    "node_disk_read_time_seconds_total": "disk.read_time",
    "node_disk_write_time_seconds_total": "disk.write_time",
}
OF_CARDS = {
    "node_network_receive_bytes_total": "net.received",
    "node_network_transmit_bytes_total": "net.sent",
    "node_network_receive_drop_total": "net.drops",
    "node_network_transmit_drop_total": "net.drops",
    "node_network_speed_bytes": "net.speed",
}
NO_DISKS = ("loop", "ram", "zram", "sr", "fd", "nbd")
NO_CARDS = ("lo", "veth", "ifb", "dummy")
NO_FILE_SYSTEMS = frozenset(
    ("tmpfs", "devtmpfs", "ramfs", "overlay", "squashfs", "iso9660", "proc", "sysfs", "autofs", "fuse.lxcfs", "rootfs")
)  # fmt: skip
CPU, SWAP_FREE = "node_cpu_seconds_total", "node_memory_SwapFree_bytes"
AVAILABLE, SIZE, READ_ONLY = (
    f"node_filesystem_{name}" for name in ("avail_bytes", "size_bytes", "readonly")
)
OPEN_FILES, MOST_FILES = "node_filefd_allocated", "node_filefd_maximum"
CLOCK, BOOTED = "node_time_seconds", "node_boot_time_seconds"
NAMES = frozenset(
    (*PLAIN, *OF_DISKS, *OF_CARDS, CPU, SWAP_FREE, AVAILABLE, SIZE, READ_ONLY, OPEN_FILES, MOST_FILES, CLOCK, BOOTED)
)  # fmt: skip
"""The metrics that are read."""


def values_of(samples: Iterable[Sample]) -> dict[Key, float]:
    """Return the values of the catalog's quantities; what is no finite number, or not known, is left out."""
    values: defaultdict[Key, float] = defaultdict(float)
    single: dict[str, float] = {}
    mounts: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, labels, value in samples:
        if not isfinite(value):
            continue
        if name in PLAIN:
            values[Key(PLAIN[name])] = value
        elif name == CPU:
            _add_cpu(values, labels, value)
        elif name in OF_DISKS and not labels.get("device", "loop").startswith(NO_DISKS):
            values[Key(OF_DISKS[name], _label(labels["device"]))] = value
        elif name in OF_CARDS and not labels.get("device", "lo").startswith(NO_CARDS):
            _add_card(values, OF_CARDS[name], _label(labels["device"]), value)
        elif name in (AVAILABLE, SIZE, READ_ONLY):
            if labels.get("fstype") not in NO_FILE_SYSTEMS and "mountpoint" in labels:
                mounts[_label(labels["mountpoint"])][name] = value
        else:
            single[name] = value
    _add_rest(values, single, mounts)
    return _bounded(values)


def uptime_of(samples: Iterable[Sample]) -> tuple[float | None, float | None]:
    """Return the machine's clock, and the seconds since it started; None where they are not known."""
    known = {name: value for name, _, value in samples if name in (CLOCK, BOOTED)}
    clock, booted = known.get(CLOCK), known.get(BOOTED)
    return clock, None if clock is None or booted is None else clock - booted


def facts_of(samples: Iterable[Sample]) -> dict[str, str | float]:
    """Return the facts of the machine in its metrics."""
    facts: dict[str, str | float] = {}
    cores = set()
    for name, labels, value in samples:
        if name == CPU:
            cores.add(labels.get("cpu"))
        elif name == "node_memory_MemTotal_bytes" and isfinite(value):
            facts["memory_total"] = value
        elif name == "node_uname_info":
            facts["kernel"] = _label(labels.get("release", ""))
            facts["host"] = _label(labels.get("nodename", ""))
        elif name == "node_os_info":
            facts["os"] = _label(labels.get("pretty_name", labels.get("name", "")))
    if cores:
        facts["cores"] = float(len(cores))
    return facts


def _add_cpu(values: defaultdict[Key, float], labels: Mapping[str, str], value: float) -> None:
    mode = labels.get("mode", "")
    if mode not in MODES:
        return
    values[Key(MODES[mode])] += value
    if mode not in AT_REST:
        values[Key("cpu.core_busy", _label(labels.get("cpu", "")))] += value


def _add_card(values: defaultdict[Key, float], quantity: str, card: str, value: float) -> None:
    if quantity == "net.speed" and value <= 0:
        return  # -1, or none: not known
    values[Key(quantity, card)] += value


def _add_rest(
    values: defaultdict[Key, float],
    single: Mapping[str, float],
    mounts: Mapping[str, Mapping[str, float]],
) -> None:
    total = values.get(Key("memory.swap_total"))
    if total is not None and SWAP_FREE in single:
        values[Key("memory.swap_used")] = max(0.0, total - single[SWAP_FREE])
    if single.get(MOST_FILES, 0.0) > 0 and OPEN_FILES in single:
        values[Key("files.open_share")] = single[OPEN_FILES] / single[MOST_FILES]
    for mount, of_it in mounts.items():
        if of_it.get(SIZE, 0.0) > 0 and AVAILABLE in of_it:
            values[Key("disk.free", mount)] = of_it[AVAILABLE] / of_it[SIZE]
        if READ_ONLY in of_it:
            values[Key("disk.read_only", mount)] = of_it[READ_ONLY]


def _bounded(values: Mapping[Key, float]) -> dict[Key, float]:
    """Return the values without those of labels beyond the most that one quantity may have."""
    seen: defaultdict[str, int] = defaultdict(int)
    kept = {}
    for key, value in values.items():
        seen[key.quantity] += 1
        if seen[key.quantity] <= MOST_LABELS:
            kept[key] = value
    return kept


def _label(text: str) -> str:
    """Return a label as it is stored: printable, of at most 100 characters."""
    return "".join(part if part.isprintable() else "?" for part in text[:100])
