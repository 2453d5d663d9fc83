"""Read Criterion.rs: the files of its benchmarks, concatenated, or the output of `cargo bench`."""

import re

from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    documents,
    refuse,
    varying,
)
from campaigns.results.readers.base.runners import without_prefixes
from campaigns.results.readers.base.texts import number_of

ESTIMATES = {
    "mean": ("duration_mean", "Mean duration"),
    "median": ("duration_median", "Median duration"),
    "slope": ("duration_slope", "Duration by the slope over iterations"),
    "std_dev": ("duration_stddev", "Standard deviation of duration"),
}
PRINTED = ReadMetric("duration", "Duration", "s", True, "rounded")
PARTS = {"function_id": "function", "value_str": "value"}
SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
MICRO = {"\u03bcs": "µs", "\u00c2\u00b5s": "µs", "\u252c\u2561s": "µs"}
"""Microseconds with the Greek letter, and as Windows writes them in code pages 1252 and 437."""
TIME = re.compile(r"(\S.{0,500}?)?[ \t]{1,60}time:[ \t]{1,9}\[(.{1,200})$")
BOUNDS = re.compile(r"(\S{1,40}) (\S{1,5}) (\S{1,40}) (\S{1,5}) (\S{1,40}) (\S{1,5})\][ \r]{0,9}")
HEAD = re.compile(rb"time: {1,9}\[[\d.]{1,20} \S{1,12} [\d.]{1,20} \S{1,12} [\d.]{1,20} \S{1,12}\]")
MARK = re.compile(r"(?<=[\]|>:Z\d] )(?=[^\s\d]\S{1,300} {1,60}time: {1,9}\[\d)")
CHANGE = re.compile(r"[ \t]+change:")
CHANGES = re.compile(r"[ \t]*(?:time|thrpt):[ \t]{1,9}\[ ?[-+−]?[\d.]+%")
KNOWN = re.compile(
    r"[ \t]+(?:change|thrpt|time):|[ \t]+(?:Performance has|Change within|No change)|Found \d+ outliers|[ \t]+\d+ \(|"
    r"Benchmarking |running \d+ test|test |Gnuplot |Warning: |[ \t]+(?:Compiling|Finished|Running|Blocking|Updating)|"
    r"\S.*\btime:[ \t]|Collecting |Analyzing |Complete"
)
"""Lines of Criterion and of cargo bench."""
LONG = 23
"""A longer name stands on a line of its own, above the times."""


class Criterion:
    """The group is a factor where there are several; so are function and value."""

    name = "criterion"
    label = "Criterion.rs"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is benchmark.json, a benchmark's first file, or a line with time: [low mid high]."""
        return (b'"group_id"' in head and b'"full_id"' in head) or bool(HEAD.search(head))

    def read(self, source: Source, options: Options) -> Read:
        """Read every benchmark in the file."""
        builder = Builder(self.name, self.label, work=("group", "benchmark"))
        if b'"group_id"' in source.head:
            builder.declare(
                *(
                    ReadMetric(name, label, "s", True, "aggregated")
                    for name, label in ESTIMATES.values()
                )
            )
            _retained(builder, source, documents(source))
        else:
            builder.declare(PRINTED)
            _printed(builder, source)
        builder.drop(
            "Samples follow one another in one process: each benchmark is one run with its estimates. Compare "
            "by running cargo bench several times. What Criterion says of changes and throughput is left out."
        )
        return builder.build(
            name="Criterion.rs",
            question="How long does each benchmark take, and what changes it?",
            primary=["duration_mean", PRINTED.name],
            tags=("criterion",),
        )


