"""Read JMH, `-rf json`: a run for each fork, or for each iteration where there is only one fork."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, fsum

from campaigns.kit.errors import BadFile
from campaigns.kit.numbers import counted
from campaigns.results.readers.base import (
    UNKNOWN_UNIT,
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
from campaigns.results.readers.base.building import some
from campaigns.results.readers.base.metrics import PERCENTILES, percentile
from campaigns.results.readers.base.streams import BEYOND

SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "hr": 3600.0,
    "day": 86400.0,
}
DURATION = ReadMetric("duration", "Time per operation", "s", True, "aggregated")
RATE = ReadMetric("operation_rate", "Operations per second", "1/s", False, "aggregated")
MODES = {
    "thrpt": "throughput",
    "avgt": "average time",
    "sample": "sampled time",
    "ss": "single shot",
}
SETTINGS = ("jvm", "jvmArgs", "jdkVersion", "vmName", "vmVersion", "measurementBatchSize")
"""What differs between entries is a factor; what does not is noted."""
FACTS = {"jmhVersion": "JMH", "jdkVersion": "JDK", "vmName": "VM", "vmVersion": "VM version"}
OF_SAMPLES = re.compile(r"(.*[:·])?p[01]\.\d{1,6}")
OTHER_FORMS = (b"Benchmark ", b'"Benchmark"')
"""How the heading begins of what JMH prints, and of -rf csv, scsv and text."""


@dataclass(frozen=True, slots=True)
class _Score:
    """The scores of a metric in one run, with the number of each: more than 1 in the mode `sample`."""

    pairs: tuple[tuple[float, int], ...]
    iteration: str = ""

    def mean(self) -> float:
        return fsum(value * number for value, number in self.pairs) / self.count()

    def count(self) -> int:
        return sum(number for _, number in self.pairs)

    def percentile(self, percent: float) -> float | None:
        """Return it by nearest rank; None with too few samples at and beyond it."""
        total = self.count()
        rank = max(1, ceil(total * percent / 100))
        if total - rank + 1 < BEYOND:
            return None
        for value, number in sorted(self.pairs):
            rank -= number
            if rank <= 0:
                return value
        return None


class Jmh:
    """Benchmark, mode and threads are factors where they differ; so are parameters and the virtual machine."""

    name = "jmh"
    label = "JMH"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the keys that every entry has, or the heading of another form."""
        keys = all(key in head for key in (b'"benchmark"', b'"mode"', b'"primaryMetric"'))
        return keys or any(_is_heading(line) for line in head.splitlines())

    def read(self, source: Source, options: Options) -> Read:
        """Read every entry of every list in the file."""
        if b'"primaryMetric"' not in source.head:
            refuse(
                "",
                "This form of JMH's results is rounded, and does not tell the forks apart; measure with -rf json "
                "-rff FILE, and import that file.",
            )
        builder = Builder(self.name, self.label, work=("benchmark", "mode"))
        builder.declare(DURATION, RATE)
        for each in PERCENTILES:
            builder.declare(
                ReadMetric(
                    percentile(each), f"Time per operation, p{each:g}", "s", True, "aggregated"
                )
            )
        entries = [entry for each in documents(source) for entry in _entries(each)]
        levels, shared = varying([_levels(entry) for entry in entries])
        for entry, differing in zip(entries, levels, strict=True):
            _runs(builder, source, entry, differing)
        for entry in entries:
            for key, name in FACTS.items():
                if key in entry and key not in _differing(levels):
                    builder.fact(name, entry.at(key).scalar())
        for name, value in shared.items():
            builder.note(name, value)
        builder.drop(
            "Benchmarks that failed are not in JMH's file. Its errors and confidence intervals are left out, since "
            "they take iterations of one JVM for independent."
        )
        return builder.build(
            name=f"JMH: {shared.get('benchmark', 'several')}",
            question="How long does each benchmark take, and what changes it?",
            primary=[DURATION.name, RATE.name],
            tags=("jmh",),
        )


def _is_heading(line: bytes) -> bool:
    return line.startswith(OTHER_FORMS) and b"Mode" in line and b"Score" in line


def _differing(levels: list[dict[str, Scalar]]) -> set[str]:
    """Return the names of settings in which runs differ."""
    return {name for each in levels for name in each}


def _entries(document: Node) -> list[Node]:
    """Return the entries of a file; a single one is an object."""
    return [document] if "primaryMetric" in document else document.elements()


def _levels(entry: Node) -> dict[str, Scalar]:
    mode = entry.at("mode").text()
    levels: dict[str, Scalar] = {
        "benchmark": entry.at("benchmark").text(),
        "mode": MODES.get(mode, mode),
    }
    if "threads" in entry:
        levels["threads"] = entry.at("threads").count()
    for key in SETTINGS:
        if key in entry:
            levels[key] = entry.at(key).scalar()
    params = entry.get("params")
    for key, value in params.items() if params is not None else ():
        levels[f"param {key}" if key in levels else key] = value.scalar()
    return levels


