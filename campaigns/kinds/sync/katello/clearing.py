"""End perfdash's own tasks on the content to measure, and refuse while others use it."""

import time
from collections.abc import Sequence

from campaigns.kinds.base import Context, NotClean, Target
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kinds.servers.katello import Katello, StillGoesOn
from campaigns.kinds.sync.katello.parts import Part, known
from campaigns.kit.http.errors import Answered

SYNCS = ("Actions::Katello::Repository::Sync", "Actions::Katello::CapsuleContent::Sync")
"""Labels of the tasks that perfdash begins. Tasks that Katello begins after them have the same request id."""
CLEAR_SECONDS = 300.0
CANCEL_SECONDS = 20.0


def clear(
    katello: Katello, target: Target, parts: Sequence[Part], begun: Sequence[str], seconds: float
) -> int:
    """End the unfinished tasks that this installation began; return how many. Raise NotClean for tasks of others."""
    tasks = unfinished(katello, parts)
    mark = own_prefix(target)
    if strangers := [task for task in tasks if not is_ours(task, begun, mark)]:
        task, more = strangers[0], len(strangers) - 1
        raise NotClean(
            f"Somebody else uses the content: “{task.action}” of {task.username or 'an unknown user'} is "
            f"{task.state} (task {task.id}){f', and {more} more' if more else ''}. Wait for its end, "
            "or end it in Foreman; this perfdash ends only what it began itself."
        )
    began_at = time.monotonic()
    ended = end_ours(katello, [task for task in tasks if task.label in SYNCS], seconds)
    for task in tasks:
        if task.label not in SYNCS:
            _wait(
                katello, task, began_at + seconds,
                "Katello began it after a sync of an earlier run; wait for its end, or give the "
                "campaign a cool-down.",
            )  # fmt: skip
    return ended


def end_ours(katello: Katello, tasks: Sequence[ForemanTask], seconds: float) -> int:
    """Cancel syncs, stop those that are paused, and wait for their end. Raise NotClean."""
    began_at = time.monotonic()
    if running := [task.id for task in tasks if task.state != "paused"]:
        katello.cancel(running)
    if paused := [task.id for task in tasks if task.state == "paused"]:
        _stop(katello, paused)
    for task in tasks:
        _wait(
            katello, task, began_at + seconds,
            "Foreman was asked to end it; look at it there, and unlock it if nothing runs any more.",
        )  # fmt: skip
    return len(tasks)


def _wait(katello: Katello, task: ForemanTask, until: float, advice: str) -> None:
    try:
        katello.wait_until_stopped(task.id, max(1.0, until - time.monotonic()))
    except StillGoesOn as error:
        raise NotClean(f"{error} {advice}") from None


def unfinished(katello: Katello, parts: Sequence[Part]) -> list[ForemanTask]:
    """Return the tasks that have not stopped and use what is to be synced, each once."""
    by_id: dict[str, ForemanTask] = {}
    for part in parts:
        if part.proxy is not None:
            with known(f"smart proxy {part.proxy}"):
                content = katello.proxy_content(part.proxy)
            tasks = [read_task(each) for each in content.get("active_sync_tasks") or ()]
            resource = f"resource_type = SmartProxy and resource_id = {part.proxy}"
            label = "label = Actions::Katello::CapsuleContent::Sync"
            tasks += katello.tasks(f"state != stopped and {label} and {resource}")
        else:
            resource = f"resource_type = Katello::Repository and resource_id = {part.repository}"
            tasks = katello.tasks(f"state != stopped and {resource}")
        by_id |= {task.id: task for task in tasks if task.state != "stopped"}
    return list(by_id.values())


def is_ours(task: ForemanTask, begun: Sequence[str], mark: str) -> bool:
    """Return whether this attempt began the task, or a request whose X-Request-Id begins with `mark`."""
    return task.id in begun or task.request_id.startswith(mark)


def mark_of(target: Target, context: Context) -> str:
    """Return the prefix of the request ids of this attempt, by which its tasks are known."""
    return f"{own_prefix(target)}attempt-{context.sender.rpartition('/')[2]}-"


def _stop(katello: Katello, paused: Sequence[str]) -> None:
    try:
        katello.stop(paused)
    except Answered as error:
        raise NotClean(
            f"A sync of an earlier run is paused, and keeps its repository locked (task {paused[0]}). "
            f"Foreman does not stop it ({error}) Resume or unlock it there."
        ) from None
