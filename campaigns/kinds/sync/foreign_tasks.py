"""What Pulp does for somebody else: a run waits for its end, and is void where it went on meanwhile."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from campaigns.kinds.base import NotClean, Proof
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import UNFINISHED, Task

OTHERS_SECONDS = 20.0
MOST_NAMES = 3
AT_WORK = "running,canceling"
CLEAN_UP = ".orphan_cleanup"
"""What an earlier run may have left at it, too; ours has its turn after that by itself."""


def wait_for_others(pulp: Pulp) -> None:
    """Wait until no task is left: who cleans up orphans takes from a sync what it has just stored.

    Raise NotClean, naming the tasks.
    """
    began_at = time.monotonic()
    while tasks := [
        task
        for task in pulp.list("tasks/", state__in=UNFINISHED)
        if not task["name"].endswith(CLEAN_UP)
    ]:
        gone = time.monotonic() - began_at
        if gone > OTHERS_SECONDS:
            raise NotClean(
                f"Pulp is at work for somebody else: {_names(tasks)}. What such a task has stored "
                "would go with the orphans, so these were left: let it end, or cancel it yourself."
            )
        pulp.rest(gone)


def none_meanwhile(pulp: Pulp, tasks: Collection[Task]) -> Proof:
    """Prove that from the first start of these tasks to their last end, Pulp did nothing else."""
    name, expected = "tasks of others meanwhile", "none"
    starts = [task.started for task in tasks if task.started]
    ends = [task.finished for task in tasks if task.finished]
    if not starts or not ends:
        return Proof(name, expected, "not known", "", ok=False)
    ours = {task.href for task in tasks}
    others = list(_at_work(pulp, min(starts).isoformat(), max(ends).isoformat(), ours))
    return Proof(name, expected, _names(others) or expected, "", ok=not others)


def _at_work(
    pulp: Pulp, began: str, ended: str, ours: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Tasks that began before the end, and ended after the beginning or not at all."""
    for query in ({"finished_at__gte": began}, {"state__in": AT_WORK}):
        for task in pulp.list("tasks/", started_at__lte=ended, **query):
            if task["pulp_href"] not in ours and task.get("parent_task") not in ours:
                yield task


def _names(tasks: Sequence[Mapping[str, Any]]) -> str:
    shown = ", ".join(f"{task['name']} ({task['state']})" for task in tasks[:MOST_NAMES])
    return shown + (f" and {len(tasks) - MOST_NAMES} more" if len(tasks) > MOST_NAMES else "")
