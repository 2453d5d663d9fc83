"""Read Locust, `--csv`: the file `…_stats_history.csv`, a line a second; one run for each step of users.

Its totals are cumulative; a run has the requests between the first and the last line of a step. Its
percentiles are those of the last 10 seconds; they are read from a step's last line, where the step is
longer than that, or the test until then is not. A file of only short tests has a run for each test: all of
it, without a rate, since the instants are whole seconds.
"""

from dataclasses import dataclass

from campaigns.results.readers.base import Builder, Options, Read, Source, refuse
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.tables import Table, count, number, rows
from campaigns.results.readers.base.texts import instant_at

TOTAL = "Aggregated"
PERCENTILES = {"50%": 50, "90%": 90, "95%": 95, "99%": 99}
SHORTEST_SECONDS = 3
WINDOW_SECONDS = 10
MOST_LINES = 500_000
NEEDED = ("Total Request Count", "Total Failure Count", "Total Average Response Time")


@dataclass(slots=True)
class _Line:
    """One second of one request. milliseconds: total of all requests so far. percentiles: in seconds."""

    where: str
    time: int
    users: int
    requests: int
    failures: int
    milliseconds: float
    percentiles: dict[str, float]


class LocustHistory:
    """The number of users is a factor, and the request where there are several."""

    name = "locust_history"
    label = "Locust, history"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether it begins with the file's columns."""
        return head.removeprefix(b"\xef\xbb\xbf").startswith(b"Timestamp,User Count,Type,Name")

    def read(self, source: Source, options: Options) -> Read:
        """Read the steps of every request, or those of the total if there is nothing else."""
        builder = Builder(self.name, self.label, work=("request",))
        builder.declare(
            *common.latency("aggregated", PERCENTILES.values(), "rounded"),
            common.rate("aggregated"),
            common.failed_share("aggregated"),
        )
        result = _lines(source)
        single = {name: lines for name, lines in result.items() if name != TOTAL}
        steps = [
            (step, before, name if len(single) > 1 else "")
            for name, lines in (single or result).items()
            for step, before in _with_before(_steps(lines))
        ]
        long = [
            each for each in steps if _seconds(each[0]) >= SHORTEST_SECONDS and each[0][-1].users
        ]
        if len(long) < len(steps) and long:
            builder.drop(
                f"Seconds without users are left out, and steps shorter than {SHORTEST_SECONDS} s: "
                "users were still arriving."
            )
        for step, before, request in long:
            _run(builder, step, before, request)
        if not long:
            for name, lines in (single or result).items():
                _whole(builder, lines, name if len(single) > 1 else "")
        if single and TOTAL in result:
            builder.drop("The lines Aggregated are left out: they are the sum of the others.")
        builder.drop(
            f"Percentiles are those of the last {WINDOW_SECONDS} s of a step, rounded by Locust to "
            "about two digits; what it gives as 0 ms is left out."
        )
        return builder.build(
            name="Locust, by users",
            question="How do latency and throughput change with the number of users?",
            primary=[common.RATE, common.MEAN],
            tags=("locust",),
        )


def _lines(source: Source) -> dict[str, list[_Line]]:
    lines = rows(source, most=MOST_LINES)
    table = Table(next(lines, ("", [""]))[1])
    table.need(("Timestamp", "User Count", "Type", "Name", *NEEDED), "Locust writes it.")
    result: dict[str, list[_Line]] = {}
    for where, fields in lines:
        record = table.record(where, fields)
        request = f"{record['Type']} {record['Name']}".strip()[:500]
        result.setdefault(request, []).append(_line(record, where))
        if len(result) > MOST_CELLS:
            refuse(where, f"More than {MOST_CELLS} different requests; split the file.")
    return result


def _line(record: dict[str, str], where: str) -> _Line:
    requests, failures, mean = (number(record, column, where) for column in NEEDED)
    line = _Line(
        where,
        count(record, "Timestamp", where),
        count(record, "User Count", where),
        int(requests),
        int(failures),
        requests * mean,
        {
            common.percentile(percent): milliseconds / 1000
            for column, percent in PERCENTILES.items()
            if record.get(column, "N/A") != "N/A"
            and (milliseconds := number(record, column, where))
        },
    )
    if instant_at(line.time) is None or requests > 1e15 or mean > 1e12:
        refuse(where, "The time, or a number, is none that a test can have.")
    return line


def _steps(lines: list[_Line]) -> list[list[_Line]]:
    """Split where the number of users changes, and where a test starts again."""
    steps: list[list[_Line]] = []
    for line in lines:
        last = steps[-1][-1] if steps else None
        if last and last.users == line.users and last.requests <= line.requests:
            if line.time <= last.time:
                refuse(line.where, "The time does not go on; the lines are not in order.")
            steps[-1].append(line)
        else:
            steps.append([line])
    return steps


def _with_before(steps: list[list[_Line]]) -> list[tuple[list[_Line], _Line | None]]:
    """Return each step with the line before it, in the same test."""
    befores = [None, *(step[-1] for step in steps[:-1])]
    return [
        (step, before if before and before.requests <= step[0].requests else None)
        for step, before in zip(steps, befores, strict=True)
    ]


def _seconds(step: list[_Line]) -> int:
    return step[-1].time - step[0].time


def _run(builder: Builder, step: list[_Line], before: _Line | None, request: str) -> None:
    first, last = step[0], step[-1]
    seconds, requests = _seconds(step), last.requests - first.requests
    failed = max(0, min(requests, last.failures - first.failures))
    values = {common.RATE: requests / seconds}
    if requests:
        values[common.MEAN] = max(0.0, last.milliseconds - first.milliseconds) / requests / 1000
        began = before or first
        only = not before or not before.requests
        if seconds > WINDOW_SECONDS or (only and last.time - began.time <= WINDOW_SECONDS):
            values |= last.percentiles
    _add(builder, last.users, request, values, (first.time, last.time), (requests, failed))


def _whole(builder: Builder, lines: list[_Line], request: str) -> None:
    """Add a run for each test, from its first request on."""
    builder.drop(
        f"No number of users lasts {SHORTEST_SECONDS} s: each test is one run, with the users arriving, and "
        "without a rate, since the instants are whole seconds. Test longer, or import the file _stats.csv."
    )
    tests: list[list[_Line]] = []
    for line in lines:
        if not tests or line.requests < tests[-1][-1].requests:
            tests.append([])
        tests[-1].append(line)
    for test in tests:
        last = test[-1]
        failed = min(last.requests, last.failures)
        values = {}
        if last.requests:
            values[common.MEAN] = last.milliseconds / last.requests / 1000
            if last.time - test[0].time <= WINDOW_SECONDS:
                values |= last.percentiles
        users = max(line.users for line in test)
        instants, counts = (test[0].time, last.time), (last.requests, failed)
        _add(builder, users, request, values, instants, counts)


def _add(
    builder: Builder,
    users: int,
    request: str,
    values: dict[str, float],
    instants: tuple[int, int],
    counts: tuple[int, int],
) -> None:
    """Add a run. counts: requests, and those of them that failed."""
    levels: dict[str, str | int] = {"users": users}
    if request:
        levels["request"] = request
    total, failed = counts
    builder.requests(
        levels,
        values,
        total=total,
        failed=failed,
        started_at=instant_at(instants[0]),
        finished_at=instant_at(instants[1]),
    )


reader = LocustHistory()
