"""The measurements: servers in turn, each doing the same."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from bench.submissions import data
from bench.submissions.conbench import Conbench
from bench.submissions.lnt import Lnt
from bench.submissions.perfdash import Perfdash

CHUNK = 10
CLIENTS = 4
BULK_BUILDS = 100
NARROW_BUILDS, NARROW_TESTS = 100, 200
CELLS = 50
PROBE_BUILDS = 10
READS = 60
SINGLES = 50


@dataclass(frozen=True, slots=True)
class Taken:
    """values in seconds; processor: seconds of the web server and of the database.

    analysed_seconds: from the begin until the analysis that follows is stored. analysis: its processor seconds. Where the server has
    none, the answer is the end.
    """

    values: int
    seconds: float
    web: float
    database: float
    analysed_seconds: float = 0.0
    analysis: float = 0.0

    @property
    def a_second(self) -> float:
        return self.values / self.seconds

    @property
    def analysed_a_second(self) -> float:
        return self.values / max(self.seconds, self.analysed_seconds)

    @property
    def a_thousand(self) -> float:
        """Processor seconds per 1,000 values."""
        return 1000 * (self.web + self.database) / self.values


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes a value: of the table of values, and of everything that was stored with it."""

    what: str
    values: int
    heap: float
    indexes: float
    everything: float


@dataclass(slots=True)
class Grown:
    """What things take when so many values are stored. Seconds."""

    values: int
    insert: float
    single: float
    history: float
    page: float


@dataclass(slots=True)
class Found:
    """All that was measured."""

    builds: dict[str, list[Taken]] = field(default_factory=dict)
    regressions: list[Taken] = field(default_factory=list)
    bulk: dict[str, list[Taken]] = field(default_factory=dict)
    megabytes: list[float] = field(default_factory=list)
    singles: dict[tuple[str, str], list[Taken]] = field(default_factory=dict)
    reads: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    sizes: list[Size] = field(default_factory=list)
    grown: list[Grown] = field(default_factory=list)


