"""Read the output of `go test -bench`, also with `-json`: one run a line, in seconds and bytes.

The format is that of golang.org/design/14313-benchmark-format: lines `key: value` describe the lines below. Such a
line between results may be of a log; it is none of a setting.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from campaigns.results.readers.base import (
    MOST_VALUES,
    UNKNOWN_UNIT,
    Builder,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    json_lines,
    refuse,
    varying,
)
from campaigns.results.readers.base.runners import without_prefixes
from campaigns.results.readers.base.texts import number_of

RESULT = re.compile(
    r"(Benchmark\S{0,500})[ \t]{1,300}(\d{1,15})[ \t]{1,50}([\d.eE+-]{1,40}[ \t]{1,50}\S.{0,2000})"
)
BEGUN = re.compile(r"(Benchmark\S{0,500})[ \t]{1,300}(?:\S.{0,2000})?")
"""A name whose result did not follow on its line: something else was printed meanwhile."""
REST = re.compile(r"[ \t]{0,300}(\d{1,15})[ \t]{1,50}([\d.eE+-]{1,40} ns/op(?:[ \t].{0,2000})?)")
HEAD = re.compile(
    rb"^(?:.{0,99}[ \]|>]|\x1b\[[\d;]{1,9}m)?Benchmark\S{0,500}[ \t]{1,300}\d{1,15}[ \t]{1,50}[\d.eE+-]{1,40} \S",
    re.MULTILINE,
)
MARK = re.compile(
    r"(?:^|(?<=[ \]|>]))(?:Benchmark\S{1,500}[ \t]{1,300}\d{1,15}[ \t]{1,50}[\d.eE+-]{1,40} \S|goos: \S)"
)
JSON_HEAD = re.compile(rb'"Action":.{1,300}"Output":"(Benchmark|goos: )')
EVENT = re.compile(rb'^\{"', re.MULTILINE)
SETTING = re.compile(r"([a-z][^\sA-Z:]{0,80}):[ \t]{1,50}(\S.{0,500})")
FAILED = re.compile(r"(?:Benchmark\S{1,500}[ \t]{1,300})?[ \t]{0,40}--- FAIL: (Benchmark\S{0,500})")
ENDED = re.compile(r"(?:PASS|FAIL|ok)(?:[ \t]|$)")
LEFT_OUT = re.compile(
    r"[ \t]*---|=== |\?[ \t]|[ \t]+\S{1,300}\.go:\d|Benchmark\S*$|exit status \d|Unit[ \t]|(?:testing|coverage|signal): "
)
"""Lines of go test that are no results."""
PROCESSORS = re.compile(r"(.{1,500})-([1-9]\d{0,4})")
MOST_SETTINGS, MOST_PARTS = 50, 20
FACTS = ("goos", "goarch", "cpu")
DECLARED = {*FACTS, "pkg", "toolchain", "commit", "branch", "package", "benchmark", "processors"}
"""Settings that go test itself prints, or that name a build; others may be lines of a log."""
TIMES = re.compile(r"(?:.*[-_])?(?:time|date)")
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
    """One result, or one failure. output: in which it stands; outputs end with PASS or FAIL."""

    where: str
    name: str
    about: dict[str, str]
    output: int
    iterations: int = 0
    measured: str = ""
    reason: str = ""


class GoBench:
    """The benchmark, its sub-benchmarks and the number of processors are factors; so are settings that change."""

    name = "go_bench"
    label = "go test -bench"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a line with the result of a benchmark, or one of test2json."""
        return bool(HEAD.search(head)) or _is_json(head)

    def read(self, source: Source, options: Options) -> Read:
        """Read every line of every output in the file."""
        outputs = _Outputs(source)
        for text, of in _texts(source):
            outputs.take(text, of)
        result = outputs.whole()
        processors = _Processors(result)
        levels, shared = varying(_levels(line, processors) for line in result)
        builder = Builder(self.name, self.label, work=("package", "benchmark"))
        for name in _guessed(result, levels):
            builder.guess(name, f"It is a line “{name}: …” above the results, and may be of a log.")
        if processors.guessed:
            builder.guess(
                "processors",
                "It is the number at the end of the name, and may belong to the name.",
            )
        for line, differing in zip(result, levels, strict=True):
            with source.spare(f"A result of {line.name[:80]}"):
                _check(line, outputs.units)
                _run(builder, line, differing)
        for name, value in shared.items():
            (builder.fact if name in FACTS else builder.note)(name, value)
        if processors.constant:
            builder.fact("processors", processors.constant)
        for line in result[:1]:
            for key, value in line.about.items():
                if TIMES.fullmatch(key):
                    builder.note(key, value)
        builder.drop("When each benchmark began is not in the file.")
        return builder.build(
            name="go test -bench: "
            + (str(shared["benchmark"]) if "benchmark" in shared else "several"),
            question="How long does each benchmark take, and what changes it?",
            primary=["duration"],
            tags=("go",),
        )


