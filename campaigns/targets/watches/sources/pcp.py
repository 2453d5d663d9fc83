"""Performance Co-Pilot on the target: pmproxy's REST API, live (PMWEBAPI(3))."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlencode

from campaigns.kit.mappings import Json
from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Frame,
    Key,
    Option,
    Sink,
    Source,
    WatchFailed,
)
from campaigns.targets.watches.polling import Missed, look_in_steps
from campaigns.targets.watches.queues import count_of
from campaigns.targets.watches.web import Got, Web, web_address, web_place

POLL_SECONDS = 120
"""After which pmproxy forgets a context that nobody asks."""
NAMES_SECONDS = 60.0
MOST_INSTANCES = 256
MOST_SPEED = 2e11
"""Bytes a second: what is more is the kernel's way to say that a card's speed is not known."""
SHOWN = 200
MILLI, MICRO, KIB = 1e-3, 1e-6, 1024.0
PLAIN: Mapping[str, tuple[str, float]] = {
    "kernel.all.cpu.user": ("cpu.user", MILLI),
    "kernel.all.cpu.nice": ("cpu.nice", MILLI),
    "kernel.all.cpu.sys": ("cpu.system", MILLI),
    "kernel.all.cpu.idle": ("cpu.idle", MILLI),
    "kernel.all.cpu.wait.total": ("cpu.iowait", MILLI),
    "kernel.all.cpu.intr": ("cpu.irq", MILLI),
    "kernel.all.cpu.steal": ("cpu.steal", MILLI),
    "kernel.all.running": ("cpu.running", 1),
    "kernel.all.blocked": ("cpu.blocked", 1),
    "kernel.all.pswitch": ("cpu.switches", 1),
    "kernel.all.sysfork": ("cpu.forks", 1),
    "kernel.all.pressure.cpu.some.total": ("pressure.cpu.some", MICRO),
    "kernel.all.pressure.memory.some.total": ("pressure.memory.some", MICRO),
    "kernel.all.pressure.memory.full.total": ("pressure.memory.full", MICRO),
    "kernel.all.pressure.io.some.total": ("pressure.io.some", MICRO),
    "kernel.all.pressure.io.full.total": ("pressure.io.full", MICRO),
    "mem.physmem": ("memory.total", KIB),
    "mem.util.available": ("memory.available", KIB),
    "mem.util.dirty": ("memory.dirty", KIB),
    "mem.util.swapTotal": ("memory.swap_total", KIB),
    "mem.vmstat.pswpin": ("memory.swap_in", 1),
    "mem.vmstat.pswpout": ("memory.swap_out", 1),
    "mem.vmstat.pgmajfault": ("memory.major_faults", 1),
    "mem.vmstat.pgscan_direct": ("memory.direct_reclaim", 1),
    "mem.vmstat.oom_kill": ("memory.oom_kills", 1),
    "network.tcp.outsegs": ("tcp.segments", 1),
    "network.tcp.retranssegs": ("tcp.retransmits", 1),
    "network.tcp.currestab": ("tcp.established", 1),
    "network.tcp.timeouts": ("tcp.timeouts", 1),
    "network.tcp.listenoverflows": ("tcp.listen_overflows", 1),
    "network.tcp.listendrops": ("tcp.listen_drops", 1),
    "network.tcp.backlogdrop": ("tcp.backlog_drops", 1),
    "network.sockstat.tcp.tw": ("tcp.time_wait", 1),
}
BY_INSTANCE: Mapping[str, tuple[str, float]] = {
    **{f"kernel.percpu.cpu.{mode}": ("cpu.core_busy", MILLI) for mode in ("user", "nice", "sys", "intr", "steal")},
    "disk.dev.avactive": ("disk.busy", MILLI),
    "disk.dev.aveq": ("disk.queue", MILLI),
    "disk.dev.read_bytes": ("disk.read", KIB),
    "disk.dev.write_bytes": ("disk.written", KIB),
    "disk.dev.read": ("disk.reads", 1),
    "disk.dev.write": ("disk.writes", 1),
    "disk.dev.read_rawactive": ("disk.read_time", MILLI),
    "disk.dev.write_rawactive": ("disk.write_time", MILLI),
    "network.interface.in.bytes": ("net.received", 1),
    "network.interface.out.bytes": ("net.sent", 1),
    "network.interface.in.drops": ("net.drops", 1),
    "network.interface.out.drops": ("net.drops", 1),
    "network.interface.baudrate": ("net.speed", 1),
}  # fmt: skip
OF_KIND = {
    "kernel.percpu": "kernel.percpu.cpu.user",
    "disk.dev": "disk.dev.read",
    "network.interface": "network.interface.in.bytes",
}
"""One metric of each kind of instances, whose names are asked for."""
LOAD, SWAP_FREE, UPTIME, COST = "kernel.all.load", "mem.util.swapFree", "kernel.all.uptime", "pmcd.cputime.total"  # fmt: skip
REFAULTS = ("mem.vmstat.workingset_refault", "mem.vmstat.workingset_refault_file", "mem.vmstat.workingset_refault_anon")  # fmt: skip
FILES, MOST_FILES = "vfs.files.count", "vfs.files.max"
AVAILABLE, SIZE, READ_ONLY, MOUNT = (
    f"filesys.{name}" for name in ("avail", "capacity", "readonly", "mountdir")
)
FACTS = {
    "hinv.ncpu": "cores",
    "kernel.uname.release": "kernel",
    "kernel.uname.nodename": "host",
    "kernel.uname.distro": "os",
}
METRICS = (
    *PLAIN, *BY_INSTANCE, *REFAULTS, LOAD, SWAP_FREE, UPTIME, COST, FILES, MOST_FILES, AVAILABLE, SIZE, READ_ONLY, MOUNT,
)  # fmt: skip
ONE_MINUTE = 1
"""The instance of the load average."""
NO_CARDS = ("lo", "veth", "ifb", "dummy")


class Pcp(Source):
    """Performance Co-Pilot by pmproxy."""

    name = "pcp"
    label = "Performance Co-Pilot"
    description = (
        "CPU, memory, pressure, disks and network of the machine from PCP's pmproxy, live. It knows no groups of "
        "processes: groups need SSH."
    )
    needs = "pmcd and pmproxy (port 44322) on the target, or a pmproxy that reaches its pmcd."
    address_help = "host:44322 of pmproxy, or its whole URL"
    has_login = True
    steps = (1.0, 0.5)
    options = (
        Option(
            "host",
            "Host of pmcd",
            "As pmproxy reaches it, where pmproxy runs on another machine. Empty: pmproxy's own.",
        ),
    )

    def check_address(self, address: str) -> str:
        """Return the base URL of pmproxy."""
        written = address.strip()
        bare = "://" not in written and ":" not in written.rpartition("]")[2]
        url = web_address(f"{written}:44322" if bare and written else written, "/")
        return url.rstrip("/").removesuffix("/pmapi")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Fetch all metrics each step."""
        with Web(access) as web:
            watch = _Watch(web, self.check_address(access.address), access, sink)
            look_in_steps(watch.look, max(access.step_seconds, self.steps[1]), stopped)


