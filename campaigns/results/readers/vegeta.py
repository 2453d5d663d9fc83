"""Read vegeta: reports (`report -type=json`), one run each, or results (`encode -to json`), by attack."""

from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    documents,
    parsed,
    refuse,
    varying,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.streams import Stream, stream_metrics
from campaigns.results.readers.base.texts import instant_of

PERCENTILES = {"50th": 50, "90th": 90, "95th": 95, "99th": 99}
THROUGHPUT = ReadMetric("throughput", "Successful requests per second", "1/s", False, "aggregated")
DIGITS = 2
"""Significant digits of a report's rate: attacks of one rate differ by less, and have no other name."""


class Vegeta:
    """The rate is a factor of reports; the attack, by its -name (rate=50), and the request are those of results."""

    name = "vegeta"
    label = "vegeta"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the keys of a report, or those of a result."""
        return all(
            key in head for key in (b'"latencies"', b'"bytes_in"', b'"status_codes"')
        ) or all(key in head for key in (b'"attack"', b'"seq"', b'"latency"', b'"bytes_in"'))

    def read(self, source: Source, options: Options) -> Read:
        """Read every report, or every result, in the file."""
        builder = Builder(self.name, self.label, work=("request",))
        builder.declare(*stream_metrics(), THROUGHPUT)
        if b'"latencies"' in source.head:
            _reports(builder, documents(source.text()))
        else:
            results = _Results()
            for number, line in source.lines():
                if line.strip():
                    results.take(parsed(line, f"line {number}"), f"line {number}")
            results.into(builder)
        return builder.build(
            name="vegeta",
            question="How fast does the server answer at a constant rate?",
            primary=[common.percentile(95), common.MEAN],
            tags=("vegeta", "open loop"),
        )


def _reports(builder: Builder, reports: list[Node]) -> None:
    levels, shared = varying([_rate(report) for report in reports])
    for report, differing in zip(reports, levels, strict=True):
        _report(builder, report, differing)
    for name, value in shared.items():
        builder.note(name, value)
    if not shared:
        builder.drop(
            f"Rate is that at which vegeta sent, rounded to {DIGITS} digits: a report does not say which was "
            "asked for."
        )


def _rate(report: Node) -> dict[str, Scalar]:
    """Return requests per second: each of them except the first follows another one."""
    seconds, requests = report.at("duration").seconds(1e-9), report.at("requests").count()
    if requests < 2 or not seconds:
        return {"rate": "unknown"}
    return {"rate": float(f"{(requests - 1) / seconds:.{DIGITS}g}")}


def _report(builder: Builder, report: Node, levels: dict[str, Scalar]) -> None:
    requests, success = report.at("requests").count(), report.at("success").seconds()
    if success > 1:
        refuse(report.path, f"A success of {success:g}; it is a share, at most 1.")
    failed = requests - round(success * requests)
    values: dict[str, float] = {}
    if requests:
        latencies = report.at("latencies")
        values = {
            common.MEAN: latencies.at("mean").seconds(1e-9),
            THROUGHPUT.name: report.at("throughput").seconds(),
        }
        for key, number in PERCENTILES.items():
            if key in latencies:
                values[common.percentile(number)] = latencies.at(key).seconds(1e-9)
    reason = "no request succeeded" if requests else "no request was made"
    for code, count in list(report.at("status_codes").items())[:20]:
        builder.note(f"status {code}", count.count())
    errors = report.get("errors")
    for number, error in enumerate(errors.elements()[:20] if errors is not None else (), 1):
        builder.note(f"error {number}", error.text())
    builder.requests(
        levels,
        values,
        total=requests,
        failed=failed,
        reason=reason,
        started_at=instant_of(report.at("earliest").text()),
        finished_at=instant_of(report.at("end").text()),
    )


class _Results:
    """Results by attack; an attack is over where its numbers (`seq`) start again."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, dict[str, Stream]]] = []
        self.seen: dict[str, set[int]] = {}

    def take(self, line: Node, where: str) -> None:
        attack, number = line.at("attack").text(), line.at("seq").count()
        request = f"{line.at('method').text()} {line.at('url').text()}" if "url" in line else ""
        if not self.runs or self.runs[-1][0] != attack or number in self.seen[attack]:
            if attack in self.seen and number:
                refuse(
                    where,
                    "The results of several attacks are mixed; encode one file of results after another.",
                )
            self.runs.append((attack, {}))
            self.seen[attack] = set()
        self.seen[attack].add(number)
        streams = self.runs[-1][1]
        if request not in streams and len(streams) >= MOST_CELLS:
            refuse(where, f"More than {MOST_CELLS} different requests; import a report instead.")
        began = instant_of(line.at("timestamp").text())
        if began is None:
            refuse(where, "The timestamp is no instant of the years 1990 to 2099.")
        streams.setdefault(request, Stream()).add(
            began.timestamp(),
            line.at("latency").seconds(1e-9),
            not 200 <= line.at("code").count() < 400,
            line.at("bytes_in").seconds(),
        )

    def into(self, builder: Builder) -> None:
        attacks = {attack for attack, _ in self.runs}
        keys = {attack.partition("=")[0] for attack in attacks}
        named = len(keys) == 1 and all("=" in attack for attack in attacks)
        requests = {request for _, streams in self.runs for request in streams}
        for attack, streams in self.runs:
            for request, stream in streams.items():
                key, _, value = attack.partition("=")
                levels: dict[str, Scalar] = {}
                if len(attacks) > 1:
                    levels = {key: value} if named and key != "request" else {"attack": attack}
                if len(requests) > 1:
                    levels["request"] = request
                stream.into(builder, levels)


reader = Vegeta()
