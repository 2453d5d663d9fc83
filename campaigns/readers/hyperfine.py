"""hyperfine, `--export-json`: every run of every command, in seconds."""

import re
from collections import Counter

from campaigns.readers.base import Builder, Node, Options, Read, ReadMetric, Scalar, Source, parsed
from campaigns.readers.base.metrics import DURATION
from campaigns.readers.base.problems import refuse

MEMORY = ReadMetric("memory", "Peak memory", "B", lower_is_better=True, fidelity="raw")


class Hyperfine:
    """Parameters are factors; the command is one where several were run."""

    name = "hyperfine"
    label = "hyperfine"

    def detects(self, head: bytes, filename: str) -> bool:
        """Results that have a command and times."""
        return head.lstrip().startswith(b"{") and b'"command"' in head and b'"times"' in head

    def read(self, source: Source, options: Options) -> Read:
        """Read the results."""
        builder = Builder(self.name, self.label)
        builder.declare(DURATION, MEMORY)
        results = parsed(source.text()).at("results").elements()
        for levels, result in zip(_levels(results), results, strict=True):
            _runs(builder, levels, result)
        builder.drop(
            "User and system time are left out: hyperfine gives only their means over all runs."
        )
        commands = list(dict.fromkeys(result.at("command").text() for result in results))
        builder.note("commands", "; ".join(commands))
        return builder.build(
            name=f"hyperfine: {commands[0] if commands else ''}",
            question="Which command is faster, and by how much?",
            primary=["duration"],
            tags=("hyperfine",),
        )


def _runs(builder: Builder, levels: dict[str, Scalar], result: Node) -> None:
    times = result.at("times").elements()
    codes = _matching(result, "exit_codes", len(times))
    memory = _matching(result, "memory_usage_byte", len(times))
    if codes is None:
        builder.drop("The file has no exit codes: every run is taken as one that went well.")
    for index, time in enumerate(times):
        values = {"duration": time.seconds()}
        if memory is not None and memory[index].value is not None:
            values["memory"] = memory[index].number()
        builder.run(levels, values, reason=_reason(codes[index]) if codes is not None else "")


def _matching(result: Node, key: str, length: int) -> list[Node] | None:
    found = result.get(key)
    if found is None:
        return None
    elements = found.elements()
    if len(elements) != length:
        refuse(found.path, f"There are {len(elements)} elements for {length} times.")
    return elements


def _reason(code: Node) -> str:
    if code.value is None:
        return "ended by a signal"
    number = code.number()
    return f"exit code {number:g}" if number else ""


def _levels(results: list[Node]) -> list[dict[str, Scalar]]:
    """Parameters; and the command, where the same parameters are there more than once."""
    found: list[dict[str, Scalar]] = []
    for result in results:
        parameters = result.get("parameters")
        given = parameters.items() if parameters is not None else ()
        found.append({name: value.scalar() for name, value in given})
    if max(Counter(map(repr, found)).values(), default=1) == 1 and all(found):
        return found
    commands = [result.at("command").text() for result in results]
    templates = [_template(*pair) for pair in zip(commands, found, strict=True)]
    pairs = [(template, repr(levels)) for template, levels in zip(templates, found, strict=True)]
    names = templates if len(set(pairs)) == len(pairs) else commands
    return [{"command": name, **levels} for name, levels in zip(names, found, strict=True)]


def _template(command: str, levels: dict[str, Scalar]) -> str:
    """Put the names of parameters back in place of their values."""
    for name, value in levels.items():
        if str(value):
            pattern = rf"(?<!\w){re.escape(str(value))}(?!\w)"
            command = re.sub(pattern, lambda _, name=name: f"{{{name}}}", command)  # type: ignore[misc]
    return command


reader = Hyperfine()