source = Pcp()

Fetched = Mapping[str, Mapping[int, Any]]
"""Values by metric and instance; of a metric without instances under -1."""


@dataclass(slots=True)
class _Names:
    """The names of instances by kind, and until when they are good."""

    of_kind: Mapping[str, Mapping[int, str]]
    good_until: float


class _Watch:
    """The context of one watch."""

    def __init__(self, web: Web, url: str, access: Access, sink: Sink) -> None:
        self._web, self._url, self._sink = web, f"{url}/pmapi", sink
        self._host = str(access.options.get("host") or "").strip()
        self._context: int | None = None
        self._names: _Names | None = None
        self._has_facts = False
        self._cost: float | None = None

    def look(self) -> None:
        """Fetch once. Raise Missed, WatchFailed."""
        if self._names is None or monotonic() > self._names.good_until:
            self._names = self._read_names()
        if not self._has_facts:
            self._tell_facts()
        got, document = self._ask("fetch", names=",".join(METRICS))
        at = count_of(document.get("timestamp"))
        fetched = fetched_of(document)
        values = values_of(fetched, self._names.of_kind)
        if at is None or not values:
            raise WatchFailed("pmproxy gave no metric of the kernel: check that pmcd has its linux agent.")  # fmt: skip
        self._sink.clock(ClockReading(got.asked, got.answered, at))
        self._sink.frame(Frame(at, got.answered, values, _single(fetched, UPTIME)))
        self._tell_cost(fetched)

    def _tell_facts(self) -> None:
        _, document = self._ask("fetch", names=",".join((*FACTS, "mem.physmem")))
        fetched = fetched_of(document)
        for name, fact in FACTS.items():
            value = fetched.get(name, {}).get(-1)
            if isinstance(value, str | int | float):
                self._sink.fact(fact, value[:100] if isinstance(value, str) else float(value))
        memory = _single(fetched, "mem.physmem")
        if memory is not None:
            self._sink.fact("memory_total", memory * KIB)
        self._has_facts = True

    def _tell_cost(self, fetched: Fetched) -> None:
        used = _single(fetched, COST)
        if used is not None:
            first = self._cost = used if self._cost is None else self._cost
            self._sink.cost(max(0.0, used - first) * MILLI)

    def _read_names(self) -> _Names:
        of_kind: dict[str, dict[int, str]] = {}
        for kind, metric in OF_KIND.items():
            try:
                _, document = self._ask("indom", name=metric)
            except Missed:
                if not of_kind:
                    raise
                continue
            listed = document.get("instances")
            of_kind[kind] = {
                each["instance"]: _label(str(each.get("name")))
                for each in (listed if isinstance(listed, list) else [])[:MOST_INSTANCES]
                if isinstance(each, dict) and isinstance(each.get("instance"), int)
            }
        return _Names(of_kind, monotonic() + NAMES_SECONDS)

    def _ask(self, what: str, **query: str) -> tuple[Got, Json]:
        """Ask within the context; once more where pmproxy has forgotten it."""
        for again in (True, False):
            if self._context is None:
                self._context = self._open()
            parameters = urlencode({"context": self._context, **query}, safe=",")
            got = self._web.get(f"{self._url}/{what}?{parameters}")
            document = _document(got)
            if got.status == 200:
                return got, document
            self._context = None
            message = _message(document)
            if not (again and "context" in message):
                raise _failure(got, message)
        raise Missed("pmproxy forgets its contexts at once.")

    def _open(self) -> int:
        query = {"polltimeout": str(POLL_SECONDS)} | (
            {"hostspec": self._host} if self._host else {}
        )
        got = self._web.get(f"{self._url}/context?{urlencode(query)}")
        document = _document(got)
        if got.status != 200:
            raise _failure(got, _message(document))
        context = document.get("context")
        if not isinstance(context, int):
            raise WatchFailed("The answer is none of pmproxy: check the address.")
        return context


