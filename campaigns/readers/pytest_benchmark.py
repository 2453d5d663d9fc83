"""pytest-benchmark, `--benchmark-json` and saved files: rounds of every benchmark, in seconds."""

from campaigns.readers.base import Builder, Node, Options, Read, ReadMetric, Scalar, Source, parsed
from campaigns.readers.base.metrics import DURATION

SUMMARY = {
    "mean": ("duration_mean", "Mean duration"),
    "median": ("duration_median", "Median duration"),
    "min": ("duration_min", "Shortest duration"),
    "max": ("duration_max", "Longest duration"),
    "stddev": ("duration_stddev", "Standard deviation of duration"),
}
MACHINE = ("node", "machine", "system", "release", "python_implementation", "python_version")
PROCESSOR = ("brand_raw", "brand", "count", "arch", "hz_advertised_friendly")
COMMIT = ("id", "time", "branch", "dirty", "project")


class PytestBenchmark:
    """The benchmark is a factor where there are several; so are its parameters."""

    name = "pytest_benchmark"
    label = "pytest-benchmark"

    def detects(self, head: bytes, filename: str) -> bool:
        """A description of machine or commit, and then benchmarks."""
        return head.lstrip().startswith(b"{") and (
            (b'"machine_info"' in head and b'"commit_info"' in head)
            or (b'"benchmarks"' in head and b'"fullname"' in head)
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the benchmarks."""
        document = parsed(source.text())
        benchmarks = document.at("benchmarks").elements()
        averaged = max((_iterations(each) for each in benchmarks), default=1) > 1
        builder = Builder(self.name, self.label, work=("benchmark",))
        builder.declare(
            ReadMetric("duration", "Duration", "s", True, "aggregated") if averaged else DURATION,
            *(ReadMetric(name, label, "s", True, "aggregated") for name, label in SUMMARY.values()),
        )
        if averaged:
            builder.drop(
                "Rounds of several iterations are there only as the mean of their iterations."
            )
        names = _names(benchmarks)
        for name, benchmark in zip(names, benchmarks, strict=True):
            _runs(builder, _levels(name, benchmark, several=len(set(names)) > 1), benchmark)
        _about(builder, document)
        return builder.build(
            name="pytest-benchmark: " + (names[0] if len(set(names)) == 1 else "several"),
            question="How long does each benchmark take, and what changes it?",
            primary=["duration", "duration_mean"],
            tags=("pytest-benchmark",),
        )


def _names(benchmarks: list[Node]) -> list[str]:
    """Names without parameters; with their module, where two modules have the same name."""
    short = [each.at("name").text().partition("[")[0] for each in benchmarks]
    full = [
        each.at("fullname").text().partition("[")[0] if "fullname" in each else name
        for each, name in zip(benchmarks, short, strict=True)
    ]
    return short if len(set(short)) == len(set(full)) else full


def _levels(name: str, benchmark: Node, *, several: bool) -> dict[str, Scalar]:
    parameters = benchmark.get("params")
    levels: dict[str, Scalar] = {"benchmark": name} if several else {}
    if parameters is not None:
        for key, value in parameters.items():
            levels["parameter benchmark" if key == "benchmark" else key] = value.scalar()
    elif "param" in benchmark:
        levels["parameter"] = benchmark.at("param").scalar()
    return levels


def _iterations(benchmark: Node) -> int:
    stats = benchmark.get("stats")
    found = stats.get("iterations") if stats is not None else None
    return found.count() if found is not None else 1


def _runs(builder: Builder, levels: dict[str, Scalar], benchmark: Node) -> None:
    stats = benchmark.get("stats")
    if stats is None:
        builder.run(levels, {}, reason="the file has no figures of this benchmark")
        return
    rounds = stats.get("data")
    if rounds is not None and rounds.elements():
        for one in rounds.elements():
            builder.run(levels, {"duration": one.seconds()}, units_done=_iterations(benchmark))
        return
    values = {name: stats.at(key).seconds() for key, (name, _) in SUMMARY.items() if key in stats}
    builder.drop(
        "Single rounds are not in the file (save it with --benchmark-save-data, or "
        "--benchmark-json): each benchmark is one run with its summary."
    )
    builder.run(levels, values, reason="" if values else "the file has no figures of it")


def _about(builder: Builder, document: Node) -> None:
    machine, commit = document.get("machine_info"), document.get("commit_info")
    if machine is not None:
        for key in MACHINE:
            if key in machine:
                builder.fact(key.replace("_", " "), machine.at(key).scalar())
        processor = machine.get("cpu")
        for key in PROCESSOR:
            if processor is not None and key in processor:
                builder.fact(f"cpu {key.removesuffix('_raw')}", processor.at(key).scalar())
    for key in COMMIT:
        if commit is not None and key in commit:
            builder.note(f"commit {key}", commit.at(key).scalar())
    for key in ("datetime", "version"):
        if key in document:
            builder.note("saved at" if key == "datetime" else key, document.at(key).scalar())
    builder.drop("When each round began is not in the file.")


reader = PytestBenchmark()
