"""Read Bencher Metric Format: JSON objects of benchmarks, their measures, and the value of each."""

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

KNOWN = {
    "latency": (ReadMetric("latency", "Latency", "s", True, "aggregated"), 1e-9),
    "throughput": (ReadMetric("throughput", "Throughput", "1/s", False, "aggregated"), 1.0),
}
"""The measures that every project of Bencher has; their units are nanoseconds, and operations per second."""
TEXT = rb'"(?:[^"\\]|\\.){1,1100}"'
HEAD = re.compile(
    rb"\s{0,99}\{\s{0,99}"
    + TEXT
    + rb"\s{0,99}:\s{0,99}\{\s{0,99}"
    + TEXT
    + rb'\s{0,99}:\s{0,99}\{\s{0,99}"(?:value|lower_value|upper_value)"\s{0,99}:'
)
OTHERS = re.compile(rb'\s{0,99}\{\s{0,99}"(?:metrics|results|root_group|data)"\s{0,99}:')
"""Objects of other tools whose first entry looks like a benchmark's: k6's metrics, opl's results."""


class Bmf:
    """The benchmark is a factor where there are several."""

    name = "bmf"
    label = "Bencher Metric Format"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether the file begins with a benchmark, its measure, and the value of that."""
        first = from_document(head)
        return bool(HEAD.match(first)) and not OTHERS.match(first)

    def read(self, source: Source, options: Options) -> Read:
        """Read every benchmark of every object in the file."""
        builder = Builder(self.name, self.label, work=("benchmark",))
        builder.declare(*(metric for metric, _ in KNOWN.values()))
        found = [
            (name, _values(builder, source, measures))
            for document in documents(source)
            for name, measures in document.items()
        ]
        several = len({name for name, _ in found}) > 1
        for name, values in found:
            reason = "" if values else "the benchmark has no value"
            builder.run({"benchmark": name} if several else {}, values, reason=reason)
        builder.drop(
            "lower_value and upper_value are left out: the file does not say what they are. A benchmark of one "
            "object is one run."
        )
        return builder.build(
            name="Bencher Metric Format" if several else "".join(name for name, _ in found[:1]),
            question="How long does each benchmark take, and what changes it?",
            primary=[metric.name for metric, _ in KNOWN.values()],
            tags=("bencher",),
        )


def _values(builder: Builder, source: Source, measures: Node) -> dict[str, float]:
    """Return the values of a benchmark by measure; a bad one is left out, and noted."""
    values: dict[str, float] = {}
    for key, measure in measures.items():
        try:
            if key in KNOWN:
                metric, factor = KNOWN[key]
                values[metric.name] = measure.at("value").seconds(factor)
                continue
            number = measure.at("value").number()
        except BadFile as problem:
            where, reason = problem.problems[0]
            source.note(f"{where} is left out: {reason}")
            continue
        own = ReadMetric(key[:80], key[:80], UNKNOWN_UNIT, None, "aggregated")
        builder.declare(own)
        builder.drop("The file does not tell units of other measures, nor which way is better.")
        values[own.name] = number
    return values


reader = Bmf()
