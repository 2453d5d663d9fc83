"""Read the kernel's files into quantities of the catalog. Pure: a text in, values out; what is not understood is left out."""

import math
import re
from collections.abc import Iterator, Mapping

from campaigns.targets.watches.base import Key

Values = dict[Key, float]
SECTOR_BYTES = 512
MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
VIRTUAL = re.compile(r"(loop|ram|zram|sr|fd)\d+")
CARDLESS = re.compile(
    r"(lo|ifb|dummy|veth|docker|virbr|br-|cni|podman|tun|tap|sit|bonding_masters)\d*.*"
)
PRESSURES = ("cpu", "memory", "io")
_MEMORY = {
    "MemTotal": "memory.total",
    "MemAvailable": "memory.available",
    "Dirty": "memory.dirty",
    "SwapTotal": "memory.swap_total",
}
_VMSTAT = {
    "pswpin": "memory.swap_in",
    "pswpout": "memory.swap_out",
    "pgmajfault": "memory.major_faults",
    "oom_kill": "memory.oom_kills",
}
_TCP_EXTENDED = {
    "ListenOverflows": "tcp.listen_overflows",
    "ListenDrops": "tcp.listen_drops",
    "TCPTimeouts": "tcp.timeouts",
    "TCPBacklogDrop": "tcp.backlog_drops",
}
_TCP = {
    "OutSegs": "tcp.segments",
    "RetransSegs": "tcp.retransmits",
    "CurrEstab": "tcp.established",
}


def number(text: str) -> float | None:
    """Return a number that is finite and not negative; None for anything else."""
    try:
        value = float(text) if len(text) < 40 else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def numbers(words: list[str]) -> list[float] | None:
    """Return words as numbers; None where one is none."""
    values = [number(word) for word in words]
    return None if None in values else [value for value in values if value is not None]


def fields(text: str, separator: str | None = None) -> dict[str, float]:
    """Return the numbers of lines that have a name and a number."""
    found = {}
    for line in text.split("\n"):
        name, *rest = line.split(separator, 1) if separator else line.split(None, 1)[:2] or [""]
        value = number(rest[0].split()[0]) if rest and rest[0].split() else None
        if value is not None:
            found[name.strip()] = value
    return found


def stat(text: str, ticks: float) -> Values:
    """Read /proc/stat."""
    values: Values = {}
    for line in text.split("\n"):
        name, *words = line.split() or [""]
        if name.startswith("cpu"):
            modes = numbers(words[: len(MODES)])
            if modes is None or len(modes) < 4:
                continue
            seconds = dict(zip(MODES, (mode / ticks for mode in modes), strict=False))
            if name == "cpu":
                irq = seconds.pop("irq", 0.0) + seconds.pop("softirq", 0.0)
                values |= {Key(f"cpu.{mode}"): value for mode, value in seconds.items()}
                values[Key("cpu.irq")] = irq
            elif name[3:].isdigit():
                idle = seconds["idle"] + seconds.get("iowait", 0.0)
                busy = sum(seconds.values()) - idle - seconds.get("steal", 0.0)
                values[Key("cpu.core_busy", str(int(name[3:])))] = busy
        elif words and (value := number(words[0])) is not None:
            quantity = {
                "ctxt": "cpu.switches",
                "processes": "cpu.forks",
                "procs_running": "cpu.running",
                "procs_blocked": "cpu.blocked",
            }.get(name)
            if quantity:
                values[Key(quantity)] = value
    return values


def busy_of(values: Mapping[Key, float]) -> float | None:
    """Return the seconds in which the machine's cores worked for it."""
    if Key("cpu.user") not in values:
        return None
    return sum(values.get(Key(f"cpu.{mode}"), 0.0) for mode in ("user", "nice", "system", "irq"))


