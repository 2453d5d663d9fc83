"""What a modelled machine does, in the format and by the names of node_exporter and process-exporter. Pure.

A watch of the simulated server reads it like that of a real one. `sandbox_simulated` is 1 and the name of
the host is `simulated`, so that nobody takes it for a real machine. Times are on the clock here: where
the model's time goes faster, its counters of seconds grow as its share of that time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

METRICS = "/metrics"
"""Where a watch reads it."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
HOST = "simulated"
PAGE_BYTES = 4096
_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """Processes of one program: how many, their threads, seconds of CPU since the start, and bytes of memory."""

    name: str
    processes: int
    threads: int
    cpu: float
    memory: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineReading:
    """A machine at one instant: counters since it started, and gauges. All but `clock` as node_exporter counts them.

    cpus: seconds of each CPU by mode; what is left of `uptime` is idle. waiting, stalled: seconds in which some, or all,
    tasks waited, by `cpu`, `memory` and `io`. disk_busy: seconds; disk_waiting: seconds of all its requests. processes:
    by program, where the model knows them.
    """

    clock: float
    uptime: float
    cpus: tuple[Mapping[str, float], ...]
    running: float
    memory: float
    available: float
    swap: float = 0.0
    swap_used: float = 0.0
    pages_in: float = 0.0
    pages_out: float = 0.0
    waiting: Mapping[str, float] = field(default_factory=dict)
    stalled: Mapping[str, float] = field(default_factory=dict)
    disk_busy: float = 0.0
    disk_waiting: float = 0.0
    processes: tuple[ProcessReading, ...] = ()


def exposition(reading: MachineReading) -> str:
    """Write a reading in Prometheus' text format."""
    lines: list[str] = []
    for name, kind, samples in _families(reading):
        lines.append(f"# TYPE {name} {kind}")
        lines += [f"{name}{labels} {value!r}" for labels, value in samples]
    return "\n".join(lines) + "\n"


_Sample = tuple[str, float]


def _families(reading: MachineReading) -> Iterator[tuple[str, str, list[_Sample]]]:
    yield "sandbox_simulated", "gauge", [("", 1.0)]
    uname = f'{{sysname="Linux",release="{HOST}",machine="{HOST}",nodename="{HOST}",domainname="(none)"}}'
    yield "node_uname_info", "gauge", [(uname, 1.0)]
    yield "node_time_seconds", "gauge", [("", reading.clock)]
    yield "node_boot_time_seconds", "gauge", [("", reading.clock - reading.uptime)]
    yield "node_cpu_seconds_total", "counter", list(_cpus(reading))
    yield "node_procs_running", "gauge", [("", reading.running)]
    yield "node_procs_blocked", "gauge", [("", 0.0)]
    for name, value in (
        ("MemTotal", reading.memory),
        ("MemAvailable", reading.available),
        ("SwapTotal", reading.swap),
        ("SwapFree", reading.swap - reading.swap_used),
    ):
        yield f"node_memory_{name}_bytes", "gauge", [("", value)]
    for name, value in (
        ("pswpin", reading.pages_in),
        ("pswpout", reading.pages_out),
        ("pgmajfault", reading.pages_in),
        ("oom_kill", 0.0),
    ):
        yield f"node_vmstat_{name}", "untyped", [("", value)]
    for what in ("cpu", "memory", "io"):
        name = f"node_pressure_{what}"
        yield f"{name}_waiting_seconds_total", "counter", [("", reading.waiting.get(what, 0.0))]
        if what != "cpu":
            yield f"{name}_stalled_seconds_total", "counter", [("", reading.stalled.get(what, 0.0))]
    for name, value in (
        ("io_time_seconds", reading.disk_busy),
        ("io_time_weighted_seconds", reading.disk_waiting),
        ("read_bytes", reading.pages_in * PAGE_BYTES),
        ("written_bytes", reading.pages_out * PAGE_BYTES),
        ("reads_completed", reading.pages_in),
        ("writes_completed", reading.pages_out),
    ):
        yield f"node_disk_{name}_total", "counter", [('{device="sda"}', value)]
    if reading.processes:
        yield from _programs(reading.processes)


def _programs(
    processes: tuple[ProcessReading, ...],
) -> Iterator[tuple[str, str, list[_Sample]]]:
    """Yield the families of process-exporter."""

    def samples(value_of: Callable[[ProcessReading], float], more: str = "") -> list[_Sample]:
        return [(f'{{groupname="{each.name}"{more}}}', value_of(each)) for each in processes]

    prefix = "namedprocess_namegroup"
    yield f"{prefix}_num_procs", "gauge", samples(lambda each: float(each.processes))
    yield f"{prefix}_num_threads", "gauge", samples(lambda each: float(each.threads))
    yield f"{prefix}_cpu_seconds_total", "counter", samples(lambda each: each.cpu, ',mode="user"')
    memory = samples(lambda each: each.memory, ',memtype="resident"')
    yield f"{prefix}_memory_bytes", "gauge", memory


def _cpus(reading: MachineReading) -> Iterator[_Sample]:
    for number, modes in enumerate(reading.cpus):
        idle = max(0.0, reading.uptime - sum(modes.values()))
        for mode in _MODES:
            value = idle if mode == "idle" else modes.get(mode, 0.0)
            yield f'{{cpu="{number}",mode="{mode}"}}', value
