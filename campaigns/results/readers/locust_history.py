"""Read Locust, `--csv`: the file `…_stats_history.csv`, a line a second; one run for each step of users.

Its totals are cumulative; a run has the requests between the first and the last line of a step, and those that ended
after its users had stopped, which count for everything but the rate. A request that was not asked in a step has no run there. Its
percentiles are those of the last 10 seconds; they are read from a step's last line, where the step is
longer than that, or the test until then is not. A file of only short tests has a run for each test: all of
it, without a rate, since the instants are whole seconds.
"""

from dataclasses import dataclass
from itertools import pairwise

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base import Builder, Options, Read, Source, refuse
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.building import MOST_CELLS
from campaigns.results.readers.base.samples import LeftOut
from campaigns.results.readers.base.tables import (
    Table,
    count,
    has_header,
    lenient_rows,
    number,
    tell_unknown,
)
from campaigns.results.readers.base.texts import instant_at

TOTAL = "Aggregated"
PERCENTILES = {"50%": 50, "90%": 90, "95%": 95, "99%": 99}
SHORTEST_SECONDS = 3
WINDOW_SECONDS = 10
MOST_LINES = 500_000
NEEDED = ("Total Request Count", "Total Failure Count", "Total Average Response Time")


LEFT = (
    *(
        "Requests/s",
        "Failures/s",
        "Total Median Response Time",
        "Total Min Response Time",
        "Total Max Response Time",
    ),
    "Total Average Content Size",
    *(f"{percent}%" for percent in ("66", "75", "80", "98", "99.9", "99.99", "100")),
)
COLUMNS = ("Timestamp", "User Count", "Type", "Name", *NEEDED)
HEADER = "Timestamp,User Count,Type,Name"
BEFORE_1_0 = (
    "Method,Name,Timestamp,# requests",
    "Name,Timestamp,# requests",
    "Timestamp,Type,Name,# requests",
    "Type,Name,Timestamp,# requests",
)


@dataclass(slots=True)
class _Line:
    """One second of one request. test: which of the file. milliseconds: total of all requests so far. percentiles: in seconds."""

    where: str
    test: int
    time: int
    users: int
    requests: int
    failures: int
    milliseconds: float
    percentiles: dict[str, float]


@dataclass(slots=True)
class _Step:
    """The lines of a number of users; before: the line before it, in the same test; after: without users, at its end."""

    lines: list[_Line]
    before: _Line | None = None
    after: _Line | None = None

    @property
    def seconds(self) -> int:
        return self.lines[-1].time - self.lines[0].time


class LocustHistory:
    """The number of users is a factor, and the request where there are several."""

    name = "locust_history"
    label = "Locust, history"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are the file's columns."""
        return any(has_header(head, names) for names in (HEADER, *BEFORE_1_0))

    def read(self, source: Source, options: Options) -> Read:
        """Read the steps of every request, or those of the total if there is nothing else."""
        if any(has_header(source.head, names) for names in BEFORE_1_0):
            refuse(
                "line 1",
                "This is the history of Locust before 1.0, which does not give the number of users; import the "
                "file _stats.csv (or _requests.csv) beside it.",
            )
        builder = Builder(self.name, self.label, work=("request",))
        builder.declare(
            *common.latency("aggregated", PERCENTILES.values(), "rounded"),
            common.rate("aggregated"),
            common.failed_share("aggregated"),
        )
        result = _lines(source)
        single = {name: lines for name, lines in result.items() if name != TOTAL} or result
        steps = [
            (step, name if len(single) > 1 else "")
            for name, lines in single.items()
            for step in _steps(lines)
        ]
        long = [
            each
            for each in steps
            if each[0].seconds >= SHORTEST_SECONDS and each[0].lines[-1].users
        ]
        idle, kept = 0, 0
        for step, request in long:
            done = _run(builder, step, request)
            idle, kept = idle + (not done), kept + done
        if long:
            _tell(builder, single, kept, idle)
        else:
            for name, lines in single.items():
                _whole(builder, lines, name if len(single) > 1 else "")
        if len(single) < len(result):
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


def _tell(builder: Builder, single: dict[str, list[_Line]], kept: int, idle: int) -> None:
    """Tell how many requests are in no run, and how many runs there are not. kept: requests in runs."""
    total = sum(_ends(lines) for lines in single.values())
    if kept < total:
        builder.drop(
            f"{total - kept:,} of {total:,} requests are left out: those of the first second of a step, of steps "
            f"shorter than {SHORTEST_SECONDS} s, since users were still arriving, and of seconds without users."
        )
    if idle:
        steps = "a step" if idle == 1 else f"{idle:,} steps"
        builder.drop(f"Requests that were not asked in {steps} have no run there.")


