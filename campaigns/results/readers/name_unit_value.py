"""Read lists of name, unit and value, as github-action-benchmark takes them (customSmallerIsBetter, customBiggerIsBetter)."""

import re

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import (
    UNKNOWN_UNIT,
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Source,
    documents,
    from_document,
)

TIMES = {
    "ns": 1e-9,
    "nanoseconds": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "microseconds": 1e-6,
    "ms": 1e-3,
    "milliseconds": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "secs": 1.0,
}
RATES = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": 1 / 60}
BYTES = {
    "B": 1.0,
    "bytes": 1.0,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
}
DONE = ("ops", "op", "iter", "req", "requests", "operations", "1", "iterations")
FIRST = re.compile(rb"\s{0,99}\[\s{0,99}(\{[^{}]{1,5000}\})")
KEYS = (b'"name"', b'"unit"', b'"value"')


class NameUnitValue:
    """The name is a factor where there are several; values of one unit are one metric. The file does not say which way is better."""

    name = "name_unit_value"
    label = "list of name, unit and value"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a list whose first entry has the three keys."""
        first = FIRST.match(from_document(head))
        return first is not None and all(key in first[1] for key in KEYS)

    def read(self, source: Source, options: Options) -> Read:
        """Read every entry of every list in the file."""
        builder = Builder(self.name, self.label, work=("name",))
        found: list[tuple[str, str, float]] = []
        for document in documents(source):
            for entry in document.elements():
                try:
                    found.append(_entry(builder, entry))
                except BadFile as problem:
                    where, reason = problem.problems[0]
                    source.note(f"{where} is left out: {reason}")
        several = len({name for name, _, _ in found}) > 1
        for name, metric, value in found:
            builder.run({"name": name} if several else {}, {metric: value})
        builder.drop("range and extra are left out. Each entry is one run.")
        return builder.build(
            name="Benchmarks" if several else "".join(name for name, _, _ in found[:1]),
            question="What do these benchmarks measure?",
            primary=(),
            tags=(),
        )


def _entry(builder: Builder, entry: Node) -> tuple[str, str, float]:
    """Return name, metric and value of an entry, in base units where its unit is known."""
    name, unit, value = entry.at("name").text(), entry.at("unit").text(), entry.at("value").number()
    metric, factor = _meaning(unit)
    builder.declare(metric)
    return name, metric.name, value * factor


def _meaning(unit: str) -> tuple[ReadMetric, float]:
    """Return the metric of a unit, and the factor to its base unit."""
    over, _, under = unit.partition("/")
    if over in TIMES and under in ("", *DONE):
        return ReadMetric("duration", "Duration", "s", None, "aggregated"), TIMES[over]
    if over in DONE and under in RATES:
        return ReadMetric("rate", "Rate", "1/s", None, "aggregated"), RATES[under]
    if over in BYTES and under in ("", *RATES):
        metric = ReadMetric("size", "Size", "B", None, "aggregated")
        if under:
            metric = ReadMetric("throughput", "Throughput", "B/s", None, "aggregated")
        return metric, BYTES[over] * RATES.get(under, 1.0)
    label = f"Value in {unit}" if unit else "Value"
    return ReadMetric(label[:80], label[:80], UNKNOWN_UNIT, None, "aggregated"), 1.0


reader = NameUnitValue()
