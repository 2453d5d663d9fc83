"""Prometheus' node_exporter on the target, scraped by perfdash itself while a run goes on."""

from collections.abc import Callable, Iterable
from urllib.parse import urlencode

from campaigns.targets.watches.base import Access, Frame, Key, Sink, Source, WatchFailed
from campaigns.targets.watches.node_metrics import (
    NAMES,
    Sample,
    facts_of,
    uptime_of,
    values_of,
)
from campaigns.targets.watches.polling import look_in_steps
from campaigns.targets.watches.text_format import samples_of
from campaigns.targets.watches.web import Got, Web, expect_ok, web_address, web_place

COLLECTORS = (
    "cpu", "loadavg", "meminfo", "vmstat", "pressure", "diskstats", "filesystem", "netdev", "netstat", "sockstat",
    "stat", "time", "filefd",
)  # fmt: skip
ONCE = ("netclass", "uname", "os")
"""Read once: the speed of the cards, and facts."""
OWN_CPU = "process_cpu_seconds_total"
READ = NAMES | {OWN_CPU, "node_uname_info", "node_os_info"}
ADVICE = "check the address, which ends with /metrics"


class NodeExporter(Source):
    """A scrape of node_exporter each step."""

    name = "node_exporter"
    label = "node_exporter"
    description = (
        "CPU, memory, pressure, disks and network of the machine, scraped from Prometheus' node_exporter. "
        "It knows no processes: groups need SSH, or process-exporter."
    )
    needs = "node_exporter 1.0 or later, whose port (9100) the worker reaches; no Prometheus."
    address_help = "host:9100, or the whole URL of its metrics"
    has_login = True
    steps = (1.0, 0.5)

    def check_address(self, address: str) -> str:
        """Return the URL of its metrics."""
        written = address.strip()
        bare = "://" not in written and ":" not in written.rpartition("]")[2]
        return web_address(f"{written}:9100" if bare and written else written, "/metrics")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Scrape each step."""
        with Web(access) as web:
            look_in_steps(
                _Watch(web, access.address, sink).look,
                max(access.step_seconds, self.steps[1]),
                stopped,
            )


source = NodeExporter()


class _Watch:
    """What one watch knows from earlier scrapes."""

    def __init__(self, web: Web, url: str, sink: Sink) -> None:
        self._web, self._url, self._sink = web, url, sink
        self._collectors: tuple[str, ...] = COLLECTORS
        self._speeds: dict[Key, float] | None = None
        self._uptime = 0.0
        self._own_cpu: float | None = None

    def look(self) -> None:
        """Scrape once. Raise Missed, WatchFailed."""
        got = self._get(self._collectors)
        if got.status == 400 and self._collectors:  # started without one of these collectors
            self._collectors = ()
            got = self._get(())
        expect_ok(got, "node_exporter", ADVICE)
        samples = samples_of(got.text, READ)
        values = values_of(samples)
        if not values:
            raise WatchFailed(
                f"{self._url} has no metric of node_exporter: another exporter answers there."
            )
        clock, uptime = uptime_of(samples)
        at = got.read_clock(self._sink, clock)
        restarted = uptime is not None and uptime < self._uptime
        self._uptime = uptime or 0.0
        if self._speeds is None or restarted:  # it may have started as another machine
            self._speeds = self._read_once(samples)
        self._sink.frame(Frame(at, got.answered, values | self._speeds, uptime))
        self._tell_cost(samples)

    def _get(self, collectors: Iterable[str]) -> Got:
        query = urlencode([("collect[]", name) for name in collectors], safe="[]")
        return self._web.get(f"{self._url}?{query}" if query else self._url)

    def _read_once(self, samples: list[Sample]) -> dict[Key, float]:
        """Read what does not change: facts, and the speeds of the cards, which are returned."""
        known = list(samples)
        for collector in ONCE:
            got = self._get((collector,))
            if got.status == 200:
                known += samples_of(got.text, READ)
        for name, fact in facts_of(known).items():
            self._sink.fact(name, fact)
        values = values_of(known)
        return {key: value for key, value in values.items() if key.quantity == "net.speed"}

    def _tell_cost(self, samples: list[Sample]) -> None:
        """Tell the processor time that the exporter has used since the first scrape."""
        for name, _, value in samples:
            if name == OWN_CPU:
                first = self._own_cpu = value if self._own_cpu is None else self._own_cpu
                self._sink.cost(max(0.0, value - first))
