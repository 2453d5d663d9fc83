"""Read hyperfine, `--export-json`: every run of every command, in seconds; `--export-csv`: summaries."""

import re
from collections import Counter

from campaigns.results.readers.base import (
    MOST_VALUES,
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    begins_document,
    documents,
)
from campaigns.results.readers.base.metrics import DURATION
from campaigns.results.readers.base.problems import refuse
from campaigns.results.readers.base.tables import Table, number, rows

ZERO = (
    "0 after hyperfine subtracted the start of its shell; measure again with --shell=none (-N), "
    "which subtracts nothing"
)
CSV = b"command,mean,stddev,"
PARAMETER = "parameter_"
SUMMARY = {
    "mean": ("duration_mean", "Mean duration"),
    "median": ("duration_median", "Median duration"),
    "min": ("duration_min", "Shortest duration"),
    "max": ("duration_max", "Longest duration"),
    "stddev": ("duration_stddev", "Standard deviation of duration"),
    "user": ("user_time_mean", "Mean user time"),
    "system": ("system_time_mean", "Mean system time"),
}
MEMORY = ReadMetric("memory", "Peak memory", "B", lower_is_better=True, fidelity="raw")


class Hyperfine:
    """Parameters are factors; the command is one if there are several."""

    name = "hyperfine"
    label = "hyperfine"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are results with a command and times, or the columns of summaries."""
        return head.lstrip().startswith(CSV) or (
            begins_document(head) and b'"command"' in head and b'"times"' in head
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read the results; of CSV the summaries, since it has nothing else."""
        builder = Builder(self.name, self.label)
        commands = (
            _summaries(builder, source)
            if source.head.lstrip().startswith(CSV)
            else _all(builder, source)
        )
        builder.note("commands", "; ".join(commands))
        return builder.build(
            name=f"hyperfine: {commands[0] if commands else ''}",
            question="Which command is faster, and by how much?",
            primary=["duration", "duration_mean"],
            tags=("hyperfine",),
        )


def _all(builder: Builder, source: Source) -> list[str]:
    """Read every run from JSON; return the commands."""
    builder.declare(DURATION, MEMORY)
    results: list[Node] = []
    items: list[tuple[str, dict[str, Scalar]]] = []
    for file in documents(source):
        with source.spare("A document"):
            for result in file.at("results").elements():
                with source.spare("A command"):
                    items.append((result.at("command").text(), _parameters(result)))
                    results.append(result)
    for levels, result in zip(_levels(items), results, strict=True):
        with source.spare("A command"):
            _runs(builder, source, levels, result)
    builder.drop(
        "User and system time are left out: hyperfine gives only their means over all runs."
    )
    return list(dict.fromkeys(command for command, _ in items))


def _summaries(builder: Builder, source: Source) -> list[str]:
    """Read a run for each command from CSV; return the commands."""
    builder.declare(
        *(ReadMetric(name, label, "s", True, "aggregated") for name, label in SUMMARY.values())
    )
    lines = rows(source, most=MOST_VALUES)
    header = next(lines, ("", [""]))[1]
    table = Table(header)
    records: list[tuple[str, dict[str, str]]] = []
    for where, fields in lines:
        if fields == header:
            source.note(f"The columns stand again in {where}: the file has several exports.")
        elif tuple(fields[:3]) == ("command", "mean", "stddev"):
            refuse(where, "Other columns begin here; import the two exports apart.")
        else:
            with source.spare():
                records.append((where, table.record(where, fields)))
    result: list[tuple[str, dict[str, Scalar]]] = [
        (
            record["command"],
            {
                name.removeprefix(PARAMETER): value
                for name, value in record.items()
                if name.startswith(PARAMETER)
            },
        )
        for _, record in records
    ]
    for levels, (where, record) in zip(_levels(result), records, strict=True):
        with source.spare():
            number(record, "mean", where)
            builder.run(levels, _summary(source, record, where))
    builder.drop(
        "CSV holds no single times and no exit codes: each command is one run with its summary. "
        "Export with --export-json, which has both."
    )
    return list(dict.fromkeys(command for command, _ in result))


def _summary(source: Source, record: dict[str, str], where: str) -> dict[str, float]:
    """Return the figures of a line; one that is no number is left out."""
    values = {}
    for column, (name, _) in SUMMARY.items():
        with source.spare("A value"):
            if record.get(column):
                values[name] = number(record, column, where)
    return values


def _parameters(result: Node) -> dict[str, Scalar]:
    """Return the parameters; before hyperfine 1.11 there was one, without its name."""
    if "parameter" in result:
        return {"parameter": result.at("parameter").scalar()}
    parameters = result.get("parameters")
    return {name: value.scalar() for name, value in parameters.items()} if parameters else {}


def _runs(builder: Builder, source: Source, levels: dict[str, Scalar], result: Node) -> None:
    times = result.at("times").elements()
    if not times:
        refuse(result.path, "It has no times.")
    codes = _matching(result, "exit_codes", len(times))
    memory = _matching(result, "memory_usage_byte", len(times))
    if codes is None:
        builder.drop("The file has no exit codes: every run is taken as one that went well.")
    if zeros := sum(time.value == 0 for time in times):
        builder.drop(
            f"{zeros} of {len(times)} times of “{result.at('command').text()}” are {ZERO}. hyperfine "
            "warns of commands that take less than 5 ms."
        )
    for index, time in enumerate(times):
        with source.spare():
            duration = time.seconds()
            values = {"duration": duration}
            if memory is not None and memory[index].value is not None:
                values["memory"] = memory[index].number()
            reason = _reason(codes[index]) if codes is not None else ""
            if reason or duration:
                builder.run(levels, values, reason=reason)
            else:
                builder.run(levels, values, reason=f"The time is {ZERO}.", state="ok")


def _matching(result: Node, key: str, length: int) -> list[Node] | None:
    outcome = result.get(key)
    if outcome is None:
        return None
    elements = outcome.elements()
    if len(elements) != length:
        refuse(outcome.path, f"There are {len(elements)} elements for {length} times.")
    return elements


def _reason(code: Node) -> str:
    if code.value is None:
        return "ended by a signal"
    number = code.number()
    return f"exit code {number:g}" if number else ""


def _levels(results: list[tuple[str, dict[str, Scalar]]]) -> list[dict[str, Scalar]]:
    """Return the parameters, and the command if the same parameters occur more than once."""
    items = [parameters for _, parameters in results]
    different = {(command, repr(parameters)) for command, parameters in results}
    if max(Counter(key for _, key in different).values(), default=1) == 1 and all(items):
        return items
    commands = [command for command, _ in results]
    templates = [_template(*pair) for pair in results]
    pairs = {(template, repr(levels)) for template, levels in zip(templates, items, strict=True)}
    names = templates if len(pairs) == len(different) else commands
    return [{"command": name, **levels} for name, levels in zip(names, items, strict=True)]


def _template(command: str, levels: dict[str, Scalar]) -> str:
    """Replace the values of parameters by their names."""
    for name, value in levels.items():
        if str(value):
            pattern = rf"(?<!\w){re.escape(str(value))}(?!\w)"
            command = re.sub(pattern, lambda _, name=name: f"{{{name}}}", command)  # type: ignore[misc]
    return command


reader = Hyperfine()
