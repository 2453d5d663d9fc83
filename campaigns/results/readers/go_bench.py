"""Read the output of `go test -bench`, also with `-json`: one run a line, in seconds and bytes.

The format is that of golang.org/design/14313-benchmark-format: lines `key: value` describe the lines below.
"""

import re
from dataclasses import dataclass

from campaigns.results.readers.base import (
    MOST_VALUES,
    UNKNOWN_UNIT,
    Builder,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    parsed,
    refuse,
    varying,
)
from campaigns.results.readers.base.texts import number_of

RESULT = re.compile(r"(Benchmark\S{0,500})[ \t]{1,300}(\d{1,15})[ \t]{1,50}(\S.{0,2000})")
HEAD = re.compile(
    rb"^Benchmark\S{0,500}[ \t]{1,300}\d{1,15}[ \t]{1,50}[\d.eE+-]{1,40} \S", re.MULTILINE
)
JSON_HEAD = re.compile(rb'"Action":.{1,300}"Output":"(Benchmark|goos: )')
SETTING = re.compile(r"([a-z][^\sA-Z:]{0,80}):[ \t]{1,50}(\S.{0,500})")
FAILED = re.compile(r"[ \t]{0,40}--- FAIL: (Benchmark\S{0,500})")
ENDED = re.compile(r"^(PASS|FAIL|ok)\b", re.MULTILINE)
PROCESSORS = re.compile(r"(.{1,500})-(\d{1,5})")
MOST_SETTINGS, MOST_PARTS = 50, 20
FACTS = ("goos", "goarch", "cpu")
DURATION = ReadMetric("duration", "Time per operation", "s", True, "aggregated")
KNOWN = {
    "ns/op": (DURATION, 1e-9),
    "MB/s": (ReadMetric("throughput", "Throughput", "B/s", False, "aggregated"), 1e6),
    "B/op": (ReadMetric("memory", "Memory allocated per operation", "B", True, "aggregated"), 1.0),
    "allocs/op": (
        ReadMetric("allocations", "Allocations per operation", "count", True, "aggregated"),
        1.0,
    ),
}


@dataclass(slots=True)
class _Line:
    """One result, or one failure."""

    where: str
    name: str
    about: dict[str, str]
    iterations: int = 0
    measured: str = ""
    reason: str = ""


class GoBench:
    """The benchmark, its sub-benchmarks and the number of processors are factors; so are settings that change."""

    name = "go_bench"
    label = "go test -bench"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a line with the result of a benchmark, or one of test2json."""
        return bool(HEAD.search(head)) or (
            head.lstrip().startswith(b"{") and bool(JSON_HEAD.search(head))
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every line of every output in the file."""
        builder = Builder(self.name, self.label, work=("package", "benchmark"))
        text = _text(source.text())
        result = _lines(text)
        counts = {_processors(line.name) for line in result if not line.reason}
        levels, shared = varying(_levels(line, several=len(counts) > 1) for line in result)
        for line, differing in zip(result, levels, strict=True):
            _run(builder, line, differing)
        for name, value in shared.items():
            (builder.fact if name in FACTS else builder.note)(name, value)
        if len(counts) == 1:
            builder.fact("processors", counts.pop())
        if not ENDED.search(text):
            builder.drop(
                "The output ends without PASS or FAIL: go test was stopped, or lines were left out."
            )
        builder.drop("When each benchmark began is not in the file.")
        return builder.build(
            name="go test -bench: "
            + (str(shared["benchmark"]) if "benchmark" in shared else "several"),
            question="How long does each benchmark take, and what changes it?",
            primary=["duration"],
            tags=("go",),
        )


def _text(text: str) -> str:
    """Join the events of `go test -json`, package by package."""
    if not text.lstrip().startswith("{"):
        return text
    outputs: dict[str, list[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            event = parsed(line, f"line {number}")
            if "Output" in event:
                package = event.at("Package").text() if "Package" in event else ""
                outputs.setdefault(package, []).append(str(event.at("Output").value))
    return "\n".join("".join(parts) for parts in outputs.values())


def _lines(text: str) -> list[_Line]:
    results: list[_Line] = []
    about: dict[str, str] = {}
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        where = f"line {number}"
        if setting := SETTING.fullmatch(line):
            about = {**about, setting[1]: setting[2].strip()}
            if len(about) > MOST_SETTINGS:
                refuse(
                    where,
                    f"More than {MOST_SETTINGS} settings, lines “key: value”; leave lines of logs out.",
                )
        elif result := RESULT.fullmatch(line):
            results.append(_Line(where, result[1], about, int(result[2]), result[3].strip()))
        elif failed := FAILED.match(line):
            below = (
                lines[number].strip() if number < len(lines) and lines[number][:1].isspace() else ""
            )
            results.append(_Line(where, failed[1], about, reason=below or "the benchmark failed"))
        if len(results) > MOST_VALUES:
            refuse(where, f"More than {MOST_VALUES:,} benchmarks; split the file.")
        if results and results[-1].name.count("/") > MOST_PARTS:
            refuse(
                results[-1].where, f"The name of the benchmark has more than {MOST_PARTS} parts."
            )
    names = {line.name for line in results}
    parents = {name[:place] for name in names for place in _slashes(name)}
    return [line for line in results if not (line.reason and line.name in parents)]


def _slashes(name: str) -> list[int]:
    return [place for place, letter in enumerate(name) if letter == "/"]


def _processors(name: str) -> int:
    """Return the number of processors at the end of a name, which is left out if it is 1."""
    match = PROCESSORS.fullmatch(name)
    return int(match[2]) if match else 1


def _levels(line: _Line, *, several: bool) -> dict[str, Scalar]:
    """Return the benchmark, its sub-benchmarks (/key=value by its key, others by position), and settings."""
    suffix = None if line.reason else PROCESSORS.fullmatch(line.name)
    first, *parts = (suffix[1] if suffix else line.name).split("/")
    levels: dict[str, Scalar] = {"benchmark": first.removeprefix("Benchmark") or first}
    for place, part in enumerate(parts, 1):
        key, _, value = part.partition("=")
        named = bool(key and value) and key not in levels
        levels[key if named else f"part {place}"] = value if named else part
    if several and not line.reason:
        levels["processors"] = int(suffix[2]) if suffix else 1
    for key, setting in line.about.items():
        levels.setdefault("package" if key == "pkg" else key, setting)
    return levels


def _run(builder: Builder, line: _Line, levels: dict[str, Scalar]) -> None:
    if line.reason:
        builder.run(levels, {}, reason=line.reason, units_failed=1)
        return
    values: dict[str, float] = {}
    fields = line.measured.split()
    if len(fields) % 2:
        refuse(line.where, "A number without its unit; the line is not whole.")
    for text, unit in zip(fields[::2], fields[1::2], strict=True):
        number = number_of(text)
        if number is None:
            refuse(
                line.where, f"“{text[:40]}” is no number; go test writes pairs of number and unit."
            )
        metric, factor = KNOWN.get(unit) or (_own(unit), 1.0)
        builder.declare(metric)
        values[metric.name] = number * factor
    builder.run(levels, values, units_done=line.iterations)


def _own(unit: str) -> ReadMetric:
    """Return a metric of the benchmark's own: its unit is its name; only rates and costs have a direction."""
    lower = False if unit.endswith("/s") else True if unit.endswith("/op") else None
    name = f"reported_{unit}" if unit in {metric.name for metric, _ in KNOWN.values()} else unit
    return ReadMetric(name[:80], unit[:80], UNKNOWN_UNIT, lower, "aggregated")


reader = GoBench()
