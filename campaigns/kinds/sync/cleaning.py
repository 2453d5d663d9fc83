"""Bring a Pulp to its clean state without touching what others made, and detect the tasks of others."""

import re
import time
from collections.abc import Collection, Iterator, Sequence

from campaigns.kinds.base import Context, NotClean, NotOurs, Proof, Target
from campaigns.kinds.base.naming import INSTALLATION, OWN, own_prefix
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import UNFINISHED, StillAtIt, Task, TaskFailed, read_task
from campaigns.kit.http.errors import Answered, ClientError
from campaigns.kit.mappings import Json, JsonObject

THING = r"([0-9]+-[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z"
"""The end of a name: an attempt and a number, or the id of a distributed repository."""
EARLIER = re.compile(rf"{OWN}{THING}")
"""A whole name of an earlier version, which does not tell the installation."""
OF_PERFDASH = re.compile(rf"{OWN}{INSTALLATION}-{THING}")
"""A whole name, of any installation."""
CLEAN_SECONDS = 300.0
CANCEL_SECONDS = 20.0
MOST_NAMES = 5
KINDS = ("distributions", "repositories", "remotes")
OTHERS_SECONDS = 20.0
MOST_TASKS = 3
NO_WORKER = "No worker of Pulp is online, so no task goes on or is cancelled: start one."
CLEAN_UP = ".orphan_cleanup"
"""Ending of the name of a clean-up task. An earlier run may have left one; Pulp runs ours after it."""


def clean(pulp: Pulp, target: Target, context: Context) -> list[Proof]:
    """Cancel, delete and clean up what earlier runs left; return the proofs. Raise NotClean.

    Raise NotOurs at once where the Pulp holds content that this installation did not make.
    """
    began_at = time.monotonic()
    refuse_strangers(pulp, target)
    cancel_ours(pulp, target, CLEAN_SECONDS)
    deleted = 0
    while found := _delete_ours(
        pulp, target
    ):  # again: a dead run may have asked for more meanwhile
        deleted += found
    wait_for_others(pulp)
    if target.dedicated:
        refuse_strangers(pulp, target)  # again: others may have added content meanwhile
        href = pulp.start("POST", "orphans/cleanup/", {"orphan_protection_time": 0})
        _wait(pulp, href, "The clean-up of orphans", began_at)
    context.say(
        f"Pulp's own clean-up took {time.monotonic() - began_at:.1f} s, {deleted} things deleted"
    )
    return proofs_of(pulp, target)


def proofs_of(pulp: Pulp, target: Target) -> list[Proof]:
    """Prove that a Pulp holds no content and runs no tasks. Raise NotOurs."""
    status = pulp.status()
    artifacts, content = pulp.count("artifacts/"), pulp.count("content/")
    tasks = pulp.count("tasks/", state__in=UNFINISHED)
    workers = len(status.get("online_workers") or ())
    if (artifacts or content) and not target.dedicated:
        raise NotOurs(
            f"Pulp holds {artifacts} artifacts and {content} units of content that no repository of "
            "others explains. Mark the target as dedicated, so that orphans may be cleaned up at "
            "once; or wait until Pulp has done so by itself (24 hours by default)."
        )
    return [
        Proof("artifacts", 0, artifacts, "count", artifacts == 0),
        Proof("units of content", 0, content, "count", content == 0),
        Proof("tasks running or waiting", 0, tasks, "count", tasks == 0),
        Proof("workers online", "1 or more", workers, "count", workers > 0),
        Proof("storage used", "any", _used(status), "B", ok=True),
    ]


def is_ours(name: str, target: Target) -> bool:
    """Return whether this installation gave a name; names of others may have the same prefix."""
    return name.startswith(own_prefix(target)) and bool(OF_PERFDASH.match(name))


def is_removed(name: str, target: Target) -> bool:
    """Return whether a thing of this name is removed: what an earlier version made only where perfdash is alone."""
    return is_ours(name, target) or (target.dedicated and bool(EARLIER.match(name)))


