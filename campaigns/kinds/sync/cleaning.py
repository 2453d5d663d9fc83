"""Bring a Pulp to its clean state, and touch nothing that is not ours."""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from campaigns.kinds.base import Context, NotClean, NotOurs, Proof, Target
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import UNFINISHED, StillAtIt, Task, TaskFailed, read_task
from campaigns.kinds.sync.foreign_tasks import wait_for_others
from campaigns.kit.http.errors import Answered

PREFIX = "perfdash-"
"""Begins every name that perfdash gives in a Pulp."""
OURS = re.compile(rf"{PREFIX}([0-9]+-[0-9]+|[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})\Z")
"""All of such a name: an attempt and a number, or the id of a repository that is distributed."""
CLEAN_SECONDS = 300.0
CANCEL_SECONDS = 20.0
MOST_NAMES = 5
KINDS = ("distributions", "repositories", "remotes")


def clean(pulp: Pulp, target: Target, context: Context) -> list[Proof]:
    """Cancel, delete and clean up what earlier runs left; give the proofs. Raise NotClean.

    Refused at once where the Pulp holds content that is not ours.
    """
    began_at = time.monotonic()
    refuse_strangers(pulp)
    cancel_ours(pulp, CLEAN_SECONDS)
    deleted = _delete_ours(pulp)
    wait_for_others(pulp)
    if target.dedicated:
        refuse_strangers(pulp)  # who came meanwhile
        href = pulp.start("POST", "orphans/cleanup/", {"orphan_protection_time": 0})
        _wait(pulp, href, "The clean-up of orphans", began_at)
    context.say(
        f"Pulp's own clean-up took {time.monotonic() - began_at:.1f} s, {deleted} things deleted"
    )
    return proofs_of(pulp, target)


def proofs_of(pulp: Pulp, target: Target) -> list[Proof]:
    """Look what a Pulp holds and does."""
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


def refuse_strangers(pulp: Pulp) -> None:
    """Raise NotOurs where a repository with content was not made by perfdash."""
    strangers = [
        repository["name"]
        for repository in pulp.list("repositories/")
        if not OURS.match(repository["name"])
        and not repository["latest_version_href"].endswith("/versions/0/")
    ]
    if strangers:
        names = ", ".join(f"“{name}”" for name in sorted(strangers)[:MOST_NAMES])
        more = f" and {len(strangers) - MOST_NAMES} more" if len(strangers) > MOST_NAMES else ""
        raise NotOurs(
            f"Pulp holds content that perfdash did not make: {names}{more}. A Pulp with content of "
            "others is never emptied: measure one of your own, or delete these repositories yourself."
        )


def cancel_ours(pulp: Pulp, seconds: float) -> None:
    """Cancel unfinished tasks on what perfdash made, and wait for their end. Raise NotClean."""
    began_at = time.monotonic()
    cancelled = {
        task["pulp_href"]: read_task(pulp.get(task["pulp_href"]))
        for kind in ("repositories", "remotes")
        for thing in _ours(pulp, kind)
        for task in pulp.list(
            "tasks/",
            state__in=UNFINISHED,
            reserved_resources=thing.get("prn") or thing["pulp_href"],
        )
    }.values()
    for task in cancelled:
        pulp.cancel(task.href)
    for task in cancelled:
        _end_of(pulp, task, began_at + seconds)


def _end_of(pulp: Pulp, task: Task, until: float) -> None:
    try:
        pulp.wait_for_end(task.href, max(1.0, until - time.monotonic()), f"The task {task.name}")
    except StillAtIt as error:
        raise NotClean(
            f"{error} Its worker has perhaps been killed: Pulp gives such a task up when the worker "
            "has been silent for long enough; a restarted worker is quicker."
        ) from None
    except Answered as error:
        if error.status != 404:
            raise


def _ours(pulp: Pulp, kind: str) -> Iterator[dict[str, Any]]:
    """What bears a name that perfdash gives; that of somebody else may begin alike."""
    for thing in pulp.list(f"{kind}/", name__startswith=PREFIX):
        if OURS.match(thing["name"]):
            yield thing


def _delete_ours(pulp: Pulp) -> int:
    """Delete what bears our names; repositories take their publications with them."""
    began_at, deleted = time.monotonic(), 0
    for kind in KINDS:
        things = list(_ours(pulp, kind))
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


def _used(status: Mapping[str, Any]) -> float:
    storage = status.get("storage") or {}
    return float(storage.get("used") or 0)