def _is_json(head: bytes) -> bool:
    """Return whether these are the events of `go test -json`."""
    return bool(EVENT.search(head) and JSON_HEAD.search(head))


def _texts(source: Source) -> Iterator[tuple[str, str]]:
    """Yield printed outputs, and of which package each is; those of `go test -json` are joined from its events."""
    if not _is_json(source.head):
        for text in without_prefixes(source.text(), MARK):
            yield text, ""
        return
    events: dict[str, list[str]] = {}
    for _, event in json_lines(source):
        if "Output" in event:
            package = event.at("Package").text() if "Package" in event else ""
            events.setdefault(package, []).append(str(event.at("Output").value))
    for package, parts in events.items():
        yield "".join(parts), f" of what {package or 'the test'} printed"


@dataclass(slots=True)
class _Outputs:
    """Finds results, failures and settings in texts, and tells what is none of them.

    head: whether no result stood since the output began. unended: the line of the last result, until PASS or FAIL.
    """

    source: Source
    lines: list[_Line] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    output: int = 0
    head: bool = True
    unended: int = 0
    of: str = ""
    begun: tuple[str, int] | None = None
    units: Counter[str] = field(default_factory=Counter)

    def take(self, text: str, of: str) -> None:
        """Read one text. of: of which package it is, for messages."""
        self.of = of
        self._begin()
        for number, line in enumerate(text.split("\n"), 1):
            self._line(number, line)
            if len(self.lines) > MOST_VALUES:
                refuse("", f"More than {MOST_VALUES:,} benchmarks; split the file.")
        self._has_no_result()
        self._end()

    def whole(self) -> list[_Line]:
        """Return the results; failures only of the benchmarks themselves, not of those that called them."""
        self.units = Counter(unit for line in self.lines for unit in line.measured.split()[1::2])
        names = {line.name for line in self.lines}
        parents = {name[:place] for name in names for place in _slashes(name)}
        return [line for line in self.lines if not (line.reason and line.name in parents)]

    def _line(self, number: int, line: str) -> None:
        if not line.strip():
            return
        if result := RESULT.fullmatch(line):
            self._result(number, result[1], int(result[2]), result[3].strip())
        elif failed := FAILED.match(line):
            self._has_no_result(failed[1])
            self._add(_Line(self._where(number), failed[1], self.about, self.output, reason="-"))
        elif ENDED.match(line):
            self._has_no_result()
            self.unended = 0
            self._begin()
        elif LEFT_OUT.match(line):
            self._reason(line)
        elif begun := BEGUN.fullmatch(line):
            self._has_no_result()
            self.begun = begun[1], number
        elif self.begun and (rest := REST.fullmatch(line)):
            name, line_of_name = self.begun
            self.source.note(
                f"{_short(name)} is read from lines {line_of_name} and {number}{self.of}: "
                "something else was printed between."
            )
            self.begun = None
            self._result(number, name, int(rest[1]), rest[2].strip())
        elif not self._setting(line):
            self.source.unknown(number)

    def _result(self, number: int, name: str, iterations: int, measured: str) -> None:
        self._has_no_result()
        self.head, self.unended = False, number
        self._add(_Line(self._where(number), name, self.about, self.output, iterations, measured))

    def _add(self, line: _Line) -> None:
        if line.name.count("/") > MOST_PARTS:
            refuse("", f"{line.where}: The name has more than {MOST_PARTS} parts.")
        self.lines.append(line)

    def _reason(self, line: str) -> None:
        """Take the first indented line below a failure as its reason."""
        if self.lines and self.lines[-1].reason == "-" and line[:1].isspace():
            self.lines[-1].reason = line.strip()

    def _setting(self, line: str) -> bool:
        setting = SETTING.fullmatch(line)
        if setting is None:
            return False
        key, value = setting[1], setting[2].strip()
        if key in ("goos", "pkg") and not self.head and " " not in value:
            self._end()
            self._begin()
        if not self.head or (len(self.about) >= MOST_SETTINGS and key not in self.about):
            return False
        self.about = {**self.about, key: value}
        return True

    def _begin(self) -> None:
        self.output += not self.head
        self.head = True

    def _end(self) -> None:
        if self.unended:
            self.source.note(
                f"The output that ends with line {self.unended}{self.of} has no PASS or FAIL at its end: go test "
                "was stopped, or lines were left out."
            )
        self.unended = 0

    def _has_no_result(self, name: str = "") -> None:
        """Note a benchmark that began and has no result. name: of what failed in this line."""
        if self.begun and self.begun[0] != name:
            begun, number = self.begun
            self.source.note(f"{_short(begun)} has no result: line {number}{self.of}.")
        self.begun = None

    def _where(self, number: int) -> str:
        return f"line {number}{self.of}"


