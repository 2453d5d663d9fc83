"""An existing Prometheus that scrapes the target's node_exporter, asked after the run.

The samples themselves are asked for, by range selectors (`metric[300s]`) of `/api/v1/query`: each has the instant of its scrape, and where
none was there, there is a gap. `query_range` would repeat the last sample for five minutes, and move each by up to a step.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from math import ceil
from statistics import median
from time import monotonic
from typing import Any

from campaigns.kit.mappings import Json
from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Frame,
    Option,
    Sink,
    Source,
    Span,
    WatchFailed,
)
from campaigns.targets.watches.node_metrics import (
    NAMES,
    OF_DISKS,
    Sample,
    facts_of,
    uptime_of,
    values_of,
)
from campaigns.targets.watches.polling import Missed, wall_clock
from campaigns.targets.watches.web import Web, web_address, web_place

ANSWER_SECONDS = 15.0
ALL_SECONDS = 18.0
MOST_BYTES = 32 * 1024 * 1024
POINTS_AT_ONCE = 300
QUESTIONS = 15
ENOUGH_STEPS = 10
USUAL_STEP = 15.0
SHOWN = 300
FACTS = ("node_uname_info", "node_os_info")
GROUPS: Sequence[Sequence[str]] = (
    ("node_cpu_seconds_total",),
    sorted(OF_DISKS),
    sorted(name for name in NAMES if name.startswith(("node_network_", "node_filesystem_"))),
    sorted(
        name
        for name in (*NAMES, *FACTS)
        if name not in OF_DISKS
        and not name.startswith(("node_cpu_", "node_network_", "node_filesystem_"))
    ),
)
"""Metrics that are asked for together."""
WITH_PORT = re.compile(r"(\[.*\]|[^:]+):\d+")
MEANING = {
    400: "it could not read the question",
    401: "it refuses the login: check user name and password",
    403: "it refuses the login: check user name and password",
    404: "there is no Prometheus API: check the address",
    422: "it could not answer the question",
    503: "it took too long, or is too busy",
}


class Prometheus(Source):
    """A Prometheus that is asked after the run."""

    name = "prometheus"
    label = "Prometheus"
    description = (
        "CPU, memory, pressure, disks and network from a Prometheus that scrapes the target's node_exporter. It is asked "
        "after the run, and costs the target nothing. Runs shorter than ten scrapes are too coarse."
    )
    needs = (
        "A Prometheus 2 or later (or what has its API) that scrapes node_exporter on the target."
    )
    address_help = "The URL of Prometheus, such as http://prometheus.example:9090"
    has_login = True
    live = False
    steps = (USUAL_STEP, 1.0)
    options = (
        Option(
            "instance",
            "Label instance",
            "Of the target, as Prometheus has it: host:9100, or the host alone.",
            required=True,
        ),
        Option("job", "Label job", "Where several jobs scrape the same instance."),
    )

    def check_address(self, address: str) -> str:
        """Return the base URL of its API."""
        written = address.strip()
        bare = "://" not in written and ":" not in written.rpartition("]")[2]
        url = web_address(f"{written}:9090" if bare and written else written, "/")
        return url.removesuffix("/api/v1").rstrip("/")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def fetch(self, access: Access, sink: Sink, span: Span) -> None:
        """Read the samples of a span."""
        with Web(access, seconds=ANSWER_SECONDS) as web:
            try:
                _Question(web, self.check_address(access.address), access, sink).fetch(span)
            except Missed as error:
                raise WatchFailed(str(error)) from None


source = Prometheus()


def matchers_of(instance: str, job: str = "") -> str:
    """Return the matchers of a target's series, with escaped values. Raise WatchFailed without an instance."""
    instance = instance.strip()
    if not instance:
        raise WatchFailed(
            "The watch names no instance: give the target's label “instance” of Prometheus."
        )
    if WITH_PORT.fullmatch(instance):
        parts = [f"instance={_quoted(instance)}"]
    else:
        parts = [f"instance=~{_quoted(f'{re.escape(instance)}(:[0-9]+)?')}"]
    if job.strip():
        parts.append(f"job={_quoted(job.strip())}")
    return ",".join(parts)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Question:
    """What is asked of one Prometheus after one run."""

    def __init__(self, web: Web, url: str, access: Access, sink: Sink) -> None:
        self._web, self._url, self._sink = web, f"{url}/api/v1/query", sink
        options = access.options
        self._instance = str(options.get("instance") or "")
        self._matchers = matchers_of(self._instance, str(options.get("job") or ""))
        self._warned = False
        self._ends = monotonic() + ALL_SECONDS

    def fetch(self, span: Span) -> None:
        """Read all samples of a span, in order. Raise Missed, WatchFailed."""
        offset = self._read_clock()
        begin, end = span.begin + offset, span.end + offset
        step = self._step(begin, end)
        window = POINTS_AT_ONCE * step
        apart: list[float] = []
        facts: dict[str, str | float] = {}
        frames = 0
        for number in range(ceil((end - begin) / window)):
            until = min(begin + (number + 1) * window, end)
            for at, samples in self._scrapes(begin + number * window, until):
                clock, uptime = uptime_of(samples)
                values = values_of(samples)
                if clock is not None:
                    apart.append(clock - at)
                if not facts.get("cores"):
                    facts |= facts_of(samples)
                if values:
                    self._sink.frame(Frame(at, monotonic(), values, uptime))
                    frames += 1
        if not frames:
            raise WatchFailed(
                f"Prometheus has no metric of node_exporter for the instance “{self._instance:.100}” in this time."
            )
        if apart:
            facts["clock_minus_prometheus"] = median(apart)
        for name, fact in facts.items():
            self._sink.fact(name, fact)

    def _read_clock(self) -> float:
        """Ask what time it is; return Prometheus' clock minus the worker's."""
        quickest, offset = float("inf"), 0.0
        for _ in range(QUESTIONS):
            asked, wall = monotonic(), wall_clock()
            result = self._ask("time()")
            answered = monotonic()
            clock = _number(result[1] if isinstance(result, list) and len(result) == 2 else None)
            if clock is None:
                raise WatchFailed(
                    "Prometheus does not tell its time: something else answers there."
                )
            self._sink.clock(ClockReading(asked, answered, clock))
            if answered - asked < quickest:
                quickest = answered - asked
                offset = clock - wall - quickest / 2
        return offset

    def _step(self, begin: float, end: float) -> float:
        """Return the seconds between two scrapes; tell where they are too far apart."""
        found = [
            [at for at, _ in points]
            for _, points in self._series(f"up{{{self._matchers}}}", begin, end)
        ]
        longest = max(found, key=len, default=[])
        if not longest:
            raise WatchFailed(
                f"Prometheus scraped no instance “{self._instance:.100}” in this time: check the watch's instance"
                " against the page Targets of Prometheus."
            )
        step = median(later - earlier for earlier, later in pairwise(longest)) if len(longest) > 1 else USUAL_STEP  # fmt: skip
        step = max(step, 0.1)
        self._sink.fact("scrape_interval_seconds", round(step, 3))
        if (end - begin) / step < ENOUGH_STEPS:
            self._sink.fact(
                "too_coarse",
                f"{len(longest)} scrapes in {end - begin:.0f} s: fewer than {ENOUGH_STEPS}. Let Prometheus scrape more often, or "
                "watch by SSH or node_exporter.",
            )
        return step

    def _scrapes(self, begin: float, end: float) -> Iterator[tuple[float, list[Sample]]]:
        """Yield the instant and the samples of each scrape. Raise WatchFailed where several machines are meant."""
        scrapes: defaultdict[float, list[Sample]] = defaultdict(list)
        instances: set[str] = set()
        for names in GROUPS:
            selector = f'{{__name__=~"{"|".join(names)}",{self._matchers}}}'
            for labels, points in self._series(selector, begin, end):
                instances.add(str(labels.get("instance")))
                name = str(labels.get("__name__"))
                for at, value in points:
                    scrapes[at].append((name, labels, value))
        if len(instances) > 1:
            known = ", ".join(sorted(instances)[:5])
            raise WatchFailed(
                f"Several machines match the watch's instance: {known:.300}. Give one of them."
            )
        yield from sorted(scrapes.items())

    def _series(
        self, selector: str, begin: float, end: float
    ) -> Iterator[tuple[Mapping[str, str], list[tuple[float, float]]]]:
        """Yield the labels and the points of each series from `begin` to before `end`."""
        milliseconds = max(1, round((end - begin) * 1000))
        result = self._ask(f"{selector}[{milliseconds}ms]", f"{end:.3f}")
        for each in result if isinstance(result, list) else []:
            if not isinstance(each, dict) or not isinstance(each.get("metric"), dict):
                continue
            labels = {str(name): str(value) for name, value in each["metric"].items()}
            points = []
            for point in each.get("values") or []:
                if isinstance(point, list) and len(point) == 2:
                    at, value = _number(point[0]), _number(point[1])
                    if at is not None and value is not None and begin <= at < end:
                        points.append((at, value))
            yield labels, points

    def _ask(self, query: str, at: str = "") -> Any:
        """Return the result of an instant query. Raise Missed, WatchFailed."""
        if monotonic() > self._ends:
            raise WatchFailed(
                f"Prometheus took longer than {ALL_SECONDS:g} s to answer; the rest is missing."
            )
        form = {"query": query, "timeout": f"{ANSWER_SECONDS:g}s"} | ({"time": at} if at else {})
        got = self._web.post(self._url, form, MOST_BYTES)
        document: Json = {}
        with suppress(ValueError):
            document = got.json()
        if not isinstance(document, dict):
            document = {}
        if got.status != 200 or document.get("status") != "success":
            reason = " ".join(str(document.get("error") or "no reason given").split())[:SHOWN]
            meaning = MEANING.get(got.status, "it is no answer of Prometheus: check the address")
            raise WatchFailed(f"Prometheus answered {got.status}, {meaning} ({reason}).")
        if document.get("warnings") and not self._warned:
            self._warned = True
            self._sink.fact("prometheus_warning", str(document["warnings"])[:SHOWN])
        data = document.get("data")
        return data.get("result") if isinstance(data, dict) else None


def _number(value: object) -> float | None:
    """Return a number of Prometheus, which writes values as texts; None where it is none."""
    if not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return None
