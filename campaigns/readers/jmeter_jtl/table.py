"""The CSV form. Which columns there are is a setting of JMeter, and so is whether they are named."""

from campaigns.readers.base import Source, refuse
from campaigns.readers.base.tables import Table, rows
from campaigns.readers.jmeter_jtl.samples import Samples

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
    if "timeStamp" in [name.strip() for name in first]:
        table = Table(first)
    else:
        table = Table(_default(first, where))
        _add(samples, table.record(where, first), where)
    table.need(NEEDED, "switch jmeter.save.saveservice on for it.")
    for place, fields in lines:
        _add(samples, table.record(place, fields), place)


def _add(samples: Samples, record: dict[str, str], where: str) -> None:
    samples.add(
        where,
        began=record["timeStamp"],
        elapsed=record["elapsed"],
        label=record["label"],
        success=record["success"],
        size=record.get("bytes", ""),
        threads=record.get("allThreads", ""),
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
