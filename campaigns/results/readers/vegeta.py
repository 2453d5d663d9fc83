"""Read vegeta: reports (`report -type=json`), one run each, or results (`encode -to json` or csv), by attack."""

import re
from collections.abc import Iterator
from statistics import median

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    documents,
    json_lines,
    refuse,
    some,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.samples import LeftOut, Samples
from campaigns.results.readers.base.streams import stream_metrics
from campaigns.results.readers.base.tables import rows
from campaigns.results.readers.base.texts import instant_at, instant_of, number_of

PERCENTILES = {"50th": 50, "90th": 90, "95th": 95, "99th": 99}
LEFT = ("total", "mean", "max", "min")
THROUGHPUT = ReadMetric("throughput", "Successful requests per second", "1/s", False, "aggregated")
CSV = re.compile(rb"^\d{16,19},\d{1,3},\d{1,18},\d{1,18},\d{1,18},", re.MULTILINE)
FIELDS = ("timestamp", "code", "latency", "bytes_out", "bytes_in", "error", "body", "attack", "seq")
"""The columns of `encode -to csv`, which has no header; newer versions have method, URL and headers after them."""
METHOD = re.compile(r"[A-Z]{1,20}")
CLOSE = 0.02
"""Attacks of one rate differ by less in what was measured, and have no other name."""
DIGITS = 3


class Vegeta:
    """The rate is a factor of reports; the attack, by its -name (rate=50), and the request are those of results."""

    name = "vegeta"
    label = "vegeta"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the keys of a report, or those of a result, or a line of results as CSV."""
        return bool(CSV.search(head)) or any(
            all(key in head for key in keys)
            for keys in (
                (b'"latencies"', b'"bytes_in"', b'"status_codes"'),
                (b'"code"', b'"timestamp"', b'"latency"', b'"bytes_in"', b'"bytes_out"'),
                (b'"attack"', b'"seq"', b'"latency"', b'"bytes_in"'),
            )
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every report, or every result, in the file."""
        builder = Builder(self.name, self.label, work=("request",))
        builder.declare(*stream_metrics(), THROUGHPUT)
        if b'"latencies"' in source.head:
            _reports(builder, documents(source), source)
        else:
            results = _Results()
            lines = csv_lines(source) if CSV.search(source.head) else json_lines(source)
            for where, line in lines:
                results.take(line, where)
            results.into(builder, source)
        return builder.build(
            name="vegeta",
            question="How fast does the server answer at a constant rate?",
            primary=[common.percentile(95), common.MEAN],
            tags=("vegeta", "open loop"),
        )


def _reports(builder: Builder, reports: list[Node], source: Source) -> None:
    measured: list[tuple[Node, float | None]] = []
    for report in reports:
        with source.spare("A report"):
            measured.append((report, _rate(report)))
    names = _named([rate for _, rate in measured if rate is not None])
    several = len({None if rate is None else names[rate] for _, rate in measured}) > 1
    for report, rate in measured:
        level: Scalar = "unknown" if rate is None else names[rate]
        with source.spare("A report"):
            _report(builder, report, {"rate": level} if several else {})
    why = (
        "A report of vegeta does not say which rate was asked for: this is about the one at which it sent, and "
        f"rates within {CLOSE * 100:g} % are one."
    )
    if several:
        builder.guess("rate", why)
        builder.drop(why)
    elif names:
        builder.note("rate", f"about {next(iter(names.values())):g}/s")


def _rate(report: Node) -> float | None:
    """Return requests per second: each of them except the first follows another one."""
    seconds, requests = report.at("duration").seconds(1e-9), report.at("requests").count()
    return (requests - 1) / seconds if requests > 1 and seconds else None


def _named(rates: list[float]) -> dict[float, float]:
    """Return the name of each rate: that of the rates which are close to it."""
    groups: list[list[float]] = []
    for rate in sorted(rates):
        if groups and rate <= groups[-1][0] * (1 + CLOSE):
            groups[-1].append(rate)
        else:
            groups.append([rate])
    return {rate: float(f"{median(group):.{DIGITS}g}") for group in groups for rate in group}


def _report(builder: Builder, report: Node, levels: dict[str, Scalar]) -> None:
    requests, success = report.at("requests").count(), report.at("success").seconds()
    if success > 1:
        refuse(report.path, f"A success of {success:g}; it is a share, at most 1.")
    if not requests:
        refuse(report.path, "no request was made")
    failed = requests - round(success * requests)
    latencies = report.at("latencies")
    values = {common.MEAN: latencies.at("mean").seconds(1e-9)}
    if "throughput" in report:
        values[THROUGHPUT.name] = report.at("throughput").seconds()
    for key, number in PERCENTILES.items():
        if key in latencies:
            values[common.percentile(number)] = latencies.at(key).seconds(1e-9)
    if others := [key for key, _ in latencies.items() if key not in (*PERCENTILES, *LEFT)]:
        builder.drop(f"{some(others)} of latencies: no statistic that is read.")
    began, ended = (
        instant_of(report.at(key).text()) if key in report else None for key in ("earliest", "end")
    )
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
        reason="no request succeeded",
        started_at=began,
        finished_at=ended,
    )


