"""Read Locust, `--csv`: the file `…_stats.csv`, one line a request; times in milliseconds."""

from campaigns.results.readers.base import (
    MOST_VALUES,
    Builder,
    Options,
    Read,
    ReadMetric,
    Source,
    refuse,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.tables import Table, count, number, rows

COLUMNS = ("Type", "Name", "Request Count", "Failure Count", "Average Response Time")
TOTAL = "Aggregated"
PERCENTILES = {"50%": 50, "90%": 90, "95%": 95, "99%": 99, "99.9%": 99.9}
EXTREMES = {"Min Response Time": "latency_min", "Max Response Time": "latency_max"}


class LocustStats:
    """The request is a factor where there are several."""

    name = "locust_stats"
    label = "Locust, statistics"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether it begins with the file's columns."""
        return head.removeprefix(b"\xef\xbb\xbf").startswith(b"Type,Name,Request Count,Failure")

    def read(self, source: Source, options: Options) -> Read:
        """Read every line except the total, which is read if there is nothing else."""
        builder = Builder(self.name, self.label, work=("request",))
        builder.declare(
            *common.latency("aggregated", PERCENTILES.values(), "rounded"),
            ReadMetric("latency_min", "Shortest latency", "s", True, "aggregated", latency=True),
            ReadMetric("latency_max", "Longest latency", "s", True, "aggregated", latency=True),
            common.rate("aggregated"),
            common.failed_share("aggregated"),
        )
        lines = rows(source, most=MOST_VALUES)
        table = Table(next(lines, ("", [""]))[1])
        table.need(COLUMNS, "Locust writes it.")
        records = [(where, table.record(where, fields)) for where, fields in lines]
        single = [each for each in records if each[1]["Name"] != TOTAL or each[1]["Type"]]
        for where, record in single or records:
            request = f"{record['Type']} {record['Name']}".strip()
            _run(builder, {"request": request} if len(single) > 1 else {}, record, where)
        if single and len(single) < len(records):
            builder.drop("The line Aggregated is left out: it is the sum of the others.")
        builder.drop("Locust rounds percentiles to about two digits, and gives no instants here.")
        return builder.build(
            name="Locust",
            question="How fast does the server answer each request?",
            primary=[common.percentile(95), common.MEAN],
            tags=("locust",),
        )


def _run(builder: Builder, levels: dict[str, str], record: dict[str, str], where: str) -> None:
    total, failed = (count(record, f"{each} Count", where) for each in ("Request", "Failure"))
    if failed > total:
        refuse(where, f"{failed} failures of {total} requests; the line is damaged.")
    if not total:
        builder.run(levels, {}, reason="no request was made")
        return
    values = {common.MEAN: number(record, "Average Response Time", where) / 1000}
    for column, name in EXTREMES.items():
        if column in record:
            values[name] = number(record, column, where) / 1000
    if "Requests/s" in record:
        values[common.RATE] = number(record, "Requests/s", where)
    for column, percent in PERCENTILES.items():
        if record.get(column, "N/A") != "N/A":
            values[common.percentile(percent)] = number(record, column, where) / 1000
    builder.requests(levels, values, total=total, failed=failed, reason="every request failed")


reader = LocustStats()
