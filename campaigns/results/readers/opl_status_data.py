"""Read opl status data: the JSON of one measurement, with its parameters and monitored values."""

import math
from collections.abc import Iterator
from datetime import datetime

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
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import instant_of

DESCRIBING = ("cli", "run", "hostname", "version", "katello_version")
SECONDS = ("duration", "avg_duration", "items.duration", "items.avg_duration", "tasks.duration")
NOT_MEASURED = ("rc", "items.report_rc", "items.passed", "items.failed")
MOST_DEPTH = 20


class OplStatusData:
    """One run. Its parameters are factors; versions, host and command are facts."""

    name = "opl_status_data"
    label = "opl status data"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is an object with its keys."""
        keys = (b'"started"', b'"ended"', b'"results"', b'"parameters"')
        result = sum(key in head for key in keys) + (b'"measurements"' in head)
        return b"{" in head and result >= 4

    def read(self, source: Source, options: Options) -> Read:
        """Read the results, the parameters, and the means of monitored values."""
        builder = Builder(self.name, self.label, work=("name",))
        found = documents(source)
        names = list(dict.fromkeys(map(_name, found)))
        for document in found:
            with source.spare("A document"):
                _run(builder, document, {"name": _name(document)} if len(names) > 1 else {})
        if len(found) == 1:
            for key in ("id", "result", "golden", "owner"):
                if key in found[0]:
                    builder.note(key, found[0].at(key).scalar())
        name = names[0] if len(names) == 1 else "opl"
        return builder.build(
            name=name,
            question=f"How long does {name} take?",
            primary=["items_avg_duration", "duration"],
            tags=("opl",),
        )


def _name(document: Node) -> str:
    return str(document.at("name").scalar()) if "name" in document else "opl"


def _run(builder: Builder, document: Node, levels: dict[str, Scalar]) -> None:
    results = dict(_leaves(document.at("results")))
    values = _results(builder, results)
    monitored = document.get("measurements")
    if monitored is not None:
        values |= _monitored(builder, monitored)
    passed, failed = (
        results[key].count() if key in results else 0 for key in ("items.passed", "items.failed")
    )
    if passed + failed and "items.failed" in results:
        builder.declare(common.failed_share("aggregated"))
        values[common.FAILED_SHARE] = failed / (passed + failed)
    builder.run(
        {**levels, **_levels(builder, document)},
        values,
        reason=_reason(results, document),
        started_at=_instant(document, "started"),
        finished_at=_instant(document, "ended"),
        units_done=passed,
        units_failed=failed,
    )


def _leaves(node: Node, above: str = "", depth: int = 0) -> Iterator[tuple[str, Node]]:
    """Yield every value that is not an object, with its path."""
    if depth > MOST_DEPTH:
        refuse(node.path, f"Objects are nested deeper than {MOST_DEPTH}.")
    for key, value in node.items():
        if isinstance(value.value, dict):
            yield from _leaves(value, f"{above}{key}.", depth + 1)
        elif value.value is not None:
            yield f"{above}{key}", value


def _results(builder: Builder, results: dict[str, Node]) -> dict[str, float]:
    values = {}
    for path, node in results.items():
        if path in NOT_MEASURED:
            continue
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            builder.note(path, node.scalar())
            continue
        name = path.replace(".", "_")[:100]
        seconds = path in SECONDS
        mean = path.endswith("avg_duration")
        unit = "s" if seconds else UNKNOWN_UNIT
        whole = path == "duration"
        builder.declare(
            ReadMetric(
                name,
                path[:100],
                unit,
                seconds or None,
                "raw" if whole else "aggregated",
                latency=mean,
            )
        )
        if node.value != node.value:
            builder.drop(f"{path[:100]} is NaN, and is left out: it was not measured.")
            continue
        values[name] = node.seconds() if seconds else node.number()
        if not seconds:
            builder.drop(f"The file does not give the unit of {path[:100]}.")
    return values


def _monitored(builder: Builder, monitored: Node) -> dict[str, float]:
    values = {}
    for path, node in _leaves(monitored):
        if not path.endswith(".mean") or isinstance(node.value, str | list):
            continue
        if isinstance(node.value, float) and math.isnan(node.value):
            builder.drop(f"{path[:100]} is NaN, and is left out: it was not measured.")
            continue
        name = f"monitored_{path.removesuffix('.mean')}".replace(".", "_")[:100]
        builder.declare(ReadMetric(name, path[:100], UNKNOWN_UNIT, None, "aggregated"))
        values[name] = node.number()
    builder.drop("Of what was monitored only means are read; the file does not give their units.")
    return values


def _levels(builder: Builder, document: Node) -> dict[str, str | int | float | bool]:
    levels = {}
    parameters = document.get("parameters")
    for path, node in _leaves(parameters) if parameters is not None else ():
        if path.partition("-")[0] in DESCRIBING:
            builder.fact(path, node.scalar())
        else:
            levels[path] = node.scalar()
    return levels


def _reason(results: dict[str, Node], document: Node) -> str:
    code = results.get("rc")
    if code is not None and code.scalar() not in (0, "0"):
        return f"exit code {code.scalar()}"
    if "result" in document and document.at("result").scalar() == "ERROR":
        return "its result is ERROR"
    return ""


def _instant(document: Node, key: str) -> datetime | None:
    result = document.get(key)
    if result is None:
        return None
    instant = instant_of(result.text())
    if instant is None:
        refuse(key, f"“{result.text()[:40]}” is no instant of the years 1990 to 2099.")
    return instant


reader = OplStatusData()
