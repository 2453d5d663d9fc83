"""The measured part of a run: begin the job, and look at its task until it is at rest."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from campaigns.kinds.base import Context
from campaigns.kinds.base.foreman import patiently
from campaigns.kinds.hosts.answering import Hosts
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.job_invocations import Counts, Invocation, counts_of
from campaigns.kinds.servers.katello import Katello

FIRST_LOOK_SECONDS, LOOK_SECONDS = 0.5, 2.0
"""Between two looks; the first ones are closer. One look in two seconds loads nothing that is measured."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look saw. seconds: since Foreman took the job."""

    seconds: float
    counts: Counts


@dataclass(slots=True)
class Watched:
    """A job as of the last look. gave_up: for so many seconds no host had ended. timed_out: the run's time was over."""

    job: Invocation
    task: ForemanTask
    looks: list[Look] = field(default_factory=list)
    wall_seconds: float = 0.0
    gave_up: bool = False
    timed_out: bool = False

    @property
    def counts(self) -> Counts:
        """What the task counted at last."""
        return counts_of(self.task)

    @property
    def planning_seconds(self) -> float | None:
        """Seconds until each host had a task, as the looks saw it; None where that was not seen."""
        return next(
            (
                look.seconds
                for look in self.looks
                if look.counts.total and look.counts.planned >= look.counts.total
            ),
            None,
        )


class _Progress:
    """Notices when something has moved on."""

    def __init__(self, began_at: float) -> None:
        self.moved_at = began_at
        self._best = (0, 0)

    def see(self, counts: Counts, now: float) -> None:
        seen = (counts.ended, counts.planned)
        if seen > self._best:
            self._best, self.moved_at = seen, now


def watch(
    katello: Katello,
    start: Callable[[], Invocation],
    give_up_seconds: float,
    context: Context,
    hosts: Hosts | None = None,
) -> Watched:
    """Begin a job, and look at it until it is at rest, nothing moves any more, or the time is over.

    hosts: the virtual ones that answer it. Raise TargetUnavailable where Foreman stops answering, GeneratorFailed where the
    virtual hosts have ended, Cancelled.
    """
    job = start()
    began_at = time.monotonic()
    watched, progress = Watched(job, _asked(katello, job.task)), _Progress(began_at)
    pause = FIRST_LOOK_SECONDS
    while True:
        now = time.monotonic()
        watched.wall_seconds = now - began_at
        progress.see(watched.counts, now)
        _note(watched, context)
        if watched.task.at_rest:
            return watched
        watched.timed_out = watched.wall_seconds > context.deadline_seconds
        watched.gave_up = now - progress.moved_at > give_up_seconds
        if watched.timed_out or watched.gave_up:
            return watched
        context.check()
        if hosts is not None:
            hosts.check()
        katello.pause(pause)
        pause = min(LOOK_SECONDS, 2 * pause)
        watched.task = _asked(katello, job.task)


def _asked(katello: Katello, task: str) -> ForemanTask:
    return patiently(katello, lambda: katello.task(task), "its job", LOOK_SECONDS)


def _note(watched: Watched, context: Context) -> None:
    counts = watched.counts
    watched.looks.append(Look(watched.wall_seconds, counts))
    context.progress(
        {
            "hosts": counts.total or watched.job.total,
            "hosts_done": counts.succeeded,
            "failed": counts.failed,
            "seconds": watched.wall_seconds,
        }
    )