def pressure(text: str, resource: str, label: str = "") -> Values:
    """Read a file of pressure. The kernel counts `full` of the CPU only for cgroups: it is left out."""
    values: Values = {}
    for line in text.split("\n"):
        kind, _, rest = line.partition(" ")
        total = number(rest.rpartition("total=")[2].strip())
        if kind in {"some", "full"} and total is not None and (resource, kind) != ("cpu", "full"):
            values[Key(f"pressure.{resource}.{kind}", label)] = total / 1e6
    return values


def meminfo(text: str) -> Values:
    """Read /proc/meminfo. Kernels before 3.14 have no MemAvailable: free, buffers and cache take its place."""
    found = {name: value * 1024 for name, value in fields(text, ":").items()}
    values = {Key(quantity): found[name] for name, quantity in _MEMORY.items() if name in found}
    if "MemAvailable" not in found and "MemFree" in found:
        values[Key("memory.available")] = sum(
            found.get(name, 0.0) for name in ("MemFree", "Buffers", "Cached")
        )
    if "SwapTotal" in found and "SwapFree" in found:
        values[Key("memory.swap_used")] = max(found["SwapTotal"] - found["SwapFree"], 0.0)
    return values


def vmstat(text: str) -> Values:
    """Read /proc/vmstat."""
    found = fields(text)
    values = {Key(quantity): found[name] for name, quantity in _VMSTAT.items() if name in found}
    scans = [
        value
        for name, value in found.items()
        if name.startswith("pgscan_direct") and "throttle" not in name
    ]
    if scans:
        values[Key("memory.direct_reclaim")] = sum(scans)
    refaults = [value for name, value in found.items() if name.startswith("workingset_refault")]
    if refaults:
        values[Key("memory.refaults")] = sum(refaults)
    return values


def stalls(text: str) -> float:
    """Return from /proc/vmstat how often a program had to free memory itself."""
    return sum(value for name, value in fields(text).items() if name.startswith("allocstall"))


def diskstats(text: str, labels: Mapping[str, str]) -> Values:
    """Read /proc/diskstats. labels: of the devices that count, by name."""
    values: Values = {}
    for line in text.split("\n"):
        words = line.split()
        if len(words) < 14 or words[2] not in labels:
            continue
        found = numbers(words[3:14])
        if found is None:
            continue
        reads, _, read, read_ms, writes, _, written, write_ms, _, busy_ms, queue_ms = found
        label = labels[words[2]]
        values |= {
            Key("disk.reads", label): reads,
            Key("disk.writes", label): writes,
            Key("disk.read", label): read * SECTOR_BYTES,
            Key("disk.written", label): written * SECTOR_BYTES,
            Key("disk.read_time", label): read_ms / 1000,
            Key("disk.write_time", label): write_ms / 1000,
            Key("disk.busy", label): busy_ms / 1000,
            Key("disk.queue", label): queue_ms / 1000,
        }
    return values


def disk_names(text: str) -> list[str]:
    """Return the devices of /proc/diskstats that are no loops, memory or removable."""
    names = [line.split()[2] for line in text.split("\n") if len(line.split()) >= 14]
    return [name for name in names if not VIRTUAL.fullmatch(name)]


def net_dev(text: str) -> Values:
    """Read /proc/net/dev: cards, without loopback and bridges of containers."""
    values: Values = {}
    for line in text.split("\n"):
        name, colon, rest = line.rpartition(":")
        found = numbers(rest.split())
        card = name.strip()[:50]
        if not colon or found is None or len(found) < 12 or CARDLESS.fullmatch(card):
            continue
        values[Key("net.received", card)] = found[0]
        values[Key("net.sent", card)] = found[8]
        values[Key("net.drops", card)] = found[3] + found[4] + found[11]
    return values


