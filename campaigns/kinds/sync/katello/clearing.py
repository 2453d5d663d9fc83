"""End perfdash's own tasks on the content to measure, and refuse while others use it."""

import time
from collections.abc import Sequence

from campaigns.kinds.base import NotClean, Target
from campaigns.kinds.base.foreman import end_ours, is_ours, wait_for
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kinds.servers.katello import Katello
from campaigns.kinds.sync.katello.parts import Part, known

SYNCS = ("Actions::Katello::Repository::Sync", "Actions::Katello::CapsuleContent::Sync")
"""Labels of the tasks that perfdash begins. Tasks that Katello begins after them have the same request id."""


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
            wait_for(
                katello, task, began_at + seconds,
                "Katello began it after a sync of an earlier run; wait for its end, or give the "
                "campaign a cool-down.",
            )  # fmt: skip
    return ended


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