def _short(name: str) -> str:
    return name[:80]


def _slashes(name: str) -> list[int]:
    return [place for place, letter in enumerate(name) if letter == "/"]


class _Processors:
    """Which numbers at the ends of names are those of processors, by output.

    go test appends `-8` to all names of an output, or those of -cpu to each name. Other numbers belong to the name.
    constant: the number that all benchmarks have.
    """

    def __init__(self, lines: Iterable[_Line]) -> None:
        found: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for line in lines:
            if not line.reason:
                base, number = _parted(line.name)
                found[line.output][base].add(number)
        for output, of_names in found.items():
            found[output] = _regrouped(of_names)
        read = {output: _numbers(of_names) for output, of_names in found.items()}
        self._of = {output: numbers for output, (numbers, _) in read.items()}
        self.guessed = any(guessed for _, guessed in read.values())
        every = {number for numbers in self._of.values() for number in numbers}
        self.several = len(every) > 1
        sure = len({base for of_names in found.values() for base in of_names}) > 1
        alike = sure and len(every) == 1 and all(self._of.values()) and every != {1}
        self.constant = next(iter(every)) if alike else 0

    def parted(self, line: _Line) -> tuple[str, int]:
        """Return the name without the number of processors, and the number; 0 if nothing says so."""
        base, number = _parted(line.name)
        numbers = self._of.get(line.output, set())
        if 1 in numbers and number not in numbers:
            return line.name, 1
        if number in numbers and not (line.reason and base == line.name):
            return base, number
        return line.name, 0


def _parted(name: str) -> tuple[str, int]:
    """Return a name and the number at its end, which go test leaves out if it is 1."""
    match = PROCESSORS.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 1)


def _regrouped(of_names: dict[str, set[int]]) -> dict[str, set[int]]:
    """Return the numbers of names so that one of -cpu 1, where the name has another number at its end, is 1.

    `-cpu 1,2` gives Copy/size-8 and Copy/size-8-2: the names of functions have no dash, so their numbers are those
    of processors, and others belong to the name.
    """
    sure = {number for base, numbers in of_names.items() if "/" not in base for number in numbers}
    if 1 not in sure or len(sure) == 1:
        return of_names
    result: dict[str, set[int]] = defaultdict(set)
    for base, numbers in of_names.items():
        for number in numbers:
            name, cpu = (base, number) if number in sure else (f"{base}-{number}", 1)
            result[name].add(cpu)
    return result


