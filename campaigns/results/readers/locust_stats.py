"""Read Locust, `--csv`: the file `…_stats.csv`, one line a request; times in milliseconds.

Locust before 1.0 had other names of columns, and its percentiles in a file of their own.
"""

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
from campaigns.results.readers.base.samples import LeftOut
from campaigns.results.readers.base.tables import (
    Table,
    count,
    has_header,
    lenient_rows,
    number,
    tell_unknown,
)

COLUMNS = ("Type", "Name", "Request Count", "Failure Count", "Average Response Time")
BEFORE_1_0 = {
    "Method": "Type",
    "# requests": "Request Count",
    "# failures": "Failure Count",
    "Average response time": "Average Response Time",
    "Min response time": "Min Response Time",
    "Max response time": "Max Response Time",
}
TOTALS = ("Aggregated", "Total")
PERCENTILES = {"50%": 50, "90%": 90, "95%": 95, "99%": 99, "99.9%": 99.9}
EXTREMES = {"Min Response Time": "latency_min", "Max Response Time": "latency_max"}
LEFT = (
    *(
        "Median Response Time",
        "Median response time",
        "Average Content Size",
        "Failures/s",
        "Requests Failed/s",
    ),
    *(f"{percent}%" for percent in ("66", "75", "80", "98", "99.9", "99.99", "100")),
)
HEADERS = (
    "Type,Name,Request Count,Failure",
    "Type,Name,# requests,",
    "Method,Name,# requests,",
    "Name,# requests,50%",
)


class LocustStats:
    """The request is a factor where there are several."""

    name = "locust_stats"
    label = "Locust, statistics"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the file's columns."""
        return any(has_header(head, names) for names in HEADERS)

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
        records = _records(source)
        single = [each for each in records if not _is_total(each[1])]
        several = len({_request(record) for _, record in single}) > 1
        for where, record in single or records:
            with source.spare("A line"):
                _run(builder, {"request": _request(record)} if several else {}, record, where)
        if single and len(single) < len(records):
            builder.drop("The line Aggregated is left out: it is the sum of the others.")
        elif single:
            source.note("There is no line Aggregated, which Locust writes last: is the file whole?")
        builder.drop("Locust rounds percentiles to about two digits, and gives no instants here.")
        return builder.build(
            name="Locust",
            question="How fast does the server answer each request?",
            primary=[common.percentile(95), common.MEAN],
            tags=("locust",),
        )


def _records(source: Source) -> list[tuple[str, dict[str, str]]]:
    """Return where each line is, and its fields by name; files one after the other are runs."""
    table: Table | None = None
    left = LeftOut()
    begins: list[str] = []
    records: list[tuple[str, dict[str, str]]] = []
    for line, fields in lenient_rows(source, left):
        where = f"line {line}"
        names = [BEFORE_1_0.get(name.strip(), name.strip()) for name in fields]
        if "Name" in names and ("Request Count" in names or "50%" in names):
            begins.append(where)
            table = _table(names)
            tell_unknown(source, names, (*COLUMNS, *EXTREMES, *PERCENTILES, *LEFT, "Requests/s"))
        elif table is None or len(fields) == 1:
            source.unknown(line)
        elif len(fields) != len(table.names):
            text = f"{len(fields)} fields; there are {len(table.names)} columns. Is the file whole?"
            left.add(where, text)
        else:
            records.append((where, table.record(where, fields)))
        if len(records) > MOST_VALUES:
            refuse("", f"The file has more than {MOST_VALUES:,} lines; split it.")
    left.told(source, len(records))
    _tell_runs(source, begins, records)
    return records


def _tell_runs(
    source: Source, begins: list[str], records: list[tuple[str, dict[str, str]]]
) -> None:
    requests = [_request(record) for _, record in records]
    twice = next((n for n, request in enumerate(requests) if request in requests[:n]), None)
    if len(begins) > 1:
        source.note(f"{len(begins)} runs of one setting: {begins[1]} is a second header.")
    elif twice is not None:
        source.note(
            f"Several runs of one setting: {records[twice][0]} has {requests[twice]} again."
        )


def _table(names: list[str]) -> Table:
    if "Failure Count" not in names:
        refuse(
            "line 1",
            "These are percentiles of Locust before 1.0, without failures; import the file _requests.csv or _stats.csv beside it.",
        )
    table = Table(names)
    table.need(COLUMNS, "Locust writes it.")
    return table


def _is_total(record: dict[str, str]) -> bool:
    return record["Name"] in TOTALS and record["Type"] in ("", "None")


def _request(record: dict[str, str]) -> str:
    return f"{record['Type']} {record['Name']}".strip()[:500]


def _run(builder: Builder, levels: dict[str, str], record: dict[str, str], where: str) -> None:
    total, failed = (count(record, f"{each} Count", where) for each in ("Request", "Failure"))
    if failed > total:
        refuse(where, f"{failed} failures of {total} requests; the line is damaged.")
    if not total:
        refuse(where, f"{_request(record)} was not asked for: there is nothing to tell of it.")
    values = {common.MEAN: number(record, "Average Response Time", where) / 1000}
    for column, name in EXTREMES.items():
        if column in record:
            values[name] = number(record, column, where) / 1000
    if "Requests/s" in record:
        values[common.RATE] = number(record, "Requests/s", where)
    for column, percent in PERCENTILES.items():
        if record.get(column, "N/A") != "N/A":
            values[common.percentile(percent)] = number(record, column, where) / 1000
    for name in [name for name, value in values.items() if value == 0 and "latency" in name]:
        del values[name]
        builder.drop("What Locust gives as 0 ms is left out.")
    builder.requests(levels, values, total=total, failed=failed, reason="every request failed")


reader = LocustStats()
