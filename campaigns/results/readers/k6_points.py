"""Read k6, `--out json` and `--out csv`: every sample on a line, grouped by scenario and request."""

from collections import Counter

from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    Scalar,
    Source,
    parsed,
    refuse,
)
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.streams import Stream, stream_metrics
from campaigns.results.readers.base.tables import Table, rows
from campaigns.results.readers.base.texts import instant_at, instant_of, number_of

REQUEST = "http_req_duration"
ITERATION = "iteration_duration"
PARTS = {
    f"http_req_{part}"
    for part in ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
}
CSV = b"metric_name,timestamp,metric_value"
PARTS_OF_A_SECOND = {13: 1e-3, 16: 1e-6, 19: 1e-9}
"""Seconds per unit by the number of digits of an instant since 1970; whole seconds have 10."""
Cell = tuple[str, str]


class K6Points:
    """Scenario and request are factors where there are several."""

    name = "k6_points"
    label = "k6, single samples"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether the first line is a Metric or a Point, or has the columns of CSV."""
        first = head.lstrip().partition(b"\n")[0]
        return first.startswith(CSV) or (
            first.startswith(b"{")
            and b'"metric"' in first
            and (b'"type":"Metric"' in first or b'"type":"Point"' in first)
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the points of requests, or those of iterations if there are none."""
        points = _Points()
        if source.head.startswith(CSV):
            _take_csv(points, source)
        else:
            for place, line in source.lines():
                if line.strip():
                    _take(points, parsed(line, f"line {place}"), f"line {place}")
        builder = Builder(self.name, self.label, work=("scenario", "request"))
        builder.declare(*stream_metrics())
        points.into(builder)
        return builder.build(
            name="k6",
            question="How fast does the server answer, in each scenario?",
            primary=["latency_p95", "latency_mean"],
            tags=("k6",),
        )


def _take(points: "_Points", line: Node, where: str) -> None:
    kind = line.at("type").text()
    if kind == "Metric":
        return
    if kind != "Point":
        refuse(where, f"A line of type “{kind[:40]}”; k6 writes Metric and Point.")
    data = line.at("data")
    tags = data.get("tags")
    result = {} if tags is None else dict(tags.items())
    scenario, name = (
        str(result[key].scalar()) if key in result else "" for key in ("scenario", "name")
    )
    instant = data.at("time").text()
    points.add(
        line.at("metric").text()[:100], data.at("value").number(), (scenario, name), instant, where
    )


def _take_csv(points: "_Points", source: Source) -> None:
    lines = rows(source)
    table = Table(next(lines, ("", [""]))[1])
    table.need(("scenario", "name"), "k6 writes it; leave its system tags as they are.")
    for where, fields in lines:
        record = table.record(where, fields)
        value = number_of(record["metric_value"])
        if value is None:
            refuse(where, f"metric_value: “{record['metric_value'][:40]}” is no number.")
        cell = record["scenario"][:500], record["name"][:500]
        points.add(record["metric_name"][:100], value, cell, record["timestamp"], where)


class _Points:
    def __init__(self) -> None:
        self.streams: dict[str, dict[Cell, Stream]] = {REQUEST: {}, ITERATION: {}}
        self.failed: Counter[Cell] = Counter()
        self.others: Counter[str] = Counter()
        self.most: dict[str, float] = {}
        self.sums: Counter[str] = Counter()
        self.coarse = False

    def add(self, metric: str, value: float, named: Cell, instant: str, where: str) -> None:
        cell = named[0] or "default", named[1] or "all"
        if metric in self.streams:
            self._sample(metric, value, cell, instant, where)
        elif metric == "http_req_failed":
            self.failed[cell] += value == 1
        elif metric in ("vus", "vus_max"):
            self.most[metric] = max(self.most.get(metric, 0.0), value)
        elif metric in ("dropped_iterations", "data_received", "data_sent"):
            self.sums[metric] += _count(value, where)
        elif metric in self.others or len(self.others) < 100:
            self.others[metric] += 1

    def _sample(self, metric: str, value: float, cell: Cell, instant: str, where: str) -> None:
        streams = self.streams[metric]
        if cell not in streams and len(streams) >= MOST_CELLS:
            refuse(
                where,
                f"More than {MOST_CELLS} different requests; give those of one kind the same tag "
                "`name` in the script.",
            )
        ended = self._instant(instant)
        if ended is None:
            refuse(where, "The time of the point is no instant of the years 1990 to 2099.")
        if value < 0:
            refuse(where, f"The time {value:g} is negative.")
        seconds = value / 1000
        step = 1.0 if self.coarse else 0.0
        streams.setdefault(cell, Stream(step)).add(ended - seconds, seconds, failed=False)

    def _instant(self, text: str) -> float | None:
        """Return seconds since 1970, from any of the formats in which k6 writes time."""
        if not text.isascii() or not text.isdigit():
            result = instant_of(text)
            return result.timestamp() if result else None
        self.coarse = self.coarse or len(text) == 10
        seconds = int(text[:30]) * PARTS_OF_A_SECOND.get(len(text), 1.0)
        return seconds if instant_at(seconds) else None

    def into(self, builder: Builder) -> None:
        requests = self.streams[REQUEST]
        chosen = requests or self.streams[ITERATION]
        if requests:
            builder.drop("Durations of whole iterations are left out; requests are what is read.")
        else:
            builder.drop("There are no HTTP requests: latency is that of whole iterations.")
        scenarios = {scenario for scenario, _ in chosen}
        names = {name for _, name in chosen}
        for cell, stream in chosen.items():
            stream.failed = min(self.failed[cell], len(stream.seconds)) if requests else 0
            levels: dict[str, Scalar] = {}
            if len(scenarios) > 1:
                levels["scenario"] = cell[0]
            if len(names) > 1:
                levels["request"] = cell[1]
            stream.into(builder, levels)
        if self.coarse:
            builder.drop(
                "The instants are whole seconds: rates are left out of runs that are too short for them. "
                "Measure with K6_CSV_TIME_FORMAT=unix_milli."
            )
        for name, value in (self.most | self.sums).items():
            builder.note(name, f"{value:.15g}")
        if PARTS & self.others.keys():
            builder.drop("The parts of a request (blocked, connecting, waiting …) are left out.")
        rest = sorted(self.others.keys() - PARTS - {"http_reqs", "iterations"})
        if rest:
            builder.drop(
                f"Metrics that belong to no single request are left out: {', '.join(rest)}."
            )


def _count(value: float, where: str) -> int:
    if value < 0 or value != int(value) or value > 1e15:
        refuse(where, f"{value:g} is no count; counts are whole numbers from 0.")
    return int(value)


reader = K6Points()
