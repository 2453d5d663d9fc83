"""Tasks of a Foreman that runs begin: how they are known, timed and ended."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from campaigns.kinds.base.errors import NotClean, TargetUnavailable
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.base.values import Context, Health, Proof, Target
from campaigns.kinds.servers.foreman_tasks import MILLISECOND, WHOLE_SECOND, ForemanTask
from campaigns.kinds.servers.katello import Katello, StillGoesOn
from campaigns.kit.http.errors import Answered, NoAnswer, Unavailable

Asked = TypeVar("Asked")
CANCEL_SECONDS = 20.0
"""How long a run waits for the end of tasks that it cancels."""
CLEAR_SECONDS = 300.0
"""How long a reset waits for the end of tasks that earlier runs left."""
AWAY_SECONDS = 60.0
"""How long Foreman's API may not answer while tasks run."""
LOCKED = 422
"""The status of a request for a task that others do not let begin."""
MOST_RESOLUTION_SHARE = 0.05


def mark_of(target: Target, context: Context) -> str:
    """Return how the request ids of this attempt begin, by which its tasks are known, and the names of what it makes.

    A population that has the number of an attempt has another word before it.
    """
    sender = context.sender.rpartition(" ")[2].replace("/", "-")
    return f"{own_prefix(target)}{sender}-"


def is_ours(task: ForemanTask, begun: Sequence[str], mark: str) -> bool:
    """Return whether this attempt began the task, or a request whose X-Request-Id begins with `mark`."""
    return task.id in begun or task.request_id.startswith(mark)


def end_ours(katello: Katello, tasks: Sequence[ForemanTask], seconds: float) -> int:
    """Cancel tasks, stop those that are paused, and wait for their end; return how many. Raise NotClean."""
    began_at = time.monotonic()
    if running := [task.id for task in tasks if task.state != "paused"]:
        katello.cancel(running)
    if paused := [task.id for task in tasks if task.state == "paused"]:
        _stop(katello, paused)
    for task in tasks:
        wait_for(
            katello, task, began_at + seconds,
            "Foreman was asked to end it; look at it there, and unlock it if nothing runs any more.",
        )  # fmt: skip
    return len(tasks)


def wait_for(katello: Katello, task: ForemanTask, until: float, advice: str) -> ForemanTask:
    """Return a task once it has stopped. until: an instant of `time.monotonic`. Raise NotClean, with advice."""
    try:
        return katello.wait_until_stopped(task.id, max(1.0, until - time.monotonic()))
    except StillGoesOn as error:
        raise NotClean(f"{error} {advice}") from None


def seconds_of(tasks: Sequence[ForemanTask]) -> float | None:
    """Return the seconds from the first start to the last end by Foreman's clock; of one task, its own duration."""
    starts = [task.started for task in tasks if task.started]
    ends = [task.ended for task in tasks if task.ended]
    each = [task.seconds for task in tasks if task.seconds is not None]
    if not tasks or min(len(starts), len(ends), len(each)) < len(tasks):
        return None
    if len(tasks) == 1:
        return each[0]
    return max((max(ends) - min(starts)).total_seconds(), *each)


def resolution_of(tasks: Sequence[ForemanTask]) -> float:
    """Return the greatest error of `seconds_of`, in seconds."""
    if len(tasks) == 1:
        return tasks[0].resolution
    return WHOLE_SECOND if any(task.whole_seconds for task in tasks) else MILLISECOND


def health_of_clock(tasks: Sequence[ForemanTask], figures: dict[str, float]) -> Health:
    """Return the health of a run that Foreman times: warned where its seconds are coarse for the duration."""
    return health_of_seconds(seconds_of(tasks), resolution_of(tasks), figures)


def health_of_seconds(
    seconds: float | None, resolution: float, figures: dict[str, float]
) -> Health:
    """Return the health of a run of so many seconds by Foreman's clock: warned where its resolution is coarse for them."""
    figures = {**figures, "resolution_seconds": resolution}
    if seconds and resolution > MOST_RESOLUTION_SHARE * seconds:
        reason = f"Foreman reports the duration to {resolution:g} s, which is {resolution / seconds:.0%} of it"
        return Health("warned", (reason,), figures)
    return Health("healthy", (), figures)


def require_no_others(
    katello: Katello, prefix: str, belongs: Callable[[ForemanTask], bool] = lambda task: False
) -> Proof:
    """Prove that nobody else's task is at work, once those have ended that Katello began after tasks of earlier runs.

    belongs: says of further tasks that they are such ones. Raise NotClean.
    """
    until = time.monotonic() + CLEAR_SECONDS
    others = []
    for task in katello.tasks_at_work():
        if is_ours(task, (), prefix) or prefix in task.action or belongs(task):
            wait_for(katello, task, until, "Katello began it after a task of an earlier run.")
        else:
            others.append(task)
    if others:
        raise NotClean(
            f"Foreman is at work on {len(others)} other task{'' if len(others) == 1 else 's'}, such as "
            f"“{others[0].action}” of {others[0].username or 'an unknown user'}: they would share its workers. "
            "Wait for their end."
        )
    return Proof("other tasks at work", 0, 0, "count", ok=True)


def patiently(katello: Katello, ask: Callable[[], Asked], what: str, pause: float) -> Asked:
    """Return what `ask` returns; wait for a Foreman that is away for a moment, and ask again after a pause of so many seconds.

    what: goes on there meanwhile, such as its job. Raise TargetUnavailable.
    """
    began_at = time.monotonic()
    while True:
        try:
            return ask()
        except (NoAnswer, Unavailable) as error:
            away = time.monotonic() - began_at
            if away > AWAY_SECONDS:
                raise TargetUnavailable(
                    f"Foreman has not answered for {away:.0f} s while {what} ran: {error}"
                ) from None
        katello.pause(pause)


def first_error_of(katello: Katello, failed: Sequence[ForemanTask]) -> str:
    """Return the errors of the first of the tasks that failed; where it has none, those of its steps."""
    for task in failed[:1]:
        if task.errors:
            return "; ".join(task.errors)
        steps = katello.details(task.id).get("failed_steps") or ()
        errors = [step.get("error") for step in steps if isinstance(step, dict)]
        messages = [
            str(each["message"]) for each in errors if isinstance(each, dict) and "message" in each
        ]
        return "; ".join(messages) or f"nothing (result {task.result})"
    return ""


def _stop(katello: Katello, paused: Sequence[str]) -> None:
    try:
        katello.stop(paused)
    except Answered as error:
        raise NotClean(
            f"A task of an earlier run is paused, and keeps what it is about locked (task {paused[0]}). "
            f"Foreman does not stop it ({error}) Resume or unlock it there."
        ) from None
