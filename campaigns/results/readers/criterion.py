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
TIME = re.compile(r"(\S.{0,500}?)?[ \t]{1,60}time:[ \t]{1,9}\[(.{1,200})$")
BOUNDS = re.compile(r"(\S{1,40}) (\S{1,5}) (\S{1,40}) (\S{1,5}) (\S{1,40}) (\S{1,5})\][ \r]{0,9}")
HEAD = re.compile(rb"time: {1,9}\[[\d.]{1,20} \S{1,4} [\d.]{1,20} \S{1,4} [\d.]{1,20} \S{1,4}\]")


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
            _retained(builder, documents(source.text()))
        else:
            builder.declare(PRINTED)
            _printed(builder, source.text())
        builder.drop(
            "Samples follow one another in one process: each benchmark is one run with its estimates. Compare "
            "by running cargo bench several times. What Criterion says of changes is left out."
        )
        return builder.build(
            name="Criterion.rs",
            question="How long does each benchmark take, and what changes it?",
            primary=["duration_mean", PRINTED.name],
            tags=("criterion",),
        )


def _retained(builder: Builder, provided: list[Node]) -> None:
    """Read files: benchmark.json, followed by estimates.json, sample.json and others, which are ignored."""
    result: list[tuple[dict[str, Scalar], dict[str, Node]]] = []
    for each in provided:
        if "group_id" in each:
            result.append((_levels(each), {}))
        elif not result:
            refuse(
                each.path, "Begin with benchmark.json, which names the benchmark: sort the files."
            )
        elif "mean" in each:
            result[-1][1]["estimates"] = each
        elif "iters" in each:
            result[-1][1]["sample"] = each
    levels, shared = varying([about for about, _ in result])
    for (about, files), differing in zip(result, levels, strict=True):
        if "estimates" not in files:
            refuse(
                "",
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


def _printed(builder: Builder, text: str) -> None:
    """Read printed output. The name is before `time:`, or on the line above if it is long."""
    result: list[tuple[str, float]] = []
    above = ""
    for place, line in enumerate(text.split("\n"), 1):
        time, name, above = TIME.match(line), above, line
        if time is None:
            continue
        where, bounds = f"line {place}", BOUNDS.fullmatch(time[2])
        name = (time[1] or name).strip()
        if bounds is None or not name:
            refuse(where, "The line is not whole; Criterion prints three times with their units.")
        number, unit = number_of(bounds[3]), bounds[4]
        if number is None or number < 0 or unit not in SECONDS:
            refuse(where, f"“{bounds[3]} {unit}” is no time in {', '.join(SECONDS)}.")
        result.append((name, number * SECONDS[unit]))
    several = len({name for name, _ in result}) > 1
    for name, seconds in result:
        builder.run({"benchmark": name} if several else {}, {PRINTED.name: seconds})
    builder.drop(
        "Criterion rounds what it prints to five digits; its files below target/criterion hold all of them, "
        "and name group, function and value."
    )


reader = Criterion()
