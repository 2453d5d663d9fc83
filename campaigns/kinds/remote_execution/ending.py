"""End what a run made at a Foreman: its jobs, and the collections of their hosts."""

import time
from collections.abc import Sequence

from campaigns.kinds.base import NotClean
from campaigns.kinds.base.foreman import CANCEL_SECONDS, end_ours, is_ours, wait_for
from campaigns.kinds.servers import job_invocations as jobs
from campaigns.kinds.servers.foreman_tasks import ForemanTask
from campaigns.kinds.servers.katello import Katello


def unfinished_jobs(katello: Katello, mark: str, begun: Sequence[str] = ()) -> list[ForemanTask]:
    """Return the tasks of jobs that have not stopped and that `mark` or `begun` says are ours."""
    tasks = katello.tasks(f"state != stopped and label = {jobs.LABEL}")
    return [task for task in tasks if is_ours(task, begun, mark) or mark in task.action]


def end_jobs(katello: Katello, mark: str, seconds: float, begun: Sequence[str] = ()) -> int:
    """End our jobs that go on; return how many. Raise NotClean where one does not end in time."""
    tasks = unfinished_jobs(katello, mark, begun)
    for task in tasks:
        end_job(katello, jobs.job_of(task), task, seconds)
    return len(tasks)


def end_job(katello: Katello, job: int | None, task: ForemanTask, seconds: float) -> None:
    """Cancel a job and wait for its end; one that a smart proxy does not end is ended by force. Raise NotClean."""
    if task.state == "paused":
        end_ours(katello, [task], seconds)
        return
    if job is None:
        katello.cancel([task.id])
    else:
        jobs.cancel(katello, job)
        try:
            wait_for(katello, task, time.monotonic() + min(seconds, CANCEL_SECONDS), "")
        except NotClean:
            jobs.cancel(katello, job, force=True)
    wait_for(
        katello, task, time.monotonic() + seconds,
        "Foreman was asked to cancel the job, also by force; look at it there.",
    )  # fmt: skip


def scatter(katello: Katello, mark: str) -> int:
    """Delete the host collections whose names begin with a mark; return how many."""
    found = jobs.own_collections(katello, mark)
    for pk in found:
        jobs.scatter(katello, pk)
    return len(found)