def csv_lines(source: Source) -> Iterator[tuple[str, Node]]:
    """Yield “line n” and each result of `encode -to csv`, in the form of `encode -to json`.

    Lines of another form are counted by the source.
    """
    for where, fields in rows(source):
        numbers = [number_of(text) for text in (*fields[:5], *fields[8:9])]
        moment = instant_at(numbers[0] / 1e9) if numbers and numbers[0] else None
        if len(fields) < len(FIELDS) or None in numbers or moment is None:
            source.unknown(int(where.removeprefix("line ")))
            continue
        record: dict[str, str | float | None] = dict(zip(FIELDS, fields, strict=False))
        record |= zip(("code", "latency", "bytes_out", "bytes_in", "seq"), numbers[1:], strict=True)
        record["timestamp"] = moment.isoformat()
        method, url = fields[-3:-1] if len(fields) > len(FIELDS) + 2 else ("", "")
        if METHOD.fullmatch(method):
            record |= {"method": method, "url": url}
        yield where, Node(record, where)


class _Mixed(BadFile):
    """The results are not those of one attack after the other, or of too many requests."""


class _Results:
    """Results by attack and request; an attack is over where its numbers (`seq`) start again."""

    def __init__(self) -> None:
        self.samples = Samples()
        self.left = LeftOut()
        self.cells: dict[tuple[str, str], int] = {}
        self._attack: str | None = None
        self._seen: dict[str, set[int]] = {}

    def take(self, line: Node, where: str) -> None:
        """Take a result; a damaged one is left out."""
        try:
            self._take(line, where)
        except _Mixed:
            raise
        except BadFile as problem:
            self.left.add(where, problem.problems[0][1])

    def _take(self, line: Node, where: str) -> None:
        attack = line.at("attack").text() if "attack" in line else ""
        request = f"{line.at('method').text()} {line.at('url').text()}" if "url" in line else ""
        number = line.at("seq").count() if "seq" in line else None
        began = instant_of(line.at("timestamp").text())
        if began is None:
            refuse(where, "The timestamp is no instant of the years 1990 to 2099.")
        seconds, code = line.at("latency").seconds(1e-9), line.at("code").count()
        size = line.at("bytes_in").seconds() if "bytes_in" in line else 0.0
        self._follow(attack, number, where)
        cell = attack, request
        if cell not in self.cells and len(self.cells) >= MOST_CELLS:
            text = f"More than {MOST_CELLS} different requests; import a report instead."
            raise _Mixed([(where, text)])
        index = self.cells.setdefault(cell, len(self.cells))
        at = int(where.removeprefix("line "))
        self.samples.add(at, index, began.timestamp(), seconds, not 200 <= code < 400, size)

    def _follow(self, attack: str, number: int | None, where: str) -> None:
        """Begin another attack, if this result is of another one."""
        seen = self._seen.setdefault(attack, set())
        again = number is not None and number in seen
        changed = self._attack is not None and attack != self._attack
        if again or (changed and seen):
            if number is not None and number * 2 >= len(seen) and number:
                text = "The results of several attacks are mixed; encode one file of results after another."
                raise _Mixed([(where, text)])
            seen.clear()
        if again:
            self.samples.begin(f"the numbers (seq) start again in {where}")
        elif changed:
            self.samples.begin("")
        self._attack = attack
        if number is not None:
            seen.add(number)

    def into(self, builder: Builder, source: Source) -> None:
        self.left.told(source, len(self.samples))
        cells = list(self.cells)
        attacks = {attack for attack, _ in cells}
        keys = {attack.partition("=")[0] for attack in attacks}
        named = len(keys) == 1 and all("=" in attack for attack in attacks)
        several = len({request for _, request in cells}) > 1
        for streams, _ in self.samples.runs(source):
            for index, stream in streams.items():
                attack, request = cells[index]
                key, _, value = attack.partition("=")
                levels: dict[str, Scalar] = {}
                if len(attacks) > 1:
                    levels = {key: value} if named and key != "request" else {"attack": attack}
                if several:
                    levels["request"] = request
                stream.into(builder, levels)


reader = Vegeta()
