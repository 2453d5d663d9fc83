"""Read what JMeter summed up: statistics.json of its dashboard, and the tables of its reports saved as CSV."""

import re

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import (
    Builder,
    Fidelity,
    Node,
    Options,
    Read,
    Source,
    documents,
    refuse,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.tables import Table, count, number, rows
from campaigns.results.readers.base.texts import clean, number_of

TOTALS = ("Total", "TOTAL")
KIB = 1024.0
JSON_HEAD = (b'"transaction"', b'"sampleCount"', b'"meanResTime"', b'"pct1ResTime"')
JSON_TIMES = {
    "meanResTime": common.MEAN,
    "medianResTime": common.percentile(50),
    "pct1ResTime": common.percentile(90),
    "pct2ResTime": common.percentile(95),
    "pct3ResTime": common.percentile(99),
}
OLD = {
    "sampler_label": "Label",
    "aggregate_report_count": "# Samples",
    "average": "Average",
    "aggregate_report_median": "Median",
    "aggregate_report_error%": "Error %",
    "aggregate_report_rate": "Throughput",
    "aggregate_report_bandwidth": "Received KB/sec",
}
"""Columns of older versions and of JMeterPluginsCMD, by those of today."""
OLD_PERCENTILE = re.compile(r"aggregate_report_(\d{1,2}(?:\.\d{1,3})?)%_line")
PERCENTILE = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)% Line")
RATE = re.compile(r"(\S{1,40}?)(?:/(sec|min|hour))?")
PER = {None: 1.0, "sec": 1.0, "min": 60.0, "hour": 3600.0}
NEEDED = ("Label", "# Samples", "Average", "Error %", "Throughput")


_Rows = dict[str, tuple[int, int, dict[str, float]]]
"""Requests, failed ones, and values, by label."""


class JmeterSummary:
    """The label is a factor where there are several; the row of all labels together is left out then."""

    name = "jmeter_summary"
    label = "JMeter, summary"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the keys of the dashboard's statistics, or the first columns of a saved table."""
        first = _heading(head)
        return all(key in head for key in JSON_HEAD) or first[:3] in (
            ["Label", "# Samples", "Average"],
            ["sampler_label", "aggregate_report_count", "average"],
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every label of every table in the file."""
        builder = Builder(self.name, self.label, work=("label",))
        saved = b'"sampleCount"' not in source.head
        tables = _saved(builder, source) if saved else _statistics(builder, source)
        fidelity: Fidelity = "rounded" if saved else "aggregated"
        builder.declare(
            *common.latency(fidelity, (50, 90, 95, 99)),
            common.rate(fidelity),
            common.failed_share(fidelity),
            common.transfer(fidelity),
        )
        several = {name for table in tables for name in table} - {*TOTALS}
        for table in tables:
            for name, (total, failed, values) in table.items():
                if name in TOTALS and len(table) > 1:
                    builder.drop(f"The row {name} is left out: it has the requests of all labels.")
                    continue
                builder.requests(
                    {"label": name} if len(several) > 1 else {}, values, total=total, failed=failed
                )
        builder.drop(
            "When the test ran is not in the file, nor is each sample; the JTL file has both, and gives p95 and the "
            "rate of each label, too."
        )
        return builder.build(
            name="JMeter",
            question="How fast does the server answer each request?",
            primary=["latency_p95", "latency_mean"],
            tags=("jmeter",),
        )


def _heading(head: bytes) -> list[str]:
    line = head.lstrip(b"\r\n").partition(b"\n")[0].decode(errors="replace")
    return [name.strip().strip('"') for name in re.split("[,;\t]", line)]


def _statistics(builder: Builder, source: Source) -> list[_Rows]:
    """Read statistics.json of one dashboard or several."""
    tables: list[_Rows] = []
    for document in documents(source):
        table: _Rows = {}
        for name, entry in document.items():
            total = entry.at("sampleCount").count()
            failed = entry.at("errorCount").count()
            if failed > total:
                refuse(entry.path, f"{failed} of {total} samples failed; the entry is damaged.")
            table[clean(name, 500)] = (total, failed, _json_values(entry))
        tables.append(table)
    builder.drop(
        "Percentiles are taken for 90, 95 and 99, which are JMeter's defaults: statistics.json does not tell whether "
        "aggregate_rpt_pct1 to 3 were changed."
    )
    return tables


def _json_values(entry: Node) -> dict[str, float]:
    values = {name: entry.at(key).seconds(1e-3) for key, name in JSON_TIMES.items() if key in entry}
    values[common.RATE] = entry.at("throughput").seconds()
    if "receivedKBytesPerSec" in entry:
        values[common.TRANSFER] = entry.at("receivedKBytesPerSec").seconds(KIB)
    return values


def _saved(builder: Builder, source: Source) -> list[_Rows]:
    """Read a table saved as CSV; a second heading begins another one."""
    line = source.head.partition(b"\n")[0]
    lines = rows(source, max(",;\t", key=lambda each: line.count(each.encode())))
    tables: list[_Rows] = []
    table: Table | None = None
    for where, fields in lines:
        if fields[0].strip() in ("Label", "sampler_label"):
            table = Table([_today(name.strip()) for name in fields])
            table.need(NEEDED, "save the whole table, in English (jmeter -Jlanguage=en).")
            tables.append({})
        elif table is not None:
            try:
                _row(tables[-1], table.record(where, fields), where)
            except BadFile as problem:
                where, reason = problem.problems[0]
                source.note(f"{where[:1].upper()}{where[1:]} is left out: {reason}")
    builder.drop(
        "Deviation, shortest and longest times are left out. JMeter rounds mean and percentiles to 1 ms here."
    )
    return tables


def _today(name: str) -> str:
    if old := OLD_PERCENTILE.fullmatch(name):
        return f"{old[1]}% Line"
    return OLD.get(name, name)


def _row(table: _Rows, record: dict[str, str], where: str) -> None:
    label, total = clean(record["Label"], 500), count(record, "# Samples", where)
    if label in table:
        refuse(where, f"The label “{label[:80]}” is there twice in one table.")
    share = _share(record["Error %"], where)
    values = {common.MEAN: number(record, "Average", where) / 1000}
    for column in record:
        percent = 50.0 if column == "Median" else None
        if line := PERCENTILE.fullmatch(column):
            percent = float(line[1])
        if percent in (50, 90, 95, 99):
            values[common.percentile(percent)] = number(record, column, where) / 1000
    values[common.RATE] = _rate(record["Throughput"], where)
    if "Received KB/sec" in record:
        values[common.TRANSFER] = number(record, "Received KB/sec", where) * KIB
    table[label] = (total, round(share * total), values)


def _share(text: str, where: str) -> float:
    """Return a share: “1.000%” of the table, or 0.01 of JMeterPluginsCMD."""
    result = number_of(text.strip().removesuffix("%"))
    share = -1.0 if result is None else result / (100 if text.strip().endswith("%") else 1)
    if not 0 <= share <= 1:
        refuse(where, f"Error %: “{text[:40]}” is no share.")
    return share


def _rate(text: str, where: str) -> float:
    """Return requests per second: a number, or one with /sec, /min or /hour."""
    matched = RATE.fullmatch(text.strip())
    value = number_of(matched[1]) if matched else None
    if matched is None or value is None or value < 0:
        refuse(where, f"Throughput: “{text[:40]}” is no rate.")
    return value / PER[matched[2]]


reader = JmeterSummary()
