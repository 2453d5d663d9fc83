"""Read pytest-benchmark, `--benchmark-json` and saved files: one run of every benchmark, in seconds."""

import re
from collections.abc import Iterator

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
from campaigns.results.readers.base.source import decoded

MOST_BYTES = 200_000_000
"""Bytes of a file with its rounds: three tests of nanoseconds have 600,000 of them, 26 MB."""
ROUNDS = re.compile(rb'("data"\s*:\s*)\[[-+0-9.eE,\s]*\]')
SUMMARY = {
    "mean": ("duration_mean", "Mean duration"),
    "median": ("duration_median", "Median duration"),
    "min": ("duration_min", "Shortest duration"),
    "max": ("duration_max", "Longest duration"),
    "stddev": ("duration_stddev", "Standard deviation of duration"),
}
MACHINE = ("node", "machine", "system", "release", "python_implementation", "python_version")
PROCESSOR = ("brand_raw", "brand", "count", "arch", "hz_advertised_friendly")
COMMIT_LETTERS = 8
COMMIT = ("id", "time", "branch", "dirty", "project")


class PytestBenchmark:
    """The benchmark is a factor where there are several; so are its parameters, and the commit."""

    name = "pytest_benchmark"
    label = "pytest-benchmark"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a description of machine or commit, and then benchmarks."""
        return begins_document(head) and (
            (b'"machine_info"' in head and b'"commit_info"' in head)
            or (b'"benchmarks"' in head and b'"fullname"' in head)
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the benchmarks of every concatenated file."""
        files = documents(source, decoded(ROUNDS.sub(_without, source.document(MOST_BYTES))))
        benchmarks: list[Node] = []
        of_each: list[dict[str, Scalar]] = []
        for file in files:
            with source.spare("A document"):
                own = list(_named(source, file))
                benchmarks += own
                of_each += [_commit(file)] * len(own)
        commits, _ = varying(of_each)
        builder = Builder(self.name, self.label, work=("benchmark",))
        builder.declare(
            *(ReadMetric(name, label, "s", True, "aggregated") for name, label in SUMMARY.values()),
        )
        names = _names(benchmarks)
        for name, benchmark, commit in zip(names, benchmarks, commits, strict=True):
            with source.spare():
                levels = _levels(name, benchmark, several=len(set(names)) > 1)
                _runs(builder, source, commit | levels, benchmark)
        for file in files:
            _about(builder, file)
        return builder.build(
            name=f"pytest-benchmark: {names[0] if len(set(names)) == 1 else 'several'}",
            question="How long does each benchmark take, and what changes it?",
            primary=["duration_mean"],
            tags=("pytest-benchmark",),
        )


def _without(rounds: re.Match[bytes]) -> bytes:
    """Return the key of a list of rounds with an empty list, on as many lines."""
    return rounds[1] + b"[" + b"\n" * rounds[0].count(b"\n", len(rounds[1])) + b"]"


def _named(source: Source, file: Node) -> Iterator[Node]:
    """Yield the benchmarks of a file; one without a name is left out."""
    for each in file.at("benchmarks").elements():
        with source.spare():
            each.at("name").text()
            if "fullname" in each:
                each.at("fullname").text()
            yield each


def _names(benchmarks: list[Node]) -> list[str]:
    """Return names without parameters; with their module, if two modules have the same name."""
    short = [each.at("name").text().partition("[")[0] for each in benchmarks]
    full = [
        each.at("fullname").text().partition("[")[0] if "fullname" in each else name
        for each, name in zip(benchmarks, short, strict=True)
    ]
    return short if len(set(short)) == len(set(full)) else full


def _commit(file: Node) -> dict[str, Scalar]:
    """Return what distinguishes concatenated files."""
    commit = file.get("commit_info")
    known = commit is not None and "id" in commit
    return {"commit": commit.at("id").text()[:COMMIT_LETTERS]} if commit and known else {}


def _levels(name: str, benchmark: Node, *, several: bool) -> dict[str, Scalar]:
    parameters = benchmark.get("params")
    levels: dict[str, Scalar] = {"benchmark": name} if several else {}
    if parameters is not None:
        for key, value in parameters.items():
            levels["parameter benchmark" if key == "benchmark" else key] = value.scalar()
    elif "param" in benchmark:
        levels["parameter"] = benchmark.at("param").scalar()
    return levels


def _runs(builder: Builder, source: Source, levels: dict[str, Scalar], benchmark: Node) -> None:
    """Return the runs. Rounds follow one another in one process: they are samples of one run."""
    stats = benchmark.get("stats")
    if stats is None:
        builder.run(levels, {}, state="lost", reason="the file has no figures of this benchmark")
        return
    if not isinstance(stats.value, dict):
        refuse(stats.path, "The figures of the benchmark are no object.")
    values: dict[str, float] = {}
    for key, (name, _) in SUMMARY.items():
        with source.spare("A value"):
            if key in stats:
                values[name] = stats.at(key).seconds()
    rounds = stats.at("rounds").count() if "rounds" in stats else 0
    builder.drop(
        "Rounds are samples of one run, since they follow one another in one process: each benchmark "
        "is one run with its summary. Compare by running the tests several times."
    )
    builder.run(
        levels,
        values,
        state="ok" if values else "lost",
        reason="" if values else "the file has no figures of it",
        units_done=rounds,
    )


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
