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
from campaigns.results.readers.base.runners import without_prefixes
from campaigns.results.readers.base.texts import number_from_0, outputs

MARK = re.compile(r"transaction type: \S")
BEGIN = re.compile(r"^transaction type: (.{1,300})$", re.MULTILINE)
KNOWN = re.compile(
    r"(?!.{0,200}\b(?:nan|NaN|inf)\b)(?:transaction type: |scaling factor: |query mode: |partition|(?:total |maximum )?number of |duration: |latency |"
    r"(?:initial|average) connection time|tps = |rate limit|statement latencies|SQL script \d|[ \t]+-|[ \t]+\d|"
    r"pgbench[ :]|starting vacuum|progress: |client \d|Run was aborted|dropping old|creating |generating |vacuuming|"
    r"\d+ of \d+ tuples|done[ .])"
)
"""Lines that pgbench prints, also while it fills its tables."""
ABORTED = re.compile(r"^.{0,40}(Run was aborted; .{1,60})$", re.MULTILINE)
LAST_TPS = re.compile(r"\A.*^tps = [^\n]*\n", re.MULTILINE | re.DOTALL)
STARTS = re.compile(r"^(?:pgbench \(|starting vacuum|progress: |.{0,40}client \d)", re.MULTILINE)
"""What stands above the errors of a run that has not printed its figures yet."""
TIME = re.compile(r"(\S{1,40}) ms(?: \(including failures\))?")
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
        builder = Builder(self.name, self.label, work=("transaction",))
        builder.declare(*METRICS)
        texts = without_prefixes(source.text(), MARK)
        blocks = [
            (begin[1], block, where)
            for text in texts
            for begin, block, where in outputs(_with_errors_below(text), BEGIN)
        ]
        constant = _constant([_settings(kind, block) for kind, block, _ in blocks])
        for kind, block, where in blocks:
            with source.spare():
                _run(builder, kind, block, where, constant)
        for name, value in constant.items():
            builder.note(name, value)
        for text in texts:
            source.count_unknown(text, KNOWN)
            _told(builder, text)
        return builder.build(
            name=f"pgbench: {blocks[0][0] if blocks else ''}",
            question="How many transactions per second does the database take?",
            primary=["tps", "tps_with_connecting", common.MEAN],
            tags=("pgbench",),
        )


def _with_errors_below(text: str) -> str:
    """Return a text in which a run that was aborted says so below its figures.

    pgbench prints errors at once, and figures at its end where they go to a file: then the errors of a run stand
    above its figures, with what it says as it starts and of its clients.
    """
    parts = re.split(r"^(?=transaction type: )", text, flags=re.MULTILINE)
    for place, part in enumerate(parts[:-1]):
        gap = part[found.end() :] if (found := LAST_TPS.search(part)) else part
        aborted = ABORTED.search(gap)
        if aborted and (not place or STARTS.search(gap, 0, aborted.start())):
            parts[place] = part[: len(part) - len(gap)] + "\n" * gap.count("\n")
            parts[place + 1] = parts[place + 1].rstrip("\n") + f" \n{aborted[0]}\n"
    return "".join(parts)


def _told(builder: Builder, text: str) -> None:
    """Note the version, and which parts of a text are left out."""
    if version := VERSION.search(text):
        builder.fact("pgbench", version[1])
    if "progress: " in text:
        builder.drop("Lines of progress are left out: they are parts of the same run.")
    if "statement latencies" in text:
        builder.drop("Latencies of single statements are left out: they are parts of the whole.")
    if "SQL script " in text:
        builder.drop("Figures of single scripts are left out: they are parts of the whole.")
    if "rate limit schedule lag" in text:
        builder.drop("The schedule lag of --rate is left out: it is a part of the latency.")
    if "number of transactions skipped" in text or "latency limit" in text:
        builder.drop(
            "Numbers of transactions that were skipped or late are left out: pgbench counts neither as failed."
        )


def _settings(kind: str, block: str) -> dict[str, str]:
    lines = dict(_pairs(block))
    result = {name: lines[key] for key, name in FACTORS.items() if key in lines}
    return {"transaction": kind.strip()} | result


def _pairs(block: str) -> list[tuple[str, str]]:
    pairs = (re.split(r": | = ", line, maxsplit=1) for line in block.split("\n"))
    return [(pair[0].strip(), pair[1].strip()) for pair in pairs if len(pair) == 2]


def _once(block: str, where: str) -> dict[str, str]:
    """Return the lines of one output by their key. Raise BadFile if one that is read is there twice."""
    lines: dict[str, str] = {}
    for key, value in _pairs(block):
        read = key in FACTORS or key in TIMES or key.startswith("number of ")
        if read and lines.get(key, value) != value:
            refuse(where, f"“{key[:60]}” stands twice below this line; two outputs are mixed.")
        lines[key] = value
    return lines


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
    lines = _once(block, where)
    values = {}
    for key, name in TIMES.items():
        if key in lines and (time := TIME.fullmatch(lines[key])):
            values[name] = number_from_0(time[1], where) / 1000
    for match in TPS.finditer(block):
        name = "tps" if match[2] in WITHOUT else "tps_with_connecting"
        if match[2] in (*WITHOUT, *WITH):
            if name in values:
                refuse(where, "Two lines “tps = …” of one kind stand below this one; which holds?")
            values[name] = number_from_0(match[1], where)
    old = block.count("(including connections establishing)")
    if old != block.count("(excluding connections establishing)"):
        refuse(where, "One of its two lines “tps = …” is missing or damaged.")
    if not values.keys() & {"tps", "tps_with_connecting"}:
        refuse(where, "There is no line “tps = …” for this run; the output is not whole.")
    done = _count(lines.get("number of transactions actually processed", ""), where)
    failed = _count(lines.get("number of failed transactions", "0"), where)
    if "number of failed transactions" in lines and done + failed:
        values[common.FAILED_SHARE] = failed / (done + failed)
    for name in NOTES:
        builder.note(name, lines.get(name))
    aborted = ABORTED.search(block)
    reason = aborted[1] if aborted else "" if done else "no transaction was processed"
    builder.run(levels, values, reason=reason, units_done=done, units_failed=failed)


def _count(text: str, where: str) -> int:
    matched = re.match(r"(\d{1,15})(?!\d)", text, re.ASCII)
    if matched is None:
        refuse(where, f"“{text[:40]}” is no number of transactions.")
    return int(matched[1])


reader = Pgbench()
