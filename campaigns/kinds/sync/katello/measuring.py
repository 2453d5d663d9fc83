"""From tasks at rest to what is stored of a run. Pure."""

from typing import Any

from campaigns.kinds.base import Distribution, Health, Measured, Phase
from campaigns.kinds.sync.failures import refuse_what_is_not_the_feeds
from campaigns.kinds.sync.katello.watching import ARTIFACTS, Watched, failure_of
from campaigns.kit import histogram

MOST_RESOLUTION_SHARE = 0.05


def measured_of(watched: Watched, limit: float) -> Measured:
    """Bring what was seen into the form of every driver. Raise TargetUnavailable."""
    failures = watched.failures()
    refuse_what_is_not_the_feeds(failures, watched.words)
    failed = sum(failures.values())
    values: dict[str, float] = {"failed_syncs": float(failed)}
    failure, censored = _failure(watched, failures, limit), frozenset[str]()
    if watched.timed_out:
        values["task_duration"] = values["wall_duration"] = watched.wall_seconds
        censored = frozenset({"task_duration", "wall_duration"})
    elif not failure:
        values |= _durations(watched)
    times = [task.seconds for task in watched.tasks.values() if task.seconds is not None]
    encoded = histogram.encode([round(seconds * 1e6) for seconds in times])
    return Measured(
        values=values,
        health=_health(watched),
        samples=_samples(watched),
        distributions=[
            Distribution("task_duration", encoded.encoded, encoded.count, encoded.dropped)
        ],
        phases=_phases(watched),
        units_done=0 if watched.timed_out else len(watched.tasks) - failed,
        units_failed=failed,
        failures=failures,
        failure=failure,
        censored=censored,
        work={"watched": watched},
    )


def _durations(watched: Watched) -> dict[str, float]:
    seconds = watched.seconds or 0.0
    values = {"task_duration": seconds, "wall_duration": watched.wall_seconds}
    queued = [task.queue_seconds for task in watched.tasks.values()]
    known = [each for each in queued if each is not None]
    if known:
        values["queue_duration"] = max(known)
    if watched.artifacts:
        values["file_rate"] = watched.artifacts / seconds
    return values


def _failure(watched: Watched, failures: dict[str, int], limit: float) -> str:
    """Return why the run as a whole failed; empty where it did not."""
    if watched.timed_out:
        return (
            f"The time limit of {limit:g} s ended the run; Foreman was asked to cancel its tasks."
        )
    if failures:
        counts = ", ".join(f"{count} {name}" for name, count in failures.items())
        paused = (
            (
                " A paused task could be resumed in Foreman, but would keep its repository locked; "
                "perfdash stops it."
            )
            if "paused" in failures
            else ""
        )
        return (
            f"{sum(failures.values())} of {len(watched.tasks)} syncs failed ({counts}). "
            f"Foreman says: {watched.words}{paused}"
        )
    if watched.seconds is None:
        return "Foreman does not tell when its tasks began and ended, so there is no duration."
    if watched.seconds <= 0:
        return (
            "The sync took less than a second, and this Foreman tells whole seconds only: nothing "
            "is known of its duration. Sync more content, or ask for skip_metadata_check (optimize off)."
        )
    return ""


def _phases(watched: Watched) -> list[Phase]:
    """Waiting and work by Foreman's clock; by ours the parts that lines of progress show, and the rest."""
    seconds = watched.seconds
    if seconds is None:
        return []
    waited = max(task.queue_seconds or 0.0 for task in watched.tasks.values())
    parts = watched.spans.phases()
    found = [
        Phase("waits to begin", waited, started_seconds=0.0),
        Phase("task", seconds, started_seconds=waited),
        *parts,
    ]
    if parts:
        end = max((part.started_seconds or 0.0) + part.seconds for part in parts)
        left = max(0.0, watched.wall_seconds - end)
        found.append(Phase("indexes, and the rest", left, started_seconds=end))
    return found


def _samples(watched: Watched) -> dict[str, list[Any]]:
    """One row a task."""
    tasks = list(watched.tasks.values())
    return {
        "repository": [str(part) for part in watched.parts][: len(tasks)],
        "state": [f"{task.state}, {task.result}" for task in tasks],
        "queue_seconds": [task.queue_seconds for task in tasks],
        "work_seconds": [task.seconds for task in tasks],
        "files": [task.done(ARTIFACTS) for task in tasks],
        "failure": [failure_of(task) for task in tasks],
    }


def _health(watched: Watched) -> Health:
    """Perfdash only looks on; it warns where Foreman's seconds are coarse beside the duration."""
    resolution, seconds = watched.resolution, watched.seconds
    figures = {
        "looks": float(watched.looks),
        "longest_between_looks_seconds": watched.spans.longest_between,
        "resolution_seconds": resolution,
    }
    if seconds and resolution > MOST_RESOLUTION_SHARE * seconds:
        reason = f"Foreman tells the duration to {resolution:g} s, which is {resolution / seconds:.0%} of it"
        return Health("warned", (reason,), figures)
    return Health("healthy", (), figures)
