"""Read Google Benchmark, `--benchmark_out_format=json`: one run for each repetition, in seconds."""

import re
from collections import Counter

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
from campaigns.results.readers.base.metrics import DURATION

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
TIMES = {
    "real_time": ReadMetric(DURATION.name, "Time per iteration", "s", True, "aggregated"),
    "cpu_time": ReadMetric("cpu_time", "Processor time per iteration", "s", True, "aggregated"),
}
RATES = {
    "bytes_per_second": ReadMetric("throughput", "Throughput", "B/s", False, "aggregated"),
    "items_per_second": ReadMetric("item_rate", "Items per second", "1/s", False, "aggregated"),
}
ITS_OWN = {
    *("family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads"),
    *("iterations", *TIMES, *RATES),
}
"""Numbers that are not counters of the benchmark's author."""
OURS = {metric.name for metric in (*TIMES.values(), *RATES.values())}
STATISTICS = ("mean", "median", "stddev", "cv")
RUNTIME = re.compile(r"(min_time|min_warmup_time|iterations|repeats|threads):[\d.s]{1,20}")
CLOCKS = ("real_time", "process_time", "manual_time")
FACTS = ("num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "library_build_type", "library_version")
VOLATILE = ("date", "load_avg", "caches", "json_schema_version")


class GoogleBenchmark:
    """The benchmark is a factor where there are several; so are its arguments and threads."""

    name = "google_benchmark"
    label = "Google Benchmark"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the times that every benchmark has."""
        return all(key in head for key in (b'"real_time"', b'"cpu_time"', b'"time_unit"'))

    def read(self, source: Source, options: Options) -> Read:
        """Read the repetitions, or their means, if the file has only those."""
        builder = Builder(self.name, self.label, work=("benchmark",))
        builder.declare(*TIMES.values(), *RATES.values())
        outputs = documents(source)
        results: list[tuple[Node, str, dict[str, Scalar]]] = []
        for output in outputs:
            with source.spare("An output"):
                results += _results(source, output)
        chosen = [each for each in results if each[1] == "iteration"]
        if not chosen:
            chosen = [each for each in results if each[1] == "mean"]
            builder.drop(
                "The file has no repetitions: each benchmark is one run with its mean. Measure again without "
                "--benchmark_report_aggregates_only."
            )
        elif len(chosen) < len(results):
            builder.drop("Means, medians and deviations are left out: they are those of the runs.")
        levels, shared = varying(levels for _, _, levels in chosen)
        for (each, _, _), differing in zip(chosen, levels, strict=True):
            with source.spare():
                _run(builder, source, each, differing)
        for name, value in shared.items():
            (builder.fact if name == "host name" else builder.note)(name, value)
        for output in outputs:
            _about(builder, output)
        builder.drop("When each repetition began is not in the file.")
        return builder.build(
            name=f"Google Benchmark: {shared.get('benchmark', 'several')}",
            question="How long does each benchmark take, and what changes it?",
            primary=[DURATION.name],
            tags=("google-benchmark",),
        )


def _results(source: Source, output: Node) -> list[tuple[Node, str, dict[str, Scalar]]]:
    """Return each benchmark of an output: `iteration` or the name of an aggregate, and its levels."""
    context = _context(output)
    named: list[tuple[Node, str]] = []
    for each in output.at("benchmarks").elements():
        with source.spare():
            named.append((each, each.at("name").text()))
    counts = Counter(name for each, name in named if "run_type" not in each)
    results = []
    for each, name in named:
        with source.spare():
            kind, full = _kind(each, name, counts)
            results.append((each, kind, {**context, **_levels(each, full)}))
    return results


def _kind(benchmark: Node, name: str, counts: Counter[str]) -> tuple[str, str]:
    """Return `iteration` or the name of an aggregate, and the name of the benchmark.

    Versions before 1.5 write no type: there the name of an aggregate ends with it, such as BM_Put_mean, stands once,
    and that of the benchmark several times, or not at all.
    counts: of names without a type.
    """
    if "run_type" in benchmark:
        kind = benchmark.at("run_type").text()
        full = benchmark.at("run_name").text() if "run_name" in benchmark else name
        return (benchmark.at("aggregate_name").text() if kind == "aggregate" else kind), full
    base, _, last = name.rpartition("_")
    if "big_o" in benchmark or "rms" in benchmark:
        return last, base
    repeated = counts[base] > 1 and counts[name] == 1 and counts[f"{base}_mean"] == 1
    alone = not counts[base] and last in STATISTICS and counts[f"{base}_mean"] == counts[name]
    if base and (repeated or (alone and counts[f"{base}_stddev"])):
        return last, base
    return "iteration", name


def _levels(benchmark: Node, full: str) -> dict[str, Scalar]:
    """Return the name without its options of duration; arguments by name, or by position."""
    first, *parts = _parts(full)
    levels: dict[str, Scalar] = {"benchmark": first}
    for part in parts:
        if part.startswith("threads:") and part[8:].isdecimal():
            levels["threads"] = int(part[8:])
        if part in CLOCKS or RUNTIME.fullmatch(part):
            continue
        key, _, value = part.partition(":")
        named = bool(key and value) and key not in levels
        levels[key if named else f"argument {len(levels)}"] = value if named else part
    if "threads" in benchmark:
        levels["threads"] = benchmark.at("threads").count()
    if "label" in benchmark:
        levels.setdefault("label", benchmark.at("label").text())
    return levels


def _parts(name: str) -> list[str]:
    """Split at slashes outside of template arguments."""
    depth, cut = 0, ""
    for letter in name:
        depth += (letter == "<") - (letter == ">")
        cut += "\n" if letter == "/" and depth <= 0 else letter
    return cut.split("\n")


def _run(builder: Builder, source: Source, benchmark: Node, levels: dict[str, Scalar]) -> None:
    if "error_occurred" in benchmark and benchmark.at("error_occurred").value:
        message = benchmark.at("error_message").text() if "error_message" in benchmark else ""
        builder.run(levels, {}, reason=message or "the benchmark failed", units_failed=1)
        return
    if "skipped" in benchmark and benchmark.at("skipped").value:
        builder.drop("Benchmarks that skipped themselves are left out.")
        return
    unit = benchmark.at("time_unit").text()
    if unit not in SECONDS:
        refuse(benchmark.path, f"The time unit “{unit[:20]}” is none of {', '.join(SECONDS)}.")
    values = {
        metric.name: benchmark.at(key).seconds(SECONDS[unit])
        for key, metric in TIMES.items()
        if key in benchmark
    }
    if not values:
        refuse(benchmark.path, "It has neither real_time nor cpu_time.")
    for key, metric in RATES.items():
        with source.spare("A value"):
            if key in benchmark:
                values[metric.name] = benchmark.at(key).seconds()
    for key, value in benchmark.items():
        if key not in ITS_OWN and type(value.value) in (int, float):
            name = f"counter_{key}" if key in OURS else key
            counter = ReadMetric(name[:80], key[:80], UNKNOWN_UNIT, None, "aggregated")
            with source.spare("A value"):
                values[counter.name] = benchmark.at(key).number()
                builder.declare(counter)
    done = benchmark.at("iterations").count() if "iterations" in benchmark else 0
    builder.run(levels, values, units_done=done)


def _context(output: Node) -> dict[str, Scalar]:
    """Return what differs between concatenated outputs: host, executable, and --benchmark_context."""
    context = output.get("context")
    provided = context.items() if context is not None else ()
    return {
        key.replace("_", " "): value.scalar()
        for key, value in provided
        if key not in (*FACTS, *VOLATILE)
    }


def _about(builder: Builder, output: Node) -> None:
    context = output.get("context")
    for key in FACTS:
        if context is not None and key in context:
            builder.fact(key.replace("_", " "), context.at(key).scalar())
    if context is not None and "date" in context:
        builder.note("saved at", context.at("date").scalar())


reader = GoogleBenchmark()
