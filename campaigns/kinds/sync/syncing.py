"""The measured part of a run: start the syncs, and watch their tasks until all have ended."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from campaigns.kinds.base import Context, Parameters, TargetUnavailable
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import Task
from campaigns.kinds.sync.failures import CANCELLED, failure_class
from campaigns.kinds.sync.parts import Parts
from campaigns.kinds.sync.repositories import Pair, start_sync
from campaigns.kit.http.errors import NoAnswer, Unavailable
from campaigns.kit.mappings import JsonObject

ARTIFACTS = "sync.downloading.artifacts"
SKIPPED = "sync.was_skipped"
AWAY_SECONDS = 60.0
"""How long Pulp's API may not answer while its tasks run."""
STEP_SECONDS = 1.0
CLOCK_SECONDS = 1.0
"""How far Pulp's clock may drift from ours during a sync."""


@dataclass(slots=True)
class Syncs:
    """The tasks of a run, as of the last look; instants by the monotonic clock."""

    tasks: dict[str, Task]
    started_at: float
    wall_seconds: float = 0.0
    looks: list[tuple[float, int]] = field(default_factory=list)
    """At each look: seconds since the start, and files that all tasks had downloaded."""
    parts: Parts = field(default_factory=Parts)
    timed_out: bool = False
    not_started: float = 0.0
    """The begin of the last look at which no task had started."""
    started: float | None = None
    """The end of the first look at which one had started."""
    not_ended: float = 0.0
    """The begin of the last look at which one was running."""

    def saw(self, began: float, ended: float) -> None:
        """Record the times of a look; seconds since the start."""
        if not any(task.started for task in self.tasks.values()):
            self.not_started = began
        elif self.started is None:
            self.started = ended
        if not self.ended:
            self.not_ended = began

    def bounds(self) -> tuple[float, float]:
        """Return the least and most seconds from the first start to the last end, by our clock."""
        started = self.wall_seconds if self.started is None else self.started
        least = max(0.0, self.not_ended - started - CLOCK_SECONDS)
        return least, self.wall_seconds - self.not_started + CLOCK_SECONDS

    @property
    def ended(self) -> bool:
        """Return whether every task has ended."""
        return all(task.ended for task in self.tasks.values())

    @property
    def seconds(self) -> float | None:
        """Seconds from the first start of a task to the last end, by Pulp's clock."""
        starts = [task.started for task in self.tasks.values() if task.started]
        ends = [task.finished for task in self.tasks.values() if task.finished]
        if len(starts) < len(self.tasks) or len(ends) < len(self.tasks):
            return None
        return (max(ends) - min(starts)).total_seconds()

    @property
    def artifacts(self) -> int:
        """The number of files that all tasks report as downloaded."""
        return sum(task.done(ARTIFACTS) for task in self.tasks.values())

    @property
    def skipped(self) -> int:
        """The number of tasks that had nothing to do."""
        return sum(SKIPPED in task.progress for task in self.tasks.values())

    def failures(self) -> dict[str, int]:
        """Count the failed tasks by class."""
        return dict(Counter(filter(None, map(failure_of, self.tasks.values()))))

    def first_message(self) -> str:
        """Return Pulp's message about the first task that failed; empty where none failed."""
        failed = (task for task in self.tasks.values() if failure_of(task))
        return next((task.failure_text for task in failed), "")

    def rates(self) -> list[float]:
        """Return the files per second of each whole step, from the counts at each look."""
        rates: list[float] = []
        at, done = 0.0, 0
        for seconds, files in self.looks:
            while seconds >= (len(rates) + 1) * STEP_SECONDS:
                end = (len(rates) + 1) * STEP_SECONDS
                share = (end - at) / (seconds - at) if seconds > at else 1.0
                rates.append((share * (files - done)) / STEP_SECONDS)
                done += round(share * (files - done))
                at = end
        return rates


def sync_all(
    pulp: Pulp, pairs: Sequence[Pair], parameters: Parameters, context: Context, limit: float
) -> Syncs:
    """Sync every repository, and watch until all tasks have ended or the time limit is over.

    Raise TargetUnavailable where Pulp does not answer for longer than AWAY_SECONDS.
    """
    started_at = time.monotonic()
    hrefs = [start_sync(pulp, pair, parameters) for pair in pairs]
    syncs = Syncs({href: _first_look(pulp, href) for href in hrefs}, started_at)
    last_answer = time.monotonic()
    syncs.saw(0.0, last_answer - started_at)
    syncs.parts.look(last_answer - started_at, syncs.tasks.values())
    while not syncs.ended:
        gone = time.monotonic() - started_at
        if gone > limit:
            syncs.timed_out = True
            break
        pulp.rest(gone)
        began = time.monotonic() - started_at
        try:
            for href, task in syncs.tasks.items():
                if not task.ended:
                    syncs.tasks[href] = pulp.task(href)
        except (NoAnswer, Unavailable) as error:
            _require_back(last_answer, error)
            continue
        last_answer = time.monotonic()
        syncs.saw(began, last_answer - started_at)
        syncs.looks.append((last_answer - started_at, syncs.artifacts))
        syncs.parts.look(last_answer - started_at, syncs.tasks.values())
        context.progress(_progress(syncs, pairs))
    syncs.wall_seconds = time.monotonic() - started_at
    return syncs


def _first_look(pulp: Pulp, href: str) -> Task:
    """Return a task that was just started; Pulp may stop answering even before that."""
    last_answer = time.monotonic()
    while True:
        try:
            return pulp.task(href)
        except (NoAnswer, Unavailable) as error:
            _require_back(last_answer, error)
            pulp.rest(time.monotonic() - last_answer)


def _require_back(last_answer: float, error: Exception) -> None:
    if time.monotonic() - last_answer > AWAY_SECONDS:
        raise TargetUnavailable(
            f"Pulp was away for more than {AWAY_SECONDS:g} s in the middle of the sync: {error}"
        ) from None


def failure_of(task: Task) -> str:
    """Return the class of failure of a task; empty where it runs or has succeeded."""
    if not task.ended or task.state in ("completed", "skipped"):
        return ""
    if task.state == "canceled" and not task.error_text:
        return CANCELLED
    return failure_class(task.error_text, str(task.error.get("error_code") or ""))


def samples_of(syncs: Syncs) -> dict[str, list[Any]]:
    """Return the columns of the samples, with a row for each task."""
    tasks = list(syncs.tasks.values())
    return {
        "repository": list(range(1, len(tasks) + 1)),
        "state": [task.state for task in tasks],
        "queue_seconds": [task.queue_seconds for task in tasks],
        "work_seconds": [task.seconds for task in tasks],
        "files": [task.done(ARTIFACTS) for task in tasks],
        "failure": [failure_of(task) for task in tasks],
    }


def _progress(syncs: Syncs, pairs: Sequence[Pair]) -> JsonObject:
    ended = sum(task.ended for task in syncs.tasks.values())
    return {
        "files_done": syncs.artifacts,
        "syncs_total": len(pairs),
        "syncs_done": ended,
        "seconds": syncs.looks[-1][0] if syncs.looks else 0.0,
        "step_seconds": STEP_SECONDS,
        "rate_series": syncs.rates(),
    }