def refuse_strangers(pulp: Pulp, target: Target) -> None:
    """Raise NotOurs where there is a repository of another installation, or one of others with content."""
    repositories = list(pulp.list("repositories/"))
    names = [str(each["name"]) for each in repositories]
    if others := [name for name in names if OF_PERFDASH.match(name) and not is_ours(name, target)]:
        raise NotOurs(
            f"Another perfdash uses this Pulp: {_quoted(others)}. The names of what this one makes begin with "
            f"{own_prefix(target)}, and it touches nothing else. Let the campaigns of the other one end; where that one is "
            "gone, delete these repositories yourself."
        )
    earlier = [each for each in repositories if EARLIER.match(each["name"])]
    if at_work := [each["name"] for each in earlier if list(_unfinished(pulp, each))]:
        raise NotOurs(
            f"A perfdash of an earlier version uses this Pulp now: {_quoted(at_work)}. Let its campaigns end."
        )
    strangers = [
        each["name"]
        for each in repositories
        if not is_removed(each["name"], target)
        and not each["latest_version_href"].endswith("/versions/0/")
    ]
    if strangers and all(EARLIER.match(name) for name in strangers):
        raise NotOurs(
            f"A perfdash of an earlier version has left content: {_quoted(strangers)}. Its names do not tell which perfdash "
            "that was. Mark the target as belonging to perfdash alone, and a run removes it; or delete it yourself."
        )
    if strangers:
        raise NotOurs(
            f"Pulp holds content that perfdash did not make: {_quoted(strangers)}. A Pulp with content of "
            "others is never emptied: measure one of your own, or delete these repositories yourself."
        )


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in sorted(names)[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown


def is_without_workers(pulp: Pulp) -> bool:
    """Return whether Pulp says that no worker is online; one that was just killed is online for a while."""
    try:
        return not pulp.status().get("online_workers")
    except ClientError:
        return False


def cancel_ours(pulp: Pulp, target: Target, seconds: float) -> int:
    """Cancel unfinished tasks on what this installation made, and wait for their end; return how many. Raise NotClean."""
    began_at = time.monotonic()
    cancelled = {
        task["pulp_href"]: read_task(pulp.get(task["pulp_href"]))
        for kind in ("repositories", "remotes")
        for thing in pulp.list(f"{kind}/", name__startswith=own_prefix(target))
        if is_ours(thing["name"], target)
        for task in _unfinished(pulp, thing)
    }.values()
    for task in cancelled:
        pulp.cancel(task.href)
    for task in cancelled:
        _end_of(pulp, task, began_at + seconds)
    return len(cancelled)


def _unfinished(pulp: Pulp, thing: JsonObject) -> Iterator[JsonObject]:
    """Yield the tasks that use a thing, and have not ended."""
    resource = thing.get("prn") or thing["pulp_href"]
    return pulp.list("tasks/", state__in=UNFINISHED, reserved_resources=resource)


def _end_of(pulp: Pulp, task: Task, until: float) -> None:
    try:
        pulp.wait_for_end(task.href, max(1.0, until - time.monotonic()), f"The task {task.name}")
    except StillAtIt as error:
        advice = (
            "Its worker has perhaps been killed: Pulp gives such a task up when the worker has been "
            "silent for long enough; a restarted worker is quicker."
        )
        raise NotClean(f"{error} {NO_WORKER if is_without_workers(pulp) else advice}") from None
    except Answered as error:
        if error.status != 404:
            raise


def _delete_ours(pulp: Pulp, target: Target) -> int:
    """Delete what this installation made, and return how many things; publications go with their repositories."""
    began_at, deleted = time.monotonic(), 0
    for kind in KINDS:
        named = pulp.list(f"{kind}/", name__startswith=OWN)
        things = [thing for thing in named if is_removed(thing["name"], target)]
        waiting = [(pulp.start("DELETE", thing["pulp_href"]), thing["name"]) for thing in things]
        for href, name in waiting:
            _wait(pulp, href, f"Deleting “{name}”", began_at)
        deleted += len(things)
    return deleted


def _wait(pulp: Pulp, href: str, what: str, began_at: float) -> None:
    if not href:
        return
    left = max(1.0, began_at + CLEAN_SECONDS - time.monotonic())
    try:
        pulp.wait(href, left, what)
    except (StillAtIt, TaskFailed) as error:
        raise NotClean(str(error)) from None


def _used(status: Json) -> float:
    storage = status.get("storage") or {}
    return float(storage.get("used") or 0)


def wait_for_others(pulp: Pulp) -> None:
    """Wait until no task of others runs: cleaning up orphans would delete what a running sync has stored.

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
                f"Pulp is at work for somebody else: {_names(tasks)}. Orphans were not cleaned up, as "
                "that would delete what such a task has stored: let it end, or cancel it yourself."
            )
        pulp.rest(gone)


def none_meanwhile(pulp: Pulp, tasks: Collection[Task]) -> Proof:
    """Prove that Pulp ran no other task between the first start and the last end of these tasks."""
    name, expected = "tasks of others meanwhile", "none"
    starts = [task.started for task in tasks if task.started]
    ends = [task.finished for task in tasks if task.finished]
    if not starts or not ends:
        return Proof(name, expected, "not known", "", ok=False)
    ours = {task.href for task in tasks}
    others = list(_at_work(pulp, min(starts).isoformat(), max(ends).isoformat(), ours))
    return Proof(name, expected, _names(others) or expected, "", ok=not others)


def _at_work(pulp: Pulp, began: str, ended: str, ours: Collection[str]) -> Iterator[Json]:
    """Yield the tasks of others that were running at any time between two instants."""
    for task in pulp.tasks_between(began, ended):
        if task["pulp_href"] not in ours and task.get("parent_task") not in ours:
            yield task


def _names(tasks: Sequence[Json]) -> str:
    shown = ", ".join(f"{task['name']} ({task['state']})" for task in tasks[:MOST_TASKS])
    return shown + (f" and {len(tasks) - MOST_TASKS} more" if len(tasks) > MOST_TASKS else "")
