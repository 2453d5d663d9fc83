"""What a job comes to: rows of its hosts, metrics, series and failures. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from campaigns.kinds.base import Series
from campaigns.kinds.programs.health import percentile
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.job_invocations import exit_status_of, host_of

SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
SIGNS = (
    ("planning", ("could not use any", "applicable prox", "can not execute", "failed rendering")),
    ("proxy", ("proxy error", "gone missing from the smart proxy", "on the smart proxy")),
    ("connect", ("could not establish connection",)),
    ("pickup", ("not picked up in time",)),
    ("timeout", ("execution timeout exceeded",)),
)
"""Words in the errors and the output of a host that tell why it failed, by class; the first that fits counts."""
CANCELLED, SCRIPT, OTHER, UNFINISHED = "cancelled", "script", "other", "unfinished"
MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host of a job. Seconds are since the job began, and of its own task; None where Foreman does not show them."""

    number: int
    name: str
    started: float | None
    ended: float | None
    seconds: float | None
    result: str
    exit_status: str
    proxy: str
    failure: str

    @property
    def is_good(self) -> bool:
        """Whether the host succeeded."""
        return self.result == "success"


def rows_of(
    tasks: Sequence[ForemanTask], began: datetime | None, proxies: Mapping[int, str]
) -> list[HostRow]:
    """Return a row for each task of a host. began: when the job did, by Foreman's clock."""

    def since(at: datetime | None) -> float | None:
        return (at - began).total_seconds() if at and began else None

    rows = []
    for task in tasks:
        number, name = host_of(task)
        rows.append(
            HostRow(
                number, name, since(task.started), since(task.ended), task.seconds,
                task.result if task.state == "stopped" else task.state,
                exit_status_of(task), proxies.get(number, ""), failure_of(task),
            )
        )  # fmt: skip
    return rows


def failure_of(task: ForemanTask) -> str:
    """Return the class of a host's failure; empty where it has succeeded or goes on. A paused task does not go on by itself."""
    if task.succeeded or not task.at_rest:
        return ""
    if task.result == "cancelled":
        return CANCELLED
    words = f"{' '.join(task.errors)} {task.text}".lower()
    for name, signs in SIGNS:
        if any(sign in words for sign in signs):
            return name
    return SCRIPT if exit_status_of(task).isdecimal() else OTHER


def as_unfinished(row: HostRow) -> HostRow:
    """Return the row of a job that perfdash cancelled: hosts that were cancelled then had not finished."""
    goes_on = not row.failure and not row.is_good
    return replace(row, failure=UNFINISHED) if goes_on or row.failure == CANCELLED else row


def classes_of(rows: Sequence[HostRow], *, gave_up: bool) -> set[str]:
    """Return the classes of failures among the hosts of a job. gave_up: whether perfdash cancelled it."""
    each = map(as_unfinished, rows) if gave_up else rows
    return {row.failure for row in each if row.failure}


def failures_of(rows: Sequence[HostRow]) -> dict[str, int]:
    """Count the hosts that failed, by class."""
    return dict(Counter(row.failure for row in rows if row.failure))


def of_hosts(
    started: Sequence[float | None],
    seconds: Sequence[float | None],
    ended: Sequence[float | None],
    failures: Sequence[str],
) -> dict[str, float]:
    """Return the metrics of the times of hosts that succeeded; without such times none."""
    good = [number for number, failure in enumerate(failures) if not failure]
    times = _known(seconds, good)
    waits = _known(started, good)
    ends = _known(ended, good)
    values: dict[str, float] = {}
    if times:
        values |= {f"host_time_{name}": percentile(times, share) for name, share in SHARES.items()}
        values["host_time_max"] = max(times)
    if waits:
        values |= {f"host_wait_{name}": percentile(waits, SHARES[name]) for name in ("p50", "p95")}
    if ends:
        values["host_end_mean"] = sum(ends) / len(ends)
    return values


def samples_of(rows: Sequence[HostRow]) -> dict[str, list[Any]]:
    """Return the columns of the samples, with a row for each host."""
    return {
        "host": [row.name for row in rows],
        "start_seconds": [row.started for row in rows],
        "end_seconds": [row.ended for row in rows],
        "work_seconds": [row.seconds for row in rows],
        "result": [row.result for row in rows],
        "exit_status": [row.exit_status for row in rows],
        "proxy": [row.proxy for row in rows],
        "failure": [row.failure for row in rows],
    }


def series_of(rows: Sequence[HostRow]) -> list[Series]:
    """Return how many hosts ended in each second, and how many had not at its end; Foreman's ends are whole seconds."""
    ends = [int(max(0.0, row.ended)) for row in rows if row.ended is not None]
    if not ends or max(ends) > MOST_STEPS:
        return []
    counts = Counter(ends)
    done = [float(counts[second]) for second in range(max(ends) + 1)]
    pending, left = [], float(len(rows))
    for each in done:
        left -= each
        pending.append(left)
    return [
        Series("hosts that ended", "1/s", 1.0, done),
        Series("hosts that had not ended", "hosts", 1.0, pending),
    ]


def times_us(seconds: Sequence[float | None], failures: Sequence[str]) -> list[int]:
    """Return the times of the hosts that succeeded, in microseconds."""
    return [
        round(each * 1e6) for each, failure in zip(seconds, failures, strict=True)
        if each is not None and not failure
    ]  # fmt: skip


def _known(values: Sequence[float | None], numbers: Sequence[int]) -> list[float]:
    chosen = [values[number] for number in numbers]
    return [each for each in chosen if each is not None]