class Measuring:
    """perfdash, and LNT and Conbench unless they are left out. Conbench takes single results alone."""

    def __init__(
        self,
        perfdash: Perfdash,
        lnt: Lnt | None,
        conbench: Conbench | None,
        found: Found,
        tell: Callable[[str], None],
    ) -> None:
        self.perfdash, self.lnt, self.tell = perfdash, lnt, tell
        self.both: list[Any] = [perfdash, *([lnt] if lnt else [])]
        self.all: list[Any] = [*self.both, *([conbench] if conbench else [])]
        self.found = found

    def builds(self, count: int) -> None:
        """Builds of 1,000 values, each with a request of its own, ten by each in turn."""
        clients = {each: each.client() for each in self.both}
        for first in range(0, count, CHUNK):
            for each in self.both:
                self.tell(f"builds from {first}, {each.name}")
                builds = range(first, min(first + CHUNK, count))
                act = partial(_submit_builds, each, clients[each], builds)
                used = self._analysed(each, len(builds) * data.TESTS, act)
                self.found.builds.setdefault(each.name, []).append(used)

    def regressions(self, count: int) -> None:
        """A few builds more, in which LNT looks for regressions."""
        if self.lnt is not None:
            client, lnt = self.lnt.client(), self.lnt
            for build in range(500, 500 + count):
                self.tell(f"build {build}, LNT looks for regressions")
                act = partial(lnt.submit_build, client, "builds", build, "")
                self.found.regressions.append(self._taken(lnt, data.TESTS, act))

    def bulk(self, repeats: int) -> None:
        """100,000 values in one request, and 20,000 of one run each."""
        client = self.perfdash.client()
        narrow = range(NARROW_BUILDS), range(NARROW_TESTS)
        shapes: dict[str, Callable[[str], dict[str, Any]]] = {
            "wide": lambda name: data.wide(name, range(BULK_BUILDS)),
            "narrow": lambda name: data.narrow(name, *narrow),
        }
        for number in range(repeats):
            for shape, make in shapes.items():
                self.tell(f"{shape} {number}")
                self._bulk_of(client, shape, make(f"{shape} {number}"))

    def _bulk_of(self, client: Any, shape: str, document: dict[str, Any]) -> None:
        perfdash = self.perfdash
        values = sum(len(run["values"]) for run in document["runs"])
        heap, indexes = perfdash.bytes_of_values()
        everything = perfdash.bytes_of_all()
        used = self._analysed(perfdash, values, partial(perfdash.submit, client, document))
        self.found.bulk.setdefault(shape, []).append(used)
        self.found.megabytes.append(perfdash.web_megabytes())
        now = perfdash.bytes_of_values()
        size = Size(
            shape, values, (now[0] - heap) / values, (now[1] - indexes) / values,
            (perfdash.bytes_of_all() - everything) / values,
        )  # fmt: skip
        self.found.sizes.append(size)

    def whole_size(self) -> None:
        """What LNT takes for its builds, all in all."""
        if self.lnt is not None:
            values = self.lnt.values()
            heap, indexes = (size / values for size in self.lnt.bytes_of_values())
            everything = self.lnt.bytes_of_all() / values
            self.found.sizes.append(Size("LNT", values, heap, indexes, everything))

    def singles(self, seconds: float, rounds: int) -> None:
        """Runs of one value, one a request: from one client and four, to one place and four."""
        places = [f"place {number}" for number in range(CLIENTS)]
        client = self.perfdash.client()
        for place in places:
            self.perfdash.submit(client, data.narrow(place, range(1), range(CELLS)))
        self.perfdash.settle()
        ways = {
            "1 client": [places[:1]],
            f"{CLIENTS} clients, one campaign": [places[:1]] * CLIENTS,
            f"{CLIENTS} clients, a campaign each": [[place] for place in places],
        }
        for way in [way for _ in range(rounds) for way in ways]:
            for each in self.all:
                self.tell(f"singles, {way}, {each.name}")
                used = self._singles(each, ways[way], seconds)
                self.found.singles.setdefault((way, each.name), []).append(used)
                each.settle()

    def _singles(self, server: Any, of_clients: Sequence[list[str]], seconds: float) -> Taken:
        counts: list[int] = []
        threads = [
            threading.Thread(target=_send, args=(server, places, seconds, counts))
            for places in of_clients
        ]

        def together() -> None:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        used = self._taken(server, 1, together)
        if len(counts) < len(threads):
            raise RuntimeError(f"A client of {server.name} ended early.")
        return replace(used, values=sum(counts))

    def reads(self) -> None:
        """What is read, in turn. Two campaigns of builds are there."""
        self.perfdash.submit(self.perfdash.client(), data.wide("others", range(200, 300)))
        self.perfdash.settle()
        wanted = {each: each.reads(each.client()) for each in self.both}
        for what in ("history", "comparison", "chart"):
            self.tell(what)
            clients = {each: each.client() if what == "history" else each.browser() for each in self.both}  # fmt: skip
            for _ in range(READS + 1):
                for each in self.both:
                    seconds = [clients[each].get(path).seconds for path in wanted[each][what]]
                    self.found.reads.setdefault((what, each.name), []).append(sum(seconds))
        for times in self.found.reads.values():
            del times[0]  # what is loaded late

    def grow(self, steps: Sequence[int]) -> None:
        """Store ever more values; at each step, try how long things take."""
        client = self.perfdash.client()
        number = 0
        for step in steps:
            while self.perfdash.values() + PROBE_BUILDS * data.TESTS < step:
                room = (step - self.perfdash.values()) // data.TESTS
                builds = range(min(BULK_BUILDS, room))
                self.perfdash.submit(client, data.wide(f"growing {number}", builds))
                number += 1
                self.tell(f"{self.perfdash.values():,} values")
            self.found.grown.append(self._grown(client, step))

    def _grown(self, client: Any, step: int) -> Grown:
        perfdash, name = self.perfdash, f"probe {step}"
        perfdash.settle()
        inserts = [
            perfdash.submit(client, data.wide(f"{name} {n}", range(PROBE_BUILDS))) for n in range(3)
        ]
        perfdash.submit(client, data.narrow(name, range(1), range(CELLS)))
        perfdash.settle()
        singles = [client.post(*perfdash.single(name, n)).seconds for n in range(SINGLES)]
        perfdash.settle()
        reads = perfdash.reads(client, f"{name} 0", f"{name} 1")
        browser = perfdash.browser()
        history = [client.get(reads["history"][0]).seconds for _ in range(READS)]
        page = [browser.get(reads["chart"][0]).seconds for _ in range(READS)]
        return Grown(
            perfdash.values(), *(median(each) for each in (inserts, singles, history, page))
        )

    def _analysed(self, server: Any, values: int, act: Callable[[], Any]) -> Taken:
        """Measure as `_taken`, and how long the analysis takes that follows."""
        analysis, begun = self.perfdash.analysis_seconds(), perf_counter()
        used = self._taken(server, values, act)
        server.settle()
        return replace(
            used,
            analysed_seconds=perf_counter() - begun if server is self.perfdash else used.seconds,
            analysis=self.perfdash.analysis_seconds() - analysis if server is self.perfdash else 0,
        )

    def _taken(self, server: Any, values: int, act: Callable[[], Any]) -> Taken:
        web, database = server.processor_seconds(), self.perfdash.database_seconds()
        begun = perf_counter()
        act()
        seconds = perf_counter() - begun
        return Taken(
            values, seconds, server.processor_seconds() - web,
            self.perfdash.database_seconds() - database,
        )  # fmt: skip


def _submit_builds(server: Any, client: Any, builds: range) -> None:
    for build in builds:
        server.submit_build(client, "builds", build)


def _send(server: Any, places: list[str], seconds: float, counts: list[int]) -> None:
    """Send singles until the time is over; note how many."""
    client = server.client()
    count, end = 0, perf_counter() + seconds
    while perf_counter() < end:
        path, body, code = server.single(places[count % len(places)], count)
        client.post(path, body, code)
        count += 1
    client.close()
    counts.append(count)
