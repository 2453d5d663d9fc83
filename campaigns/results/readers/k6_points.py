"""Read k6, `--out json` and `--out csv`: every sample on a line, grouped by scenario and request."""

import re
from collections import Counter

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    Scalar,
    Source,
    json_lines,
    refuse,
)
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.samples import LeftOut, Samples
from campaigns.results.readers.base.streams import stream_metrics
from campaigns.results.readers.base.tables import Table, lenient_rows
from campaigns.results.readers.base.texts import instant_at, instant_of, number_of

REQUEST = "http_req_duration"
ITERATION = "iteration_duration"
PARTS = {
    f"http_req_{part}"
    for part in ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
}
CSV = re.compile(rb'^"?metric_name"?,"?timestamp"?,"?metric_value', re.MULTILINE)
COLUMNS = ("metric_name", "timestamp", "metric_value")
POINT = re.compile(
    rb'^[ \t]*\{(?=[^\n]*"metric" ?:)[^\n]*"type" ?: ?"(?:Metric|Point)"', re.MULTILINE
)
PARTS_OF_A_SECOND = {13: 1e-3, 16: 1e-6, 19: 1e-9}
"""Seconds per unit by the number of digits of an instant since 1970; whole seconds have 10."""
Cell = tuple[str, str]


class K6Points:
    """Scenario and request are factors where there are several."""

    name = "k6_points"
    label = "k6, single samples"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a line with a Metric or a Point, or with the columns of CSV."""
        return CSV.search(head) is not None or POINT.search(head) is not None

    def read(self, source: Source, options: Options) -> Read:
        """Read the points of requests, or those of iterations if there are none."""
        points = _Points()
        if CSV.search(source.head):
            _take_csv(points, source)
        else:
            for where, line in json_lines(source):
                try:
                    _take(points, line, where)
                except _TooMany:
                    raise
                except BadFile as problem:
                    points.left.add(where, problem.problems[0][1])
        builder = Builder(self.name, self.label, work=("scenario", "request"))
        builder.declare(*stream_metrics())
        points.into(builder, source)
        return builder.build(
            name="k6",
            question="How fast does the server answer, in each scenario?",
            primary=["latency_p95", "latency_mean"],
            tags=("k6",),
        )


class _TooMany(BadFile):
    """There are more different requests than cells."""


def _take(points: "_Points", line: Node, where: str) -> None:
    kind = line.at("type").text()
    metric = line.at("metric").text()[:100]
    if kind == "Metric":
        points.define(metric, where)
        return
    if kind != "Point":
        refuse(where, f"A line of type “{kind[:40]}”; k6 writes Metric and Point.")
    data = line.at("data")
    tags = data.get("tags")
    result = {} if tags is None else dict(tags.items())
    scenario, name = (
        str(result[key].scalar()) if key in result and result[key].value is not None else ""
        for key in ("scenario", "name")
    )
    points.add(metric, data.at("value").number(), (scenario, name), data.at("time").text(), where)


def _take_csv(points: "_Points", source: Source) -> None:
    table: Table | None = None
    for line, fields in lenient_rows(source, points.left):
        where = f"line {line}"
        if fields[0] == COLUMNS[0]:
            if table:
                points.begin(f"{where} is a second header")
            table = Table(fields)
            table.need(COLUMNS, "k6 writes it.")
        elif table is None or len(fields) == 1:
            source.unknown(line)
        else:
            try:
                _take_row(points, table.record(where, fields), where)
            except _TooMany:
                raise
            except BadFile as problem:
                points.left.add(where, problem.problems[0][1])


def _take_row(points: "_Points", record: dict[str, str], where: str) -> None:
    value = number_of(record["metric_value"])
    if value is None:
        refuse(where, f"metric_value: “{record['metric_value'][:40]}” is no number.")
    cell = record.get("scenario", "")[:500], record.get("name", "")[:500]
    points.add(record["metric_name"][:100], value, cell, record["timestamp"], where)


class _Points:
    def __init__(self) -> None:
        self.samples = {REQUEST: Samples(), ITERATION: Samples()}
        self.cells: dict[str, dict[Cell, int]] = {REQUEST: {}, ITERATION: {}}
        self.left = LeftOut()
        self.others: Counter[str] = Counter()
        self.most: dict[str, float] = {}
        self.sums: Counter[str] = Counter()
        self.coarse = False
        self._defined: set[str] = set()
        self._vus = 0

    def define(self, metric: str, where: str) -> None:
        """Take the definition of a metric, which k6 writes once before the metric's first point."""
        if metric in self._defined:
            self.begin(f"{where} defines {metric} again")
            self._defined.clear()
        self._defined.add(metric)

    def begin(self, reason: str) -> None:
        """Begin another run."""
        self._vus = 0
        for samples in self.samples.values():
            samples.begin(reason)

    def add(self, metric: str, value: float, named: Cell, instant: str, where: str) -> None:
        cell = named[0] or "default", named[1] or "all"
        if metric in self.samples:
            self._sample(metric, value, cell, instant, where)
        elif metric == "http_req_failed":
            if cell in self.cells[REQUEST]:
                self.samples[REQUEST].mark_last(self.cells[REQUEST][cell], value == 1)
        elif metric in ("vus", "vus_max"):
            self.most[metric] = max(self.most.get(metric, 0.0), value)
            self._vus = int(min(max(value, 0.0), 1e9)) if metric == "vus" else self._vus
        elif metric in ("dropped_iterations", "data_received", "data_sent"):
            self.sums[metric] += _count(value, where)
        elif metric in self.others or len(self.others) < 100:
            self.others[metric] += 1

    def _sample(self, metric: str, value: float, cell: Cell, instant: str, where: str) -> None:
        ended = self._instant(instant)
        if ended is None:
            refuse(where, "The time of the point is no instant of the years 1990 to 2099.")
        if value < 0:
            refuse(where, f"The time {value:g} is negative.")
        cells = self.cells[metric]
        if cell not in cells and len(cells) >= MOST_CELLS:
            text = f"More than {MOST_CELLS} different requests; give those of one kind the same tag `name` in the script."
            raise _TooMany([(where, text)])
        number = cells.setdefault(cell, len(cells))
        seconds, line = value / 1000, int(where.removeprefix("line "))
        self.samples[metric].add(line, number, ended - seconds, seconds, None, load=self._vus)

    def _instant(self, text: str) -> float | None:
        """Return seconds since 1970, from any of the formats in which k6 writes time."""
        if not text.isascii() or not text.isdigit():
            result = instant_of(text)
            return result.timestamp() if result else None
        self.coarse = self.coarse or len(text) == 10
        seconds = int(text[:30]) * PARTS_OF_A_SECOND.get(len(text), 1.0)
        return seconds if instant_at(seconds) else None

    def into(self, builder: Builder, source: Source) -> None:
        chosen = REQUEST if len(self.samples[REQUEST]) else ITERATION
        samples, cells = self.samples[chosen], list(self.cells[chosen])
        self.left.told(source, len(samples))
        if chosen == REQUEST:
            builder.drop("Durations of whole iterations are left out; requests are what is read.")
        else:
            builder.drop("There are no HTTP requests: latency is that of whole iterations.")
        several = [len({cell[part] for cell in cells}) > 1 for part in (0, 1)]
        samples.step = 1.0 if self.coarse else 0.0
        for streams, vus in samples.runs(source):
            for number, stream in streams.items():
                levels: dict[str, Scalar] = {
                    name: cells[number][part]
                    for part, name in enumerate(("scenario", "request"))
                    if several[part]
                }
                stream.into(builder, {"vus": vus, **levels} if vus else levels)
                if chosen == REQUEST and stream.unknown == len(stream.seconds):
                    builder.drop(
                        "Which requests failed is not known: there are no points of http_req_failed, "
                        "which k6 writes since 0.31."
                    )
        builder.guess(
            "vus", "Points do not say how many VUs were asked for: these are the most in each run."
        )
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