def _retained(builder: Builder, source: Source, provided: list[Node]) -> None:
    """Read files: benchmark.json, followed by estimates.json, sample.json and others, which are ignored."""
    result: list[tuple[Node, dict[str, Scalar], dict[str, Node]]] = []
    for each in provided:
        if "group_id" in each:
            result.append((each, _levels(each), {}))
        elif not result:
            refuse(
                each.path, "Begin with benchmark.json, which names the benchmark: sort the files."
            )
        elif key := "estimates" if "mean" in each else "sample" if "iters" in each else "":
            if key in result[-1][2]:
                source.note(
                    f"{(each.path or 'The file').capitalize()}: a second {key}.json after one benchmark.json is left out. It is of "
                    "another benchmark, or of the folder “change”."
                )
                continue
            result[-1][2][key] = each
    levels, shared = varying([about for _, about, _ in result])
    for (benchmark, about, files), differing in zip(result, levels, strict=True):
        with source.spare("A benchmark"):
            if "estimates" not in files:
                refuse(
                    benchmark.path or "the whole file",
                    f"There is no estimates.json after benchmark.json of {str(about['group'])[:80]}.",
                )
            estimates = files["estimates"]
            values = {
                name: estimates.at(key).at("point_estimate").seconds(1e-9)
                for key, (name, _) in ESTIMATES.items()
                if key in estimates
            }
            sample = files.get("sample")
            done = sum(each.count() for each in sample.at("iters").elements()) if sample else 0
            builder.run(differing, values, units_done=done)
    for name, value in shared.items():
        builder.note(name, value)


def _levels(benchmark: Node) -> dict[str, Scalar]:
    levels: dict[str, Scalar] = {"group": benchmark.at("group_id").text()}
    return levels | {
        name: benchmark.at(key).text() for key, name in PARTS.items() if key in benchmark
    }


def _printed(builder: Builder, source: Source) -> None:
    """Read printed output."""
    result: list[tuple[str, float]] = []
    printed = source.text()
    if printed.rpartition("\n")[2]:
        source.note("The output ends within a line: it was cut, and benchmarks may be missing.")
    for text in without_prefixes(printed, MARK):
        result += _times(source, text)
    several = len({name for name, _ in result}) > 1
    for name, seconds in result:
        builder.run({"benchmark": name} if several else {}, {PRINTED.name: seconds})
    builder.drop(
        "Criterion rounds what it prints to five digits; its files below target/criterion hold all of them, "
        "and name group, function and value."
    )


def _times(source: Source, text: str) -> list[tuple[str, float]]:
    """Return name and seconds of each benchmark. A long name is on the line above; what changed is left out."""
    result: list[tuple[str, float]] = []
    above = before = ""
    changing = odd = False
    for place, line in enumerate(text.split("\n"), 1):
        line = line.rpartition("\r")[2]
        time = TIME.match(line)
        named_above = odd and time is not None and not time[1]
        if odd and not named_above:
            source.unknown(place - 1)
        odd = bool(line.strip()) and not KNOWN.match(line)
        if CHANGE.match(line):
            changing = True
        elif time is not None and not (CHANGES.match(line) or (changing and not time[1])):
            changing = False
            with source.spare("A benchmark"):
                result.append(_benchmark(f"line {place}", time, above, before))
        before, above = above, line
    if odd:
        source.unknown(place)
    return result


def _benchmark(where: str, time: re.Match[str], above: str, before: str) -> tuple[str, float]:
    """Return name and seconds of a line. above, before: the two lines above it. Raise BadFile."""
    name, bounds = (time[1] or "").strip(), BOUNDS.fullmatch(time[2])
    if not name and len(above) > LONG and not KNOWN.match(above):
        name = above.strip()
        if before.strip() and not KNOWN.match(before):
            refuse(where, "Its name is not clear: two lines above it may be the name.")
    if bounds is None:
        refuse(where, "The line is not whole; Criterion prints three times with their units.")
    if not name:
        refuse(where, "The name of the benchmark stands neither in this line nor above it.")
    number, unit = number_of(bounds[3]), MICRO.get(bounds[4], bounds[4])
    if number is None or number < 0 or unit not in SECONDS:
        refuse(where, f"“{bounds[3]} {unit}” is no time in {', '.join(SECONDS)}.")
    return name, number * SECONDS[unit]


reader = Criterion()
