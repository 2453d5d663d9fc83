"""What a run comes to: its values, failures and phases, from the job's task and the rows of its hosts."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.kinds.base import (
    Distribution,
    Health,
    Measured,
    Parameters,
    Phase,
    TargetUnavailable,
)
from campaigns.kinds.base.foreman import health_of_seconds
from campaigns.kinds.hosts.answering import Answered
from campaigns.kinds.remote_execution import virtual
from campaigns.kinds.remote_execution.summary import (
    CANCELLED,
    UNFINISHED,
    HostRow,
    as_unfinished,
    failures_of,
    of_hosts,
    samples_of,
    series_of,
    times_us,
)
from campaigns.kinds.remote_execution.watching import Watched
from campaigns.kinds.servers.foreman_tasks import MILLISECOND, WHOLE_SECOND

FOREMAN_LOOKS_SECONDS = 15.0
"""How often Foreman looks at the hosts of a job, so that its own task may end so much later (dynflow, `with_sub_plans.rb`)."""


def measured_of(
    watched: Watched,
    rows: Sequence[HostRow],
    parameters: Parameters,
    left: str,
    answered: Answered | None,
) -> Measured:
    """Return the result of a run. Raise TargetUnavailable where somebody else cancelled the job or a part of it.

    A job that perfdash gave up is counted by the rows of its hosts, which were read after its end; another one by its task, of which
    the rows are proved to be as many.
    """
    wanted, gave_up = parameters["hosts"], watched.gave_up or watched.timed_out
    if gave_up:
        rows = [as_unfinished(row) for row in rows]
    elif cancelled := sum(row.failure == CANCELLED for row in rows) or watched.counts.cancelled:
        raise TargetUnavailable(
            f"Somebody cancelled the job on {cancelled} of {wanted} hosts: that is no failure of the level."
        )
    succeeded = sum(row.is_good for row in rows) if gave_up else watched.counts.succeeded
    failures = failures_of(rows)
    if gave_up:
        others = sum(count for name, count in failures.items() if name != UNFINISHED)
        failures[UNFINISHED] = wanted - succeeded - others
    duration = duration_of(watched, rows)
    failure = _failure(watched, succeeded, duration, left)
    values: dict[str, float] = {
        "succeeded": float(succeeded),
        "failed": float(wanted - succeeded),
        "success": 100.0 * succeeded / wanted,
    }
    if gave_up:
        values["job_duration"] = watched.wall_seconds
    elif not failure and duration:
        values |= {"job_duration": duration.seconds, "hosts_rate": succeeded / duration.seconds}
        columns = samples_of(rows)
        values |= of_hosts(
            *(columns[name] for name in ("start_seconds", "work_seconds", "end_seconds", "failure"))
        )
    if watched.planning_seconds is not None:
        values["planning_duration"] = watched.planning_seconds
    samples, looks = samples_of(rows), {"looks": float(len(watched.looks))}
    return Measured(
        values=values,
        health=virtual.health_with(_health(duration, looks), answered),
        samples=samples,
        series=series_of(rows),
        distributions=[
            Distribution.of("host_time", times_us(samples["work_seconds"], samples["failure"]))
        ],
        phases=_phases(watched, rows, duration),
        units_done=succeeded,
        units_failed=wanted - succeeded,
        failures=failures,
        failure=failure,
        censored=frozenset({"job_duration"}) if gave_up else frozenset(),
        work={"watched": watched, "rows": rows, "answered": answered},
    )


@dataclass(frozen=True, slots=True)
class Duration:
    """How long a job took, and the greatest error of that, both in seconds."""

    seconds: float
    resolution: float


def duration_of(watched: Watched, rows: Sequence[HostRow]) -> Duration | None:
    """Return the time from the start of a job to the end of its last host; None where Foreman does not show it.

    Foreman looks at the hosts of a job only now and then, so the job's own task ends later than they. Without their ends that is taken.
    """
    ends = [row.ended for row in rows if row.ended is not None]
    resolution = WHOLE_SECOND if watched.task.whole_seconds else MILLISECOND
    if ends and len(ends) == len(rows) and max(ends) > 0:
        return Duration(max(ends), resolution)
    if watched.task.seconds:
        return Duration(watched.task.seconds, max(watched.task.resolution, FOREMAN_LOOKS_SECONDS))
    return None


def _health(duration: Duration | None, figures: dict[str, float]) -> Health:
    if duration is None:
        return Health("healthy", (), figures)
    return health_of_seconds(duration.seconds, duration.resolution, figures)


def _failure(watched: Watched, succeeded: int, duration: Duration | None, left: str) -> str:
    """Return why the run as a whole failed; empty where the job came to its end, whatever became of its hosts."""
    task, counts = watched.task, watched.counts
    total = counts.total or watched.job.total
    done = f"{succeeded} of {total} hosts had succeeded"
    if watched.gave_up:
        return f"The job did not finish: {done}, and then none ended any more. Foreman was asked to cancel it.{left}"
    if watched.timed_out:
        return f"The job did not finish within the time of the run: {done}. Foreman was asked to cancel it.{left}"
    if task.state == "paused":
        return f"Foreman paused the job after an error: {'; '.join(task.errors) or 'it names none'}. {done.capitalize()}."
    if not total or counts.ended < total:
        said = "; ".join(task.errors) or f"nothing (result {task.result})"
        return f"The job ended with {counts.ended} of {total} hosts. Foreman says: {said}"
    if duration is None:
        return (
            "Foreman does not report how long the job took, or reports whole seconds and it took less than one: the duration is "
            "unknown. Run it on more hosts."
        )
    return ""


def _phases(watched: Watched, rows: Sequence[HostRow], duration: Duration | None) -> list[Phase]:
    """Return the planning, the job, and its last 5 % of hosts, each with its beginning."""
    ends = sorted(row.ended for row in rows if row.ended is not None)
    phases = [
        Phase("job", duration.seconds if duration else watched.wall_seconds, started_seconds=0.0)
    ]
    if watched.planning_seconds is not None:
        phases.append(Phase("planning", watched.planning_seconds, started_seconds=0.0))
    if len(ends) > 1 and ends[-1] > 0:
        last = ends[int(0.95 * (len(ends) - 1))]
        phases.append(
            Phase("last 5 % of hosts", max(0.0, ends[-1] - last), started_seconds=max(0.0, last))
        )
    return phases


def resolution_of(watched: Watched, rows: Sequence[HostRow]) -> float:
    """Return the greatest error of the duration of a job, in seconds."""
    duration = duration_of(watched, rows)
    return duration.resolution if duration else FOREMAN_LOOKS_SECONDS