def speeds(parts: Mapping[str, str]) -> Values:
    """Read /sys/class/net/*/speed, in Mbit/s there. Cards without a known one are left out."""
    values: Values = {}
    for path, text in parts.items():
        match = re.fullmatch(r"/sys/class/net/([^/]+)/speed", path)
        speed = number(text.strip())
        if match and speed and speed < 1e7 and not CARDLESS.fullmatch(match[1]):
            values[Key("net.speed", match[1][:50])] = speed * 1e6 / 8
    return values


def _pairs(text: str, begin: str) -> dict[str, float]:
    """Return the numbers of two lines: names, then values."""
    lines = [line.split()[1:] for line in text.split("\n") if line.startswith(begin)]
    if len(lines) < 2:
        return {}
    values = zip(lines[0], map(number, lines[1]), strict=False)
    return {name: value for name, value in values if value is not None}


def netstat(text: str) -> Values:
    """Read /proc/net/netstat."""
    found = _pairs(text, "TcpExt:")
    return {Key(what): found[name] for name, what in _TCP_EXTENDED.items() if name in found}


def snmp(text: str) -> Values:
    """Read /proc/net/snmp."""
    found = _pairs(text, "Tcp:")
    return {Key(what): found[name] for name, what in _TCP.items() if name in found}


def sockstat(text: str) -> Values:
    """Read /proc/net/sockstat."""
    match = re.search(r"^TCP:.* tw (\d{1,12})", text, re.MULTILINE)
    return {Key("tcp.time_wait"): float(match[1])} if match else {}


def local_ports(text: str) -> Values:
    """Read /proc/sys/net/ipv4/ip_local_port_range."""
    found = numbers(text.split())
    if found is None or len(found) != 2 or found[1] < found[0]:
        return {}
    return {Key("tcp.local_ports"): found[1] - found[0] + 1}


def loadavg(text: str) -> Values:
    """Read /proc/loadavg."""
    value = number((text.split() or [""])[0])
    return {} if value is None else {Key("cpu.load"): value}


def file_nr(text: str) -> Values:
    """Read /proc/sys/fs/file-nr."""
    found = numbers(text.split())
    if found is None or len(found) != 3 or not found[2]:
        return {}
    return {Key("files.open_share"): found[0] / found[2]}


def frequency(parts: Mapping[str, str]) -> float | None:
    """Return the mean clock of the cores in Hz, of cpufreq; None where the machine does not tell it."""
    found = [
        value
        for path, text in parts.items()
        if path.endswith("/scaling_cur_freq") and (value := number(text.strip()))
    ]
    return 1000 * sum(found) / len(found) if found else None


def heat_throttles(parts: Mapping[str, str]) -> float | None:
    """Return how often cores and packages were throttled by heat; None where the machine does not tell it."""
    found = [number(text.strip()) for path, text in parts.items() if "/thermal_throttle/" in path]
    return sum(value or 0.0 for value in found) if found else None


def disk_errors(parts: Mapping[str, str], labels: Mapping[str, str]) -> Values:
    """Read /sys/block/*/device/ioerr_cnt, which are hexadecimal."""
    values: Values = {}
    for path, text in parts.items():
        match = re.fullmatch(r"/sys/block/([^/]+)/device/ioerr_cnt", path)
        if match and match[1] in labels and re.fullmatch(r"0x[0-9a-f]{1,12}", text.strip()):
            values[Key("disk.errors", labels[match[1]])] = float(int(text.strip(), 16))
    return values


def mounted(text: str) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield of mountinfo the device (as 253:0), the mount point, whether it is read-only, and whether its file system is."""
    for line in text.split("\n"):
        first, dash, rest = line.partition(" - ")
        words, more = first.split(" "), rest.split(" ")
        if dash and len(words) >= 6 and len(more) >= 2:
            inner = more[2].split(",") if len(more) > 2 else []
            yield words[2], _unescaped(words[4]), "ro" in words[5].split(","), "ro" in inner


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8) & 0xFF), text)


def printable(text: str, most: int = 60) -> str:
    """Return another's text as it may stand in a label."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:most])
