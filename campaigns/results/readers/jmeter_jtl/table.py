"""The CSV form. Which columns there are is a setting of JMeter, and so is whether they are named."""

from itertools import chain

from campaigns.results.readers.base import Source, refuse
from campaigns.results.readers.base.tables import Table, rows
from campaigns.results.readers.jmeter_jtl.samples import Samples

DEFAULT = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
]
WITHOUT_URL = [name for name in DEFAULT if name != "URL"]
NEEDED = ("timeStamp", "elapsed", "label", "success")


def read_table(source: Source, samples: Samples) -> None:
    """Read every line into `samples`."""
    lines = rows(source, _delimiter(source.head))
    where, first = next(lines, ("", [""]))
    named = "timeStamp" in [name.strip() for name in first]
    table = Table(first if named else _default(first, where))
    table.need(NEEDED, "switch jmeter.save.saveservice on for it.")
    places = [table.names.index(name) for name in NEEDED]
    size, threads = (table.place(name) for name in ("bytes", "allThreads"))
    for place, fields in lines if named else chain([(where, first)], lines):
        table.check(place, fields)
        began, elapsed, label, success = (fields[each] for each in places)
        samples.add(
            place,
            began=began,
            elapsed=elapsed,
            label=label,
            success=success,
            size=fields[size] if size is not None else "",
            threads=fields[threads] if threads is not None else "",
        )


def _delimiter(head: bytes) -> str:
    line = head.partition(b"\n")[0]
    return max(",;\t", key=lambda each: line.count(each.encode()))


def _default(first: list[str], where: str) -> list[str]:
    fitting = [columns for columns in (DEFAULT, WITHOUT_URL) if len(first) == len(columns)]
    if not fitting:
        refuse(
            where or "line 1",
            f"There are no names of columns, and {len(first)} fields; JMeter's default has "
            f"{len(DEFAULT)}. Save it with jmeter.save.saveservice.print_field_names=true.",
        )
    return fitting[0]