def _ends(lines: list[_Line]) -> int:
    """Return the requests of all tests of a file, of which the totals begin anew."""
    lasts = (
        line
        for line, following in zip(lines, [*lines[1:], None], strict=True)
        if following is None or _begins_anew(line, following)
    )
    return sum(line.requests for line in lasts)


def _begins_anew(line: _Line, following: _Line) -> bool:
    return following.test != line.test or following.requests < line.requests


def _lines(source: Source) -> dict[str, list[_Line]]:
    table: Table | None = None
    left = LeftOut()
    result: dict[str, list[_Line]] = {}
    begins: list[str] = []
    for line, fields in lenient_rows(source, left):
        where = f"line {line}"
        if line > MOST_LINES:
            refuse("", f"The file has more than {MOST_LINES:,} lines; split it.")
        if "Timestamp" in [name.strip() for name in fields]:
            begins.append(f"{where} is a second header")
            table = Table(fields)
            table.need(COLUMNS, "Locust writes it.")
            tell_unknown(source, table.names, (*COLUMNS, *PERCENTILES, *LEFT))
        elif table is None or len(fields) == 1:
            source.unknown(line)
        else:
            try:
                record = table.record(where, fields)
                request = f"{record['Type']} {record['Name']}".strip()[:500]
                found = _line(record, where, len(begins))
            except BadFile as problem:
                left.add(where, problem.problems[0][1])
                continue
            lines = result.setdefault(request, [])
            if lines and _begins_anew(lines[-1], found) and len(begins) == lines[-1].test:
                begins.append(f"the counts begin anew in {where}")
                found.test = len(begins)
            lines.append(found)
        if len(result) > MOST_CELLS:
            refuse(where, f"More than {MOST_CELLS} different requests; split the file.")
    left.told(source, len(result))
    if len(begins) > 1:
        source.note(f"{len(begins)} tests: {'; '.join(begins[1:4])}.")
    return result


def _line(record: dict[str, str], where: str, test: int) -> _Line:
    requests, failures, mean = (number(record, column, where) for column in NEEDED)
    line = _Line(
        where,
        test,
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


def _steps(lines: list[_Line]) -> list[_Step]:
    """Split where the number of users changes, and where a test starts again."""
    steps: list[_Step] = []
    last: _Line | None = None
    for line in lines:
        same = last is not None and not _begins_anew(last, line)
        if last and same and line.time <= last.time:
            refuse(line.where, "The time does not go on; the lines are not in order.")
        if last and same and last.users == line.users:
            steps[-1].lines.append(line)
        else:
            steps.append(_Step([line], last if same else None))
        last = line
    for step, following in pairwise(steps):
        if following.before is step.lines[-1] and not following.lines[-1].users:
            step.after = following.lines[-1]
    return steps


def _run(builder: Builder, step: _Step, request: str) -> int:
    """Add the run of a step, if anything was asked in it, and return how many requests."""
    first, last, end = step.lines[0], step.lines[-1], step.after or step.lines[-1]
    seconds, in_time, requests = (
        step.seconds,
        last.requests - first.requests,
        end.requests - first.requests,
    )
    if not requests:
        return 0
    failed = max(0, min(requests, end.failures - first.failures))
    values = {common.MEAN: max(0.0, end.milliseconds - first.milliseconds) / requests / 1000}
    if in_time:
        values[common.RATE] = in_time / seconds
        began = step.before or first
        only = not step.before or not step.before.requests
        if seconds > WINDOW_SECONDS or (only and last.time - began.time <= WINDOW_SECONDS):
            values |= last.percentiles if _asked_lately(step) else {}
    _add(builder, last.users, request, values, (first.time, end.time), (requests, failed))
    return requests


def _asked_lately(step: _Step) -> bool:
    """Return whether there was a request in the seconds of which the last line has percentiles."""
    last = step.lines[-1]
    before = [line for line in step.lines if line.time <= last.time - WINDOW_SECONDS]
    return not before or before[-1].requests < last.requests


def _whole(builder: Builder, lines: list[_Line], request: str) -> None:
    """Add a run for each test, from its first request on."""
    builder.drop(
        f"No number of users lasts {SHORTEST_SECONDS} s: each test is one run, with the users arriving, and "
        "without a rate, since the instants are whole seconds. Test longer, or import the file _stats.csv."
    )
    tests: list[list[_Line]] = []
    for line in lines:
        if not tests or _begins_anew(tests[-1][-1], line):
            tests.append([])
        tests[-1].append(line)
    for test in tests:
        last = test[-1]
        if not last.requests:
            builder.drop("Requests that were not asked in a test have no run there.")
            continue
        failed = min(last.requests, last.failures)
        values = {common.MEAN: last.milliseconds / last.requests / 1000}
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
