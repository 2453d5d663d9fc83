"""Read sysbench, version 1: its printed output, of one run or several."""

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
from campaigns.results.readers.base.texts import number_from_0, outputs

BEGIN = re.compile(r"^sysbench (\d\S{0,40}).{0,200}$", re.MULTILINE)
NUMBER = r"([-+.\deE]{1,40})"
OPTIONS = re.compile(
    r"^ {0,9}([A-Z][a-z]\w*(?: \w+){0,4}|[a-z]+(?: [a-z]+)?): (\S.{0,100})$", re.MULTILINE
)
TESTS = {
    "CPU speed:": "cpu",
    "memory speed test": "memory",
    "File operations:": "fileio",
    "SQL statistics:": "sql",
}
UNNAMED = "not named"
THREADS = "Number of threads"
SETTINGS = {
    THREADS: "threads",
    "Target transaction rate": "target rate",
    "Prime numbers limit": "prime limit",
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
EVENTS = re.compile(r"^ {0,9}total number of events: {1,60}(\d{1,15})", re.MULTILINE)
SECONDS = re.compile(rf"^ {{0,9}}total time: {{1,60}}{NUMBER}s", re.MULTILINE)
LATENCY = re.compile(
    rf"^ {{0,9}}(avg|(\d{{1,3}})th percentile): {{1,60}}{NUMBER}[ \r]*$", re.MULTILINE
)
MIB = 1024.0**2
FIGURES = (
    (
        "transaction_rate",
        "Transactions per second",
        "1/s",
        rf"transactions: .*\({NUMBER} per sec",
        1,
    ),
    ("query_rate", "Queries per second", "1/s", rf"queries: .*\({NUMBER} per sec", 1),
    ("throughput", "Throughput", "B/s", rf"MiB transferred \({NUMBER} MiB/sec", MIB),
    ("read_rate", "Reads per second", "1/s", rf"reads/s: {{1,60}}{NUMBER}", 1),
    ("write_rate", "Writes per second", "1/s", rf"writes/s: {{1,60}}{NUMBER}", 1),
    ("sync_rate", "Syncs per second", "1/s", rf"fsyncs/s: {{1,60}}{NUMBER}", 1),
    ("read_throughput", "Read throughput", "B/s", rf"read, MiB/s: {{1,60}}{NUMBER}", MIB),
    ("write_throughput", "Write throughput", "B/s", rf"written, MiB/s: {{1,60}}{NUMBER}", MIB),
)
IGNORED = re.compile(r"ignored errors: {1,60}(\d{1,15}) ", re.MULTILINE)
FATAL = re.compile(r"^FATAL: (.{1,300})", re.MULTILINE)
EVENT_RATE = "event_rate"


class Sysbench:
    """Threads are a factor, and other settings that differ; one output is one run."""

    name = "sysbench"
    label = "sysbench"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the lines with which every output begins."""
        return (
            bool(re.search(rb"^sysbench \d", head, re.MULTILINE)) and b"Number of threads:" in head
        )

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
        result = []
        for begin, block, where in outputs(source.text().replace("\r\n", "\n"), BEGIN):
            builder.fact("sysbench", begin[1])
            result.append((_settings(block, where), block, where))
        levels, shared = varying([settings for settings, _, _ in result])
        factors = _factors([settings for settings, _, _ in result])
        for (_, block, where), differing in zip(result, levels, strict=True):
            _run(
                builder,
                block,
                where,
                {name: differing[name] for name in differing if name in factors},
            )
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
    value = dict(OPTIONS.findall(head))
    if THREADS not in value:
        refuse(where, "The output of this run is not whole: it does not say the number of threads.")
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
    events, seconds = EVENTS.search(block), SECONDS.search(block)
    if not (events and seconds and "Threads fairness:" in block):
        fatal = FATAL.search(block)
        message = f" It says: {fatal[1].strip()}." if fatal else ""
        refuse(
            where,
            f"The output of this run is not whole; sysbench prints up to its fairness.{message}",
        )
    values: dict[str, float] = {}
    for name, _, _, pattern, factor in FIGURES:
        if match := re.search(rf"^ {{0,9}}(?:\S{{1,20}} )?{pattern}", block, re.MULTILINE):
            values[name] = number_from_0(match[1], where) * factor
    done, span = int(events[1]), number_from_0(seconds[1], where)
    if span:
        values[EVENT_RATE] = done / span
    for name, percent, text in LATENCY.findall(block):
        milliseconds = number_from_0(text, where)
        key = common.MEAN if name == "avg" else common.percentile(int(percent))
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
