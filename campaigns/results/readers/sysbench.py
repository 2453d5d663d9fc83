"""Read sysbench, versions 0.4 to 1.1: its printed output, of one run or several."""

import re

from campaigns.results.readers.base import (
    Builder,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    refuse,
    varying,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.runners import without_prefixes
from campaigns.results.readers.base.texts import number_from_0, outputs

BEGIN = re.compile(r"^sysbench (\d[^\s:]{0,40}).{0,200}$", re.MULTILINE)
MARK = re.compile(r"(?:^|(?<=[\]|>:Z\d] ))sysbench \d{1,3}\.\d")
HEAD = re.compile(rb"^(?:.{1,99}[\]|>:Z\d] |\x1b\[[\d;]{1,9}m)?sysbench \d{1,3}\.\d", re.MULTILINE)
NUMBER = r"([-+.\deE]{1,40})"
OPTIONS = re.compile(
    r"^ {0,9}([A-Z][a-z]\w*(?: \w+){0,4}|[a-z]+(?: [a-z]+)?): (\S.{0,100})$", re.MULTILINE
)
TESTS = {
    "CPU speed:": "cpu",
    "memory speed test": "memory",
    "File operations:": "fileio",
    "SQL statistics:": "sql",
    "OLTP test statistics:": "sql",
    "Doing CPU performance benchmark": "cpu",
    "Maximum prime number checked in CPU test": "cpu",
    "Doing memory operations speed test": "memory",
    "Extra file open flags": "fileio",
}
UNNAMED = "not named"
THREADS = "Number of threads"
SETTINGS = {
    THREADS: "threads",
    "Target transaction rate": "target rate",
    "Prime numbers limit": "prime limit",
    "Primer numbers limit": "prime limit",
    "block size": "block size",
    "total size": "total size",
    "operation": "operation",
    "scope": "scope",
}
FILE_SETTINGS = {
    "file test": re.compile(r"^Doing (.{1,60}) test", re.MULTILINE),
    "block size": re.compile(r"^Block size (\S{1,20})", re.MULTILINE),
    "file size": re.compile(r"^(\S{1,20}) total file size", re.MULTILINE),
    "input and output": re.compile(r"^Using (.{1,60}) I/O mode", re.MULTILINE),
}
EVENTS = re.compile(r"^ {0,9}total number of events: {1,60}(\d{1,15})$", re.MULTILINE)
SECONDS = re.compile(rf"^ {{0,9}}(?:total time|time elapsed): {{1,60}}{NUMBER}s$", re.MULTILINE)
LATENCY = re.compile(
    rf"^ {{0,9}}(avg|(?:approx\. {{1,3}})?(\d{{1,3}})(?:th)? percentile): {{1,60}}{NUMBER}(?:ms|s)?$",
    re.MULTILINE,
)
IN_SECONDS = re.compile(r"(?:avg|percentile): {1,60}[\d.]{1,40}s$", re.MULTILINE)
MIB = 1024.0**2
SCALES = {"b": 1.0, "Kb": 1024.0, "Mb": MIB, "Gb": 1024.0**3}
TRANSFERRED = re.compile(rf"Total transferred \S{{1,20}} {{1,9}}\({NUMBER}(b|Kb|Mb|Gb)/sec\)")
"""Of files, before version 1."""
FIGURES = (
    (
        "transaction_rate",
        "Transactions per second",
        "1/s",
        rf"transactions: .*\({NUMBER} per sec",
        1,
    ),
    ("query_rate", "Queries per second", "1/s", rf"queries: .*\({NUMBER} per sec", 1),
    ("throughput", "Throughput", "B/s", rf"Mi?B transferred \({NUMBER} Mi?B/sec\)", MIB),
    (
        "read_rate",
        "Reads per second",
        "1/s",
        rf"(?:reads/s: {{1,60}}|read: {{1,9}}IOPS={{1,9}}){NUMBER}",
        1,
    ),
    (
        "write_rate",
        "Writes per second",
        "1/s",
        rf"(?:writes/s: {{1,60}}|write: {{1,9}}IOPS={{1,9}}){NUMBER}",
        1,
    ),
    (
        "sync_rate",
        "Syncs per second",
        "1/s",
        rf"(?:fsyncs/s: {{1,60}}|fsync: {{1,9}}IOPS={{1,9}}){NUMBER}",
        1,
    ),
    (
        "read_throughput",
        "Read throughput",
        "B/s",
        rf"read(?:, MiB/s: {{1,60}}|: {{1,9}}IOPS=\S{{1,40}} ){NUMBER}",
        MIB,
    ),
    (
        "write_throughput",
        "Write throughput",
        "B/s",
        rf"writ(?:ten, MiB/s: {{1,60}}|e: {{1,9}}IOPS=\S{{1,40}} ){NUMBER}",
        MIB,
    ),
)
KNOWN = re.compile(
    r"(?!.{0,200}\b(?:nan|NaN|inf)\b)(?:sysbench \d|Number of |Report intermediate|Initializing |Threads started|Time limit exceeded|Done\.|"
    r"WARNING: |FATAL: |ALERT: |\[ {0,4}\d+|(?:SQL|OLTP test|General) statistics|Test execution summary|"
    r"File operations|Throughput|Latency|Threads fairness|CPU speed|(?:Prime|Primer) numbers|"
    r"(?:Target|Random|Report|Extra|Block|Read/Write|Periodic|Calling|Using|Doing|Initial|Maximum|Total|Operations|Memory) |"
    r"Creating |Inserting |Dropping |Removing |Preparing |Bytes written|\d+ (?:files|bytes)|"
    r"[\d.]+ ?\S{0,5} ?(?:total file size|transferred)|Running |Read [\d.]+|[\d.]+ Requests/sec|Debug mode|"
    r"Latency histogram|[ \t]+value  ---|[ \t]+[\d.]+ \|\*{0,60}[ \t]*\d+$|[ \t]+[A-Za-z0-9][\w .()/,%-]{0,40}:|Could not |"
    r"  [\d.]+[ \t]+\S)"
)
"""Lines that sysbench prints, also those that are left out."""
IGNORED = re.compile(r"ignored errors: {1,60}(\d{1,15}) ", re.MULTILINE)
FATAL = re.compile(r"^FATAL: (.{1,300})", re.MULTILINE)
STARTED = ("Threads started!", "Running the test with following options")
EVENT_RATE = "event_rate"


class Sysbench:
    """Threads are a factor, and other settings that differ; one output is one run."""

    name = "sysbench"
    label = "sysbench"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the lines with which every output begins."""
        return bool(HEAD.search(head)) and b"Number of threads:" in head

    def read(self, source: Source, options: Options) -> Read:
        """Read every output in the file."""
        builder = Builder(self.name, self.label, work=("test", "file test", "operation"))
        builder.declare(
            *(
                ReadMetric(name, label, unit, False, "rounded")
                for name, label, unit, _, _ in FIGURES
            ),
            ReadMetric(EVENT_RATE, "Events per second", "1/s", False, "aggregated"),
            *common.latency("rounded"),
            common.failed_share("aggregated"),
        )
        result: list[tuple[dict[str, Scalar], str, str]] = []
        for text in without_prefixes(source.text(), MARK):
            source.count_unknown(text, KNOWN)
            for begin, block, where in outputs(text, BEGIN):
                builder.fact("sysbench", begin[1])
                if not any(mark in block for mark in STARTED):
                    source.note("Outputs of prepare and cleanup are left out.")
                    continue
                with source.spare():
                    result.append((_settings(block, where), block, where))
        levels, shared = varying([settings for settings, _, _ in result])
        factors = _factors([settings for settings, _, _ in result])
        for (_, block, where), differing in zip(result, levels, strict=True):
            with source.spare():
                own = {name: differing[name] for name in differing if name in factors}
                _run(builder, block, where, own)
        for name, value in shared.items():
            builder.note(name, value)
        if any(settings["test"] == UNNAMED for settings, _, _ in result):
            builder.drop(
                "sysbench does not print the name of the tests threads and mutex: import their outputs apart."
            )
        builder.drop(
            "Lowest and highest latency, histograms, intermediate reports and fairness are left out. sysbench "
            "rounds latency to 0.01 ms; what it prints as 0.00 is left out."
        )
        return builder.build(
            name=f"sysbench: {shared.get('test', 'several tests')}",
            question="How much does the machine do in a second?",
            primary=["transaction_rate", "throughput", EVENT_RATE],
            tags=("sysbench",),
        )


def _settings(block: str, where: str) -> dict[str, Scalar]:
    head = block.partition("Threads started!")[0]
    value: dict[str, str] = {}
    for key, text in OPTIONS.findall(head):
        if key in SETTINGS and value.setdefault(key, text).strip() != text.strip():
            refuse(where, f"“{key}” stands twice below this line; two outputs are mixed.")
    if THREADS not in value:
        refuse(where, "The output of this run is not whole: it does not say the number of threads.")
    if any(block.count(mark) > 1 for mark in STARTED):
        refuse(where, "A second run begins below this line, without its line “sysbench …”.")
    if "Checkpoint report:" in block:
        refuse(
            where,
            "It has reports of checkpoints, which begin anew; measure without --report-checkpoints.",
        )
    settings: dict[str, Scalar] = {
        name: value[key].strip() for key, name in SETTINGS.items() if key in value
    }
    for name, pattern in FILE_SETTINGS.items():
        if match := pattern.search(head):
            settings[name] = match[1]
    kind = next((test for mark, test in TESTS.items() if mark in block), "")
    return {"test": kind or UNNAMED, **settings}


def _factors(runs: list[dict[str, Scalar]]) -> set[str]:
    """Return the test, and the settings that differ between runs of one test: tests have settings of their own."""
    same = [
        [each for each in runs if each["test"] == test] for test in {run["test"] for run in runs}
    ]
    return {"test", *(name for group in same for each in varying(group)[0] for name in each)}


def _run(builder: Builder, block: str, where: str, levels: dict[str, Scalar]) -> None:
    fatal = FATAL.search(block)
    if fatal and not EVENTS.search(block):
        builder.run(levels, {}, reason=f"sysbench says: {fatal[1].strip()}", units_failed=1)
        return
    every, spans = EVENTS.findall(block), SECONDS.findall(block)
    if not (every and spans and "Threads fairness:" in block):
        refuse(where, "The output of this run is not whole; sysbench prints up to its fairness.")
    if len(every) > 1 or len(spans) > 1:
        refuse(
            where, "Two results follow this line: the line “sysbench …” of one of them is missing."
        )
    if IN_SECONDS.search(block):
        refuse(where, "Its latency is in seconds, not ms; this version of sysbench is not known.")
    values: dict[str, float] = {}
    for name, _, _, pattern, factor in FIGURES:
        if match := re.search(rf"^ {{0,9}}(?:\S{{1,20}} )?{pattern}", block, re.MULTILINE):
            values[name] = number_from_0(match[1], where) * factor
    if old := TRANSFERRED.search(block):
        values["throughput"] = number_from_0(old[1], where) * SCALES[old[2]]
    done, span = int(every[0]), number_from_0(spans[0], where)
    if span:
        values[EVENT_RATE] = done / span
    for name, percent, text in LATENCY.findall(block):
        milliseconds = number_from_0(text, where)
        key = common.MEAN if name == "avg" else common.percentile(int(percent))
        if key in values:
            refuse(where, f"Two lines “{name[:40]}” follow this line; which holds?")
        if milliseconds:
            builder.declare(*(each for each in common.latency("rounded", [int(percent or 50)])))
            values[key] = milliseconds / 1000
    ignored = IGNORED.search(block)
    failed = int(ignored[1]) if ignored else 0
    if ignored and done + failed:
        values[common.FAILED_SHARE] = failed / (done + failed)
    builder.run(
        levels,
        {name: value for name, value in values.items() if value or name == common.FAILED_SHARE},
        reason="" if done else "no event was completed",
        units_done=done,
        units_failed=failed,
    )


reader = Sysbench()
