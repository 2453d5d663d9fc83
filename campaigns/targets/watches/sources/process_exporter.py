"""process-exporter on the target: groups of processes, scraped by perfdash itself while a run goes on."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from campaigns.targets.watches.base import Access, Frame, Key, Sink, Source, WatchFailed
from campaigns.targets.watches.groups import Groups
from campaigns.targets.watches.node_metrics import CLOCK, Sample
from campaigns.targets.watches.polling import look_in_steps
from campaigns.targets.watches.text_format import samples_of
from campaigns.targets.watches.web import Web, expect_ok, web_address, web_place

PREFIX = "namedprocess_namegroup"
SUMS = {
    f"{PREFIX}_cpu_seconds_total": "group.cpu",
    f"{PREFIX}_num_procs": "group.processes",
    f"{PREFIX}_num_threads": "group.threads",
    f"{PREFIX}_read_bytes_total": "group.read",
    f"{PREFIX}_write_bytes_total": "group.written",
}
LARGEST = {f"{PREFIX}_worst_fd_ratio": "group.descriptors"}
MEMORY = f"{PREFIX}_memory_bytes"
FAIR, PLAIN = "proportionalResident", "resident"
"""Kinds of memory: what is shared counts once among those that share it, or in each of them."""
READ = frozenset({*SUMS, *LARGEST, MEMORY, CLOCK})
ADVICE = "check the address, which ends with /metrics"


class ProcessExporter(Source):
    """A scrape of process-exporter each step."""

    name = "process_exporter"
    label = "process-exporter"
    reads = ("groups",)
    description = (
        "CPU, memory and threads of groups of processes, scraped from process-exporter. It knows nothing of the machine as a "
        "whole: add node_exporter for that."
    )
    needs = (
        "process-exporter 0.7 or later, whose port (9256) the worker reaches, and a configuration that names all programs "
        "(`name: '{{.Comm}}'`, `cmdline: ['.+']`), and before that Foreman's Puma, whose program is called rails (`name: puma`, "
        "`cmdline: ['^puma|/bin/rails server']`)."
    )
    address_help = "host:9256, or the whole URL of its metrics"
    has_login = True
    steps = (1.0, 0.5)

    def check_address(self, address: str) -> str:
        """Return the URL of its metrics."""
        written = address.strip()
        bare = "://" not in written and ":" not in written.rpartition("]")[2]
        return web_address(f"{written}:9256" if bare and written else written, "/metrics")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Scrape each step."""
        groups = Groups(access.groups)
        with Web(access) as web:
            look_in_steps(
                lambda: _look(web, access.address, groups, sink),
                max(access.step_seconds, self.steps[1]),
                stopped,
            )


source = ProcessExporter()


def _look(web: Web, url: str, groups: Groups, sink: Sink) -> None:
    """Scrape once. Raise Missed, WatchFailed."""
    got = web.get(url)
    expect_ok(got, "process-exporter", ADVICE)
    samples = samples_of(got.text, READ)
    values = values_of(samples, groups)
    if not values:
        raise WatchFailed(
            f"{url} has no group of process-exporter: its configuration matches no program that runs, or another exporter answers there."
        )
    clock = next((value for name, _, value in samples if name == CLOCK), None)
    sink.frame(Frame(got.read_clock(sink, clock), got.answered, values))


def values_of(samples: Iterable[Sample], groups: Groups) -> dict[Key, float]:
    """Return the values of each group: the sums over the names of process-exporter that belong to it.

    Names that fit no group are `others`, as far as process-exporter is told to look at them.
    """
    values: defaultdict[Key, float] = defaultdict(float)
    memory: dict[str, defaultdict[str, float]] = {
        FAIR: defaultdict(float),
        PLAIN: defaultdict(float),
    }
    for name, labels, value in samples:
        program = labels.get("groupname", "")
        if not program or not 0 <= value < float("inf"):
            continue
        group = groups.of("", program, program)
        if name in SUMS:
            values[Key(SUMS[name], group)] += value
        elif name in LARGEST:
            key = Key(LARGEST[name], group)
            values[key] = max(values[key], value)
        elif name == MEMORY and labels.get("memtype") in memory:
            memory[labels["memtype"]][group] += value
    known = memory[FAIR] if any(memory[FAIR].values()) else memory[PLAIN]
    return {**values, **{Key("group.memory", group): value for group, value in known.items()}}