def _runs(builder: Builder, source: Source, entry: Node, levels: dict[str, Scalar]) -> None:
    """Add the runs of an entry; one whose unit is not known is left out, and noted."""
    try:
        primary = entry.at("primaryMetric")
        metric, factor = _meaning(primary, entry.at("mode").text())
        scores = _scores(builder, primary)
    except BadFile as problem:
        where, reason = problem.problems[0]
        source.note(f"An entry is left out ({where}): {reason}")
        return
    others = list(_secondary(builder, entry, len(scores)))
    for place, score in enumerate(scores):
        if isinstance(score, str):
            builder.run(levels, {}, reason=score, units_failed=1)
            continue
        values = {metric.name: score.mean() * factor}
        if score.count() > len(score.pairs) or entry.at("mode").value == "sample":
            for percent in PERCENTILES:
                if (value := score.percentile(percent)) is not None:
                    values[percentile(percent)] = value * factor
        for other, times, parts in others:
            part = parts[place]
            if not isinstance(part, str):
                values[other.name] = part.mean() * times
        sampled = entry.at("mode").value == "sample"
        builder.run(levels, values, units_done=score.count() if sampled else 0)


def _meaning(part: Node, mode: str) -> tuple[ReadMetric, float]:
    """Return the metric of a score, and the factor from its unit to seconds, or operations per second."""
    unit = part.at("scoreUnit").text()
    over, _, under = unit.partition("/")
    if under == "op" and over in SECONDS:
        return DURATION, SECONDS[over]
    if over != "ops" or under not in SECONDS:
        refuse(
            part.path,
            f"The score of mode “{mode[:20]}” is in “{unit[:40]}”, which is neither time nor rate.",
        )
    return RATE, 1 / SECONDS[under]


def _scores(builder: Builder, part: Node) -> list[_Score | str]:
    """Return the scores of each run: a fork, or an iteration if there is only one fork; or why there is none."""
    if "rawDataHistogram" in part:
        forks = [
            [_histogram(each) for each in fork.elements()]
            for fork in part.at("rawDataHistogram").elements()
        ]
    elif "rawData" in part:
        forks = [
            [_Score(((each.seconds(), 1),)) if _measured(each) else "" for each in fork.elements()]
            for fork in part.at("rawData").elements()
        ]
    else:
        builder.drop("Entries without rawData are one run each, with their score.")
        return [_Score(((part.at("score").seconds(), 1),))]
    if len(forks) == 1:
        builder.drop(
            "Iterations of one JVM are runs where there is one fork only: what differs between JVMs is not in "
            "them. Measure with -f 5."
        )
        return [each or "the iteration has no score" for each in forks[0]]
    if len({len(each) for each in forks}) > 1:
        builder.drop("Not all forks have the same number of iterations.")
    if missing := sum(not each for fork in forks for each in fork):
        builder.drop(
            f"{counted(missing, 'iteration')} without a score {'is' if missing == 1 else 'are'} left out of the means of forks."
        )
    return [_joined(fork) for fork in forks]


def _histogram(iteration: Node) -> _Score | str:
    pairs = tuple(
        (pair.elements()[0].seconds(), pair.elements()[1].count())
        for pair in iteration.elements()
        if len(pair.elements()) == 2
    )
    return _Score(pairs) if sum(number for _, number in pairs) else ""


def _measured(value: Node) -> bool:
    """Return whether there is a number: JMH writes "NaN" as a text where there is none."""
    return isinstance(value.value, int | float) and value.value == value.value


def _joined(fork: list[_Score | str]) -> _Score | str:
    pairs = tuple(pair for each in fork if not isinstance(each, str) for pair in each.pairs)
    return _Score(pairs) if pairs else "the fork has no score"


def _secondary(
    builder: Builder, entry: Node, runs: int
) -> Iterator[tuple[ReadMetric, float, list[_Score | str]]]:
    """Yield what else was measured: methods of a group, and what profilers count per operation."""
    others = entry.get("secondaryMetrics")
    left: list[str] = []
    for key, part in others.items() if others is not None else ():
        name = key.lstrip("·")
        unit = part.at("scoreUnit").text() if "scoreUnit" in part else ""
        if OF_SAMPLES.fullmatch(key):
            continue
        try:
            scores = _scores(builder, part)
        except BadFile:
            scores = []
        over, _, under = unit.partition("/")
        if len(scores) != runs or not (under == "op" or over == "ops"):
            left.append(f"{name} ({unit})")
            continue
        if under in SECONDS or over in SECONDS:
            meaning, factor = _meaning(part, "")
            metric = ReadMetric(
                f"{meaning.name}_{name}"[:80],
                f"{meaning.label}: {name}"[:100],
                meaning.unit,
                meaning.lower_is_better,
                "aggregated",
            )
        else:
            base = "B" if over == "B" else UNKNOWN_UNIT
            metric, factor = (
                ReadMetric(name[:80], f"{name} per operation", base, True, "aggregated"),
                1.0,
            )
        builder.declare(metric)
        yield metric, factor, scores
    if left:
        builder.drop(f"What is not per operation is left out: {some(left)}.")


reader = Jmh()