def _numbers(of_names: dict[str, set[int]]) -> tuple[set[int], bool]:
    """Return the numbers of processors of an output, and whether they are a guess.

    They are the same for all names, or the same several for two names at least. Where one name alone has several
    numbers, or only parts of benchmarks have them and always, they may be of -cpu, or part of the name.
    """
    every = set().union(*of_names.values())
    alike = sum(numbers == every for numbers in of_names.values())
    if len(every) == 1 or alike:
        plain = any(len(numbers) > 1 and "/" not in base for base, numbers in of_names.items())
        return every, len(every) > 1 and (alike == 1 or not (plain or 1 in every))
    return set(), False


def _levels(line: _Line, processors: _Processors) -> dict[str, Scalar]:
    """Return the benchmark, its sub-benchmarks (/key=value by its key, others by position), and settings."""
    name, number = processors.parted(line)
    first, *parts = name.split("/")
    levels: dict[str, Scalar] = {"benchmark": first.removeprefix("Benchmark") or first}
    for place, part in enumerate(parts, 1):
        key, _, value = part.partition("=")
        named = bool(key and value) and key not in levels
        levels[key if named else f"part {place}"] = value if named else part
    if processors.several and number:
        levels["processors"] = number
    for key, setting in line.about.items():
        if not TIMES.fullmatch(key):
            levels.setdefault("package" if key == "pkg" else key, setting)
    return levels


def _guessed(lines: list[_Line], levels: list[dict[str, Scalar]]) -> list[str]:
    """Return the settings in which runs differ, and that may be lines of a log."""
    settings = {key for line in lines for key in line.about} - DECLARED
    return [key for key in dict.fromkeys(key for each in levels for key in each) if key in settings]


def _check(line: _Line, units: Counter[str]) -> None:
    """Raise BadFile if a unit stands once and is the beginning of one that all others have: the line was cut.

    units: how often each is in the file.
    """
    last = line.measured.split()[-1:]
    for unit in last:
        if units[unit] == 1 and any(
            units[each] > 1 and each.startswith(unit) for each in units if each != unit
        ):
            refuse(line.where, f"The unit “{unit[:40]}” is not whole; the line was cut.")


def _run(builder: Builder, line: _Line, levels: dict[str, Scalar]) -> None:
    if line.reason:
        reason = "the benchmark failed" if line.reason == "-" else line.reason
        builder.run(levels, {}, reason=reason, units_failed=1)
        return
    values: dict[str, float] = {}
    fields = line.measured.split()
    if len(fields) % 2 or fields[1].endswith("/"):
        refuse(line.where, "A number without its unit; the line is not whole.")
    for text, unit in zip(fields[::2], fields[1::2], strict=True):
        number = number_of(text)
        if number is None or (unit in KNOWN and number < 0):
            refuse(
                line.where, f"“{text[:40]}” is no number; go test writes pairs of number and unit."
            )
        metric, factor = KNOWN.get(unit) or (_own(unit), 1.0)
        if metric.name in values:
            refuse(line.where, f"The unit {unit[:40]} is there twice; which number holds?")
        builder.declare(metric)
        values[metric.name] = number * factor
    builder.run(levels, values, units_done=line.iterations)


def _own(unit: str) -> ReadMetric:
    """Return a metric of the benchmark's own: its unit is its name; only rates and costs have a direction."""
    lower = False if unit.endswith("/s") else True if unit.endswith("/op") else None
    name = f"reported_{unit}" if unit in {metric.name for metric, _ in KNOWN.values()} else unit
    return ReadMetric(name[:80], unit[:80], UNKNOWN_UNIT, lower, "aggregated")


reader = GoBench()
