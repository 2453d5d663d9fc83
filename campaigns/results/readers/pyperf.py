"""Read pyperf, its JSON: one run for each process that it started, with the mean of its values."""

from math import fsum

from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    begins_document,
    documents,
    refuse,
    varying,
)
from campaigns.results.readers.base.metrics import DURATION

UNITS = {
    "second": ReadMetric(DURATION.name, "Duration", "s", True, "aggregated"),
    "byte": ReadMetric("size", "Size", "B", True, "aggregated"),
    "integer": ReadMetric("number", "Number", "count", True, "aggregated"),
}
MEMORY = ReadMetric("memory", "Peak memory", "B", True, "raw")
MEMORY_KEYS = ("mem_max_rss", "command_max_rss")
SETTINGS = ("python_implementation", "python_version", "python_executable", "hostname")
"""Metadata that distinguishes concatenated files: factors if they differ."""
FACTS = (
    "cpu_model_name",
    "cpu_count",
    "cpu_config",
    "cpu_freq",
    "aslr",
    "platform",
    "python_compiler",
)


class Pyperf:
    """The benchmark is a factor where there are several; so is the interpreter."""

    name = "pyperf"
    label = "pyperf"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are benchmarks that have runs with values, or with warm-ups."""
        return (
            begins_document(head)
            and b'"benchmarks"' in head
            and b'"runs"' in head
            and (b'"warmups"' in head or b'"values"' in head)
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the benchmarks of every suite in the file."""
        builder = Builder(self.name, self.label, work=("benchmark",))
        builder.declare(*UNITS.values(), MEMORY)
        results: list[tuple[Node, dict[str, Node]]] = []
        for suite in documents(source):
            with source.spare("A suite"):
                results += _benchmarks(suite)
        levels, shared = varying([_levels(about) for _, about in results])
        for (benchmark, about), differing in zip(results, levels, strict=True):
            with source.spare("A benchmark"):
                _runs(builder, source, benchmark, about, differing)
            for key in FACTS:
                if key in about:
                    builder.fact(key.replace("_", " "), about[key].scalar())
        for name, value in shared.items():
            (builder.note if name == "benchmark" else builder.fact)(name, value)
        builder.drop(
            "Values of one process are samples of one run, which has their mean. Warm-ups and calibration are "
            "left out, and when each run began: pyperf writes it without a time zone."
        )
        return builder.build(
            name=f"pyperf: {shared.get('benchmark', 'several')}",
            question="How long does each benchmark take, and what changes it?",
            primary=[metric.name for metric in UNITS.values()],
            tags=("pyperf",),
        )


def _benchmarks(suite: Node) -> list[tuple[Node, dict[str, Node]]]:
    """Return each benchmark with the metadata of the suite and its own."""
    common = _about(suite)
    return [(each, common | _about(each)) for each in suite.at("benchmarks").elements()]


def _about(node: Node) -> dict[str, Node]:
    metadata = node.get("metadata")
    return dict(metadata.items()) if metadata is not None else {}


def _levels(about: dict[str, Node]) -> dict[str, Scalar]:
    levels: dict[str, Scalar] = {
        "benchmark": about["name"].text() if "name" in about else "unnamed"
    }
    return levels | {key.replace("_", " "): about[key].scalar() for key in SETTINGS if key in about}


def _runs(
    builder: Builder,
    source: Source,
    benchmark: Node,
    about: dict[str, Node],
    levels: dict[str, Scalar],
) -> None:
    for run in benchmark.at("runs").elements():
        with source.spare():
            _run(builder, run, about | _about(run), levels)


def _run(builder: Builder, run: Node, own: dict[str, Node], levels: dict[str, Scalar]) -> None:
    """Add the run of one process; calibration, which has no values, is none."""
    unit = own["unit"].text() if "unit" in own else "second"
    if unit not in UNITS:
        refuse(run.path, f"The unit “{unit[:20]}” is none of {', '.join(UNITS)}.")
    samples = [each.seconds() for each in run.at("values").elements()] if "values" in run else []
    if not samples:
        return
    values = {UNITS[unit].name: fsum(samples) / len(samples)}
    memory = next((own[key].seconds() for key in MEMORY_KEYS if key in own), None)
    if memory is not None:
        values[MEMORY.name] = memory
    builder.run(levels, values, units_done=len(samples))


reader = Pyperf()
