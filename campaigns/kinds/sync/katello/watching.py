"""The measured part of a run: start the syncs, and watch their tasks until all are at rest."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_hex

from campaigns.kinds.base import (
    Context,
    NotClean,
    Parameters,
    RemovedByOthers,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.foreman import AWAY_SECONDS, LOCKED, first_error_of, mark_of, seconds_of
from campaigns.kinds.servers.foreman_tasks import TOTAL, ForemanTask
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.servers.pulp_tasks import Progress
from campaigns.kinds.sync.failures import CANCELLED, failure_class
from campaigns.kinds.sync.katello.parts import Part, Work, body_of
from campaigns.kinds.sync.parts import Parts
from campaigns.kit.http.errors import Answered, NoAnswer, Unavailable
from campaigns.kit.mappings import JsonObject

ARTIFACTS = "Downloading Artifacts"
CODES = {
    "downloading metadata files": "sync.downloading.metadata",
    "parsed packages": "sync.parsing.packages",
    "downloading artifacts": "sync.downloading.artifacts",
    "associating content": "associating.content",
    "un-associating content": "unassociating.content",
    "skipping sync (no change from previous sync)": "sync.was_skipped",
}
"""Codes of Pulp's progress reports, by the label of Katello's line for each."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The counts in a task's output, in the form of Pulp's progress reports."""

    href: str
    progress: dict[str, Progress]


def lines_of(task: ForemanTask) -> Lines:
    """Return the lines of a task, without the one that adds them up."""
    reports = {}
    for label, (done, total) in task.progress.items():
        if label != TOTAL:
            code = CODES.get(label.lower(), label)
            reports[code] = Progress(code, done, total, label)
    return Lines(task.id, reports)


@dataclass(slots=True)
class Watched:
    """The tasks of a run, as of the last look; `parts` in the same order."""

    parts: Sequence[Part]
    tasks: dict[str, ForemanTask] = field(default_factory=dict)
    wall_seconds: float = 0.0
    looks: int = 0
    spans: Parts = field(default_factory=Parts)
    timed_out: bool = False
    first_error: str = ""
    """Foreman's message about the first task that failed."""

    @property
    def at_rest(self) -> bool:
        """Whether no task changes by itself any more."""
        return all(task.at_rest for task in self.tasks.values())

    @property
    def seconds(self) -> float | None:
        """Seconds from the first start to the last end, by Foreman's clock."""
        return seconds_of(list(self.tasks.values()))

    @property
    def artifacts(self) -> int:
        """The number of files that all tasks report as downloaded."""
        return sum(task.done(ARTIFACTS) for task in self.tasks.values())

    def failures(self) -> dict[str, int]:
        """Count the failed tasks by class."""
        classes = (failure_of(task) for task in self.tasks.values() if task.at_rest)
        return dict(Counter(each for each in classes if each))


def failure_of(task: ForemanTask) -> str:
    """Return the class of failure of a task; empty where it runs or has succeeded."""
    if not task.at_rest or task.succeeded:
        return ""
    if task.state == "paused":
        return "paused"
    if task.result == "cancelled":
        return CANCELLED
    return failure_class(" ".join(task.errors))


def watch(
    katello: Katello,
    target: Target,
    work: Work,
    parameters: Parameters,
    context: Context,
    limit: float,
) -> Watched:
    """Sync every part, and watch until all tasks are at rest or the time limit is over.

    Raise NotClean where something is locked, TargetUnavailable where Foreman stops answering.
    """
    started_at = time.monotonic()
    watched = Watched(work.parts)
    for part in work.parts:
        task = _begin(katello, part, parameters, mark_of(target, context))
        watched.tasks[task.id] = task
        work.tasks.append(task.id)
        work.save(context)
    last_answer = time.monotonic()
    while not watched.at_rest:
        gone = time.monotonic() - started_at
        if gone > limit:
            watched.timed_out = True
            break
        katello.rest(gone)
        try:
            _look(katello, watched, started_at)
        except (NoAnswer, Unavailable) as error:
            away = time.monotonic() - last_answer
            if away > AWAY_SECONDS:
                raise TargetUnavailable(
                    f"Foreman was away for more than {AWAY_SECONDS:g} s in the middle of the sync: "
                    f"{error}"
                ) from None
            continue
        last_answer = time.monotonic()
        context.progress(_progress(watched, last_answer - started_at))
    watched.wall_seconds = time.monotonic() - started_at
    watched.first_error = first_error_of(
        katello, [task for task in watched.tasks.values() if failure_of(task)]
    )
    return watched


def _begin(katello: Katello, part: Part, parameters: Parameters, mark: str) -> ForemanTask:
    mark = f"{mark}{token_hex(4)}"
    body = body_of(part, parameters)
    try:
        if part.proxy is not None:
            return katello.sync_proxy(part.proxy, body, mark)
        return katello.sync_repository(part.repository or 0, body, mark)
    except Answered as error:
        if error.status == 404:
            raise RemovedByOthers(
                f"Katello had {part} when the run began, and has it no more: somebody else removed it."
            ) from None
        if error.status != LOCKED:
            raise
        raise NotClean(
            f"Katello does not begin the sync of {part}, as something else holds it: {error.server_message}"
        ) from None


def _look(katello: Katello, watched: Watched, started_at: float) -> None:
    for pk, task in watched.tasks.items():
        if not task.at_rest:
            watched.tasks[pk] = katello.task(pk)
    watched.looks += 1
    watched.spans.look(time.monotonic() - started_at, map(lines_of, watched.tasks.values()))


def _progress(watched: Watched, seconds: float) -> JsonObject:
    return {
        "files_done": watched.artifacts,
        "syncs_total": len(watched.tasks),
        "syncs_done": sum(task.at_rest for task in watched.tasks.values()),
        "seconds": seconds,
    }
