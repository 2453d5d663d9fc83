"""k6, `--out json`: every sample on a line; gathered by scenario and request."""

from collections import Counter

from campaigns.readers.base import Builder, Node, Options, Read, Scalar, Source, parsed, refuse
from campaigns.readers.base.building import MOST_CELLS
from campaigns.readers.base.streams import Stream, stream_metrics
from campaigns.readers.base.texts import instant_of

REQUEST = "http_req_duration"
ITERATION = "iteration_duration"
PARTS = {
    f"http_req_{part}"
    for part in ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
}
Cell = tuple[str, str]


class K6Points:
    """Scenario and request are factors where there are several."""

    name = "k6_points"
    label = "k6, single samples"

    def detects(self, head: bytes, filename: str) -> bool:
        """A first line that is a Metric or a Point."""
        first = head.lstrip().partition(b"\n")[0]
        return (
            first.startswith(b"{")
            and b'"metric"' in first
            and (b'"type":"Metric"' in first or b'"type":"Point"' in first)
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the points of requests; where there are none, those of iterations."""
        points = _Points()
        for number, line in source.lines():
            if line.strip():
                points.take(parsed(line, f"line {number}"), f"line {number}")
        builder = Builder(self.name, self.label, work=("scenario", "request"))
        builder.declare(*stream_metrics())
        points.into(builder)
        return builder.build(
            name="k6",
            question="How fast does the server answer, in each scenario?",
            primary=["latency_p95", "latency_mean"],
            tags=("k6",),
        )


class _Points:
    def __init__(self) -> None:
        self.streams: dict[str, dict[Cell, Stream]] = {REQUEST: {}, ITERATION: {}}
        self.failed: Counter[Cell] = Counter()
        self.others: Counter[str] = Counter()
        self.most: dict[str, float] = {}
        self.sums: Counter[str] = Counter()

    def take(self, line: Node, where: str) -> None:
        kind = line.at("type").text()
        if kind == "Metric":
            return
        if kind != "Point":
            refuse(where, f"A line of type “{kind[:40]}”; k6 writes Metric and Point.")
        metric, data = line.at("metric").text()[:100], line.at("data")
        if metric in self.streams:
            self._sample(metric, data, where)
        elif metric == "http_req_failed":
            self.failed[_cell(data)] += data.at("value").number() == 1
        elif metric in ("vus", "vus_max"):
            self.most[metric] = max(self.most.get(metric, 0.0), data.at("value").number())
        elif metric in ("dropped_iterations", "data_received", "data_sent"):
            self.sums[metric] += data.at("value").count()
        elif metric in self.others or len(self.others) < 100:
            self.others[metric] += 1

    def _sample(self, metric: str, data: Node, where: str) -> None:
        streams, cell = self.streams[metric], _cell(data)
        if cell not in streams and len(streams) >= MOST_CELLS:
            refuse(
                where,
                f"More than {MOST_CELLS} different requests; give those of one kind the same tag "
                "`name` in the script.",
            )
        ended = instant_of(data.at("time").text())
        if ended is None:
            refuse(where, "The time of the point is no instant of the years 1990 to 2099.")
        seconds = data.at("value").seconds(1e-3)
        streams.setdefault(cell, Stream()).add(ended.timestamp() - seconds, seconds, failed=False)

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
        for name, value in (self.most | self.sums).items():
            builder.note(name, f"{value:.15g}")
        if PARTS & self.others.keys():
            builder.drop("The parts of a request (blocked, connecting, waiting …) are left out.")
        rest = sorted(self.others.keys() - PARTS - {"http_reqs", "iterations"})
        if rest:
            builder.drop(
                f"Metrics that belong to no single request are left out: {', '.join(rest)}."
            )


def _cell(data: Node) -> Cell:
    tags = data.get("tags")
    found = {} if tags is None else dict(tags.items())
    scenario, name = (
        str(found[key].scalar()) if key in found else "" for key in ("scenario", "name")
    )
    return scenario or "default", name or "all"


reader = K6Points()
