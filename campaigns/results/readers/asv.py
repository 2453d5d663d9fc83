"""Read asv (airspeed velocity): result files, one for each commit and environment, and benchmarks.json.

Several files are concatenated by `cat`. benchmarks.json names the parameters; without it their position
does.
"""

from collections.abc import Iterator
from itertools import islice, product

from campaigns.results.readers.base import (
    MOST_VALUES,
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
from campaigns.results.readers.base.texts import instant_at

TIME = ReadMetric(DURATION.name, "Duration (median)", "s", True, "aggregated")
MEMORY = ReadMetric("memory", "Memory", "B", True, "aggregated")
TRACKED = ReadMetric("tracked", "Tracked value", UNKNOWN_UNIT, None, "aggregated")
KINDS = {"time": TIME, "timeraw": TIME, "mem": MEMORY, "peakmem": MEMORY, "track": TRACKED}
FAILED = "asv has no result: the benchmark failed"
SKIPPED = "skipped"
COMMIT_LETTERS = 8
OLD = (b'"commit_hash"', b'"env_name"', b'"results"')
"""Keys of results before asv 0.5, which have no columns."""
MOST_COMBINATIONS = 10_000


class Asv:
    """The commit, the environment, the benchmark and its parameters are factors where there are several."""

    name = "asv"
    label = "asv"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether it is a result file, or benchmarks.json."""
        return (
            b'"result_columns"' in head
            or (b'"param_names"' in head and b'"params"' in head)
            or all(key in head for key in OLD)
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the results of every file."""
        builder = Builder(self.name, self.label, work=("benchmark",))
        builder.declare(TIME, MEMORY, TRACKED)
        provided = documents(source)
        files = [each for each in provided if "commit_hash" in each]
        if not files:
            refuse(
                "",
                "There is no file of results here, only benchmarks.json; add results/MACHINE/*.json.",
            )
        names = _parameter_names([each for each in provided if "commit_hash" not in each])
        results: list[Run] = []
        for file in files:
            with source.spare("A file of results"):
                most = MOST_VALUES + 1 - len(results)
                results += islice(_results(builder, source, file, names), most)
        if len(results) > MOST_VALUES:
            refuse("", f"The files have more than {MOST_VALUES:,} results; split them.")
        skipped = [each for each in results if each[2][1] == SKIPPED]
        results = [each for each in results if each[2][1] != SKIPPED]
        if skipped:
            builder.drop(
                f"{len(skipped):,} results are left out: asv writes NaN for parameters that a benchmark skips."
            )
        levels, shared = varying([each for each, _, _ in results])
        for (_, values, about), differing in zip(results, levels, strict=True):
            began, reason = about
            builder.run(differing, values, reason=reason, started_at=instant_at(began))
        for name, value in shared.items():
            (builder.fact if name == "machine" else builder.note)(name, value)
        if TRACKED.name in {name for _, values, _ in results for name in values}:
            builder.drop(
                "What a track_ benchmark returns has no unit and no direction: it is not judged."
            )
        builder.drop(
            "Each time is asv's median, and one run: compare by running asv several times. Its quartiles are "
            "left out."
        )
        return builder.build(
            name=f"asv: {shared.get('benchmark', 'several')}",
            question="How long does each benchmark take, and what changes it?",
            primary=[TIME.name, MEMORY.name],
            tags=("asv",),
        )


def _parameter_names(files: list[Node]) -> dict[str, list[str]]:
    """Return names of parameters by benchmark, from benchmarks.json; other files (machine.json) have none."""
    return {
        name: [each.text() for each in benchmark.at("param_names").elements()]
        for file in files
        for name, benchmark in file.items()
        if "param_names" in benchmark
    }


Run = tuple[dict[str, Scalar], dict[str, float], tuple[float, str]]


def _results(
    builder: Builder, source: Source, file: Node, names: dict[str, list[str]]
) -> Iterator[Run]:
    columns = None
    if "result_columns" in file:
        columns = [each.text() for each in file.at("result_columns").elements()]
    common: dict[str, Scalar] = {
        "commit": file.at("commit_hash").text()[:COMMIT_LETTERS],
        "environment": file.at("env_name").text(),
    }
    machine = file.get("params")
    for key, value in machine.items() if machine is not None else ():
        if key == "machine":
            common[key] = value.scalar()
        else:
            builder.fact(key.replace("_", " "), value.scalar())
    for benchmark, row in file.at("results").items():
        with source.spare("A benchmark"):
            fields = _fields(file, benchmark, row, columns)
            yield from _of_benchmark(source, {**common, "benchmark": benchmark}, fields, names)


def _fields(file: Node, benchmark: str, row: Node, columns: list[str] | None) -> dict[str, Node]:
    """Return the fields of a result by their columns; before asv 0.5, by their names, or it is a number."""
    if columns is None:
        fields = dict(row.items()) if isinstance(row.value, dict) else {"result": row}
        began = file.get("started_at")
        if began is not None and benchmark in began:
            fields["started_at"] = began.at(benchmark)
        return fields
    elements = row.elements()
    if len(elements) > len(columns):
        refuse(row.path, f"There are {len(elements)} fields for {len(columns)} columns.")
    return dict(zip(columns, elements, strict=False))


def _of_benchmark(
    source: Source, about: dict[str, Scalar], fields: dict[str, Node], names: dict[str, list[str]]
) -> Iterator[Run]:
    """Yield the runs of one benchmark: one for each combination of its parameters."""
    benchmark = str(about["benchmark"])
    metric = _metric(benchmark)
    began = _began(fields)
    result = fields.get("result")
    if result is None or result.value is None:
        yield about, {}, (began, FAILED)
        return
    cells = _cells(benchmark, fields, names)
    results = result.elements() if isinstance(result.value, list) else [result]
    if len(results) != len(cells):
        refuse(result.path, f"There are {len(results)} results for {len(cells)} parameters.")
    for cell, each in zip(cells, results, strict=True):
        if each.value is None:
            yield {**about, **cell}, {}, (began, FAILED)
        elif each.value == each.value:
            with source.spare():
                yield {**about, **cell}, {metric.name: each.number()}, (began, "")
        else:  # NaN, which is not what it is
            yield {**about, **cell}, {}, (began, SKIPPED)


def _metric(benchmark: str) -> ReadMetric:
    """Return the metric of a benchmark: the prefix of its function tells what it measures."""
    return KINDS.get(benchmark.rpartition(".")[2].partition("_")[0].lower(), TRACKED)


def _began(fields: dict[str, Node]) -> float:
    began = fields.get("started_at")
    return began.number() / 1000 if began is not None and began.value is not None else 0.0


def _cells(
    benchmark: str, fields: dict[str, Node], names: dict[str, list[str]]
) -> list[dict[str, Scalar]]:
    """Return the levels of each result: asv lists results in the order of the product of the parameters."""
    value = fields.get("params")
    parameters = [each.elements() for each in value.elements()] if value is not None else []
    count = 1
    for each in parameters:
        count *= len(each)
    if count > MOST_COMBINATIONS and value is not None:
        refuse(value.path, f"{benchmark[:80]} has more than {MOST_COMBINATIONS:,} combinations.")
    known = names.get(benchmark, [])
    labels = [
        known[place] if place < len(known) and known[place] else f"parameter {place + 1}"
        for place in range(len(parameters))
    ]
    return [
        {name: _plain(level.text()) for name, level in zip(labels, levels, strict=True)}
        for levels in product(*parameters)
    ]


def _plain(level: str) -> str:
    """Return a text without the quotes that Python's repr puts around it."""
    return level[1:-1] if len(level) > 1 and level[0] == level[-1] and level[0] in "'\"" else level


reader = Asv()