def _document(got: Got) -> Json:
    with suppress(ValueError):
        document = got.json()
        if isinstance(document, dict):
            return document
    return {}


def _message(document: Json) -> str:
    return " ".join(str(document.get("message") or "no reason given").split())[:SHOWN]


def _failure(got: Got, message: str) -> Missed:
    match got.status:
        case 401 | 403:
            text = "check user name and password"
        case 404:
            text = "there is no REST API of pmproxy: check the address"
        case status if 300 <= status < 400:
            text = "it redirects elsewhere, which is not followed: give the address where it leads"
        case _:
            text = "check that pmcd runs, and the host of pmcd"
    return Missed(f"pmproxy answered {got.status} ({message}): {text}.", hopeless=got.status < 500)


def fetched_of(document: Json) -> Fetched:
    """Return the values of an answer; what is odd is left out."""
    return {name: dict(instances) for name, instances in _fetched(document)}


def _fetched(document: Json) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    listed = document.get("values")
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and isinstance(each.get("instances"), list):
            instances = [one for one in each["instances"][:MOST_INSTANCES] if isinstance(one, dict)]
            numbers = [one.get("instance") for one in instances]
            yield (
                str(each.get("name")),
                [
                    (-1 if number is None else number, one.get("value"))
                    for number, one in zip(numbers, instances, strict=True)
                    if number is None or isinstance(number, int)
                ],
            )


def _single(fetched: Fetched, name: str, instance: int = -1) -> float | None:
    return count_of(fetched.get(name, {}).get(instance))


def values_of(fetched: Fetched, names: Mapping[str, Mapping[int, str]]) -> dict[Key, float]:
    """Return the values of the catalog's quantities. names: of instances, by the kinds of OF_KIND."""
    values: dict[Key, float] = {}
    for metric, (quantity, scale) in PLAIN.items():
        value = _single(fetched, metric)
        if value is not None:
            values[Key(quantity)] = value * scale
    for metric, (quantity, scale) in BY_INSTANCE.items():
        kind = ".".join(metric.split(".")[:2])
        for instance, written in fetched.get(metric, {}).items():
            name, value = names.get(kind, {}).get(instance), count_of(written)
            if name is None or value is None or _is_left_out(quantity, name, value):
                continue
            label = name.removeprefix("cpu") if kind == "kernel.percpu" else name
            values[Key(quantity, label)] = values.get(Key(quantity, label), 0.0) + value * scale
    _add_rest(values, fetched)
    return values


def _is_left_out(quantity: str, name: str, value: float) -> bool:
    if quantity == "net.speed" and not 0 < value < MOST_SPEED:
        return True
    return quantity.startswith("net.") and name.startswith(NO_CARDS)


def _add_rest(values: dict[Key, float], fetched: Fetched) -> None:
    load = _single(fetched, LOAD, ONE_MINUTE)
    if load is not None:
        values[Key("cpu.load")] = load
    total, free = values.get(Key("memory.swap_total")), _single(fetched, SWAP_FREE)
    if total is not None and free is not None:
        values[Key("memory.swap_used")] = max(0.0, total - free * KIB)
    refaults = [value for name in REFAULTS if (value := _single(fetched, name)) is not None]
    if refaults:
        values[Key("memory.refaults")] = sum(refaults)
    files, most = _single(fetched, FILES), _single(fetched, MOST_FILES)
    if files is not None and most:
        values[Key("files.open_share")] = files / most
    for instance, written in fetched.get(MOUNT, {}).items():
        available, size, read_only = (_single(fetched, name, instance) for name in (AVAILABLE, SIZE, READ_ONLY))  # fmt: skip
        mount = _label(str(written))
        if available is not None and size:
            values[Key("disk.free", mount)] = available / size
        if read_only is not None:
            values[Key("disk.read_only", mount)] = read_only


def _label(text: str) -> str:
    return "".join(part if part.isprintable() else "?" for part in text[:100])
