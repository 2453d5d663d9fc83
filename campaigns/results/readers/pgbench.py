"""Read pgbench, version 9 to 18: its printed output, of one run or several."""

import re

from campaigns.results.readers.base import (
    Builder,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    refuse,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import number_from_0, outputs

BEGIN = re.compile(r"^transaction type: (.{1,300})$", re.MULTILINE)
VERSION = re.compile(r"^pgbench \((.{1,200})\)$", re.MULTILINE)
NUMBER = r"([-+.\deE]{1,40})"
TPS = re.compile(rf"^tps = {NUMBER} \((.{{1,80}})\)", re.MULTILINE)
METRICS = (
    ReadMetric("tps", "Transactions per second", "1/s", False, "aggregated"),
    ReadMetric(
        "tps_with_connecting",
        "Transactions per second, connecting included",
        "1/s",
        False,
        "aggregated",
    ),
    ReadMetric(common.MEAN, "Mean latency", "s", True, "rounded", latency=True),
    ReadMetric("latency_stddev", "Standard deviation of latency", "s", True, "rounded"),
    ReadMetric("connection_time", "Time to connect", "s", True, "rounded"),
    common.failed_share("aggregated"),
)
FACTORS = {
    "number of clients": "clients",
    "number of threads": "threads",
    "scaling factor": "scale",
    "query mode": "query mode",
    "maximum number of tries": "tries",
}
TIMES = {
    "latency average": common.MEAN,
    "latency stddev": "latency_stddev",
    "initial connection time": "connection_time",
}
WITHOUT = ("without initial connection time", "excluding connections establishing")
WITH = ("including connections establishing", "including reconnection times")
NOTES = ("duration", "number of transactions per client", "number of transactions retried")


class Pgbench:
    """Clients and threads are factors, and other settings that differ; one output is one run."""

    name = "pgbench"
    label = "pgbench"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the lines that every version prints."""
        return b"transaction type: " in head and b"number of clients: " in head

    def read(self, source: Source, options: Options) -> Read:
        """Read every output in the file."""
        text = source.text().replace("\r\n", "\n")
        builder = Builder(self.name, self.label)
        builder.declare(*METRICS)
        blocks = [(begin[1], block, where) for begin, block, where in outputs(text, BEGIN)]
        constant = _constant([_settings(kind, block) for kind, block, _ in blocks])
        for kind, block, where in blocks:
            _run(builder, kind, block, where, constant)
        for name, value in constant.items():
            builder.note(name, value)
        if version := VERSION.search(text):
            builder.fact("pgbench", version[1])
        if "progress: " in text:
            builder.drop("Lines of progress are left out: they are parts of the same run.")
        if "statement latencies" in text:
            builder.drop(
                "Latencies of single statements are left out: they are parts of the whole."
            )
        return builder.build(
            name=f"pgbench: {blocks[0][0] if blocks else ''}",
            question="How many transactions per second does the database take?",
            primary=["tps", "tps_with_connecting", common.MEAN],
            tags=("pgbench",),
        )


def _settings(kind: str, block: str) -> dict[str, str]:
    lines = dict(_pairs(block))
    result = {name: lines[key] for key, name in FACTORS.items() if key in lines}
    return {"transaction": kind.strip()} | result


def _pairs(block: str) -> list[tuple[str, str]]:
    pairs = (re.split(r": | = ", line, maxsplit=1) for line in block.split("\n"))
    return [(pair[0].strip(), pair[1].strip()) for pair in pairs if len(pair) == 2]


def _constant(settings: list[dict[str, str]]) -> dict[str, str]:
    """Return the settings, except clients and threads, that all runs share: no factors."""
    first = settings[0] if settings else {}
    return {
        name: value
        for name, value in first.items()
        if name not in ("clients", "threads") and all(each.get(name) == value for each in settings)
    }


def _run(builder: Builder, kind: str, block: str, where: str, constant: dict[str, str]) -> None:
    levels: dict[str, Scalar] = {
        name: value for name, value in _settings(kind, block).items() if name not in constant
    }
    lines = dict(_pairs(block))
    values = {}
    for key, name in TIMES.items():
        if key in lines and lines[key].endswith(" ms"):
            values[name] = number_from_0(lines[key].removesuffix(" ms"), where) / 1000
    for match in TPS.finditer(block):
        if match[2] in WITHOUT:
            values["tps"] = number_from_0(match[1], where)
        elif match[2] in WITH:
            values["tps_with_connecting"] = number_from_0(match[1], where)
    if not values.keys() & {"tps", "tps_with_connecting"}:
        refuse(where, "There is no line “tps = …” for this run; the output is not whole.")
    done = _count(lines.get("number of transactions actually processed", ""), where)
    failed = _count(lines.get("number of failed transactions", "0"), where)
    if "number of failed transactions" in lines and done + failed:
        values[common.FAILED_SHARE] = failed / (done + failed)
    for name in NOTES:
        builder.note(name, lines.get(name))
    reason = "" if done else "no transaction was processed"
    builder.run(levels, values, reason=reason, units_done=done, units_failed=failed)


def _count(text: str, where: str) -> int:
    matched = re.match(r"(\d{1,15})(?!\d)", text, re.ASCII)
    if matched is None:
        refuse(where, f"“{text[:40]}” is no number of transactions.")
    return int(matched[1])


reader = Pgbench()
