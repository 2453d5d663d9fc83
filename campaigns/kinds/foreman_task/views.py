"""Content views of perfdash on a Katello: made for a run, published, promoted, and removed again.

The paths are those of Katello's API v2 (`content_views_controller.rb`, `content_view_versions_controller.rb`).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kinds.base import DriverError, NotClean, RemovedByOthers, Target
from campaigns.kinds.base.foreman import LOCKED, end_ours, is_ours, wait_for
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered, Strange

ROOT = "/katello/api/v2"
PUBLISH = "Actions::Katello::ContentView::Publish"
PROMOTE = "Actions::Katello::ContentView::Promote"
REMOVE = "Actions::Katello::ContentView::Remove"


class Held(NotClean):
    """Something else holds a content view."""


@dataclass(frozen=True, slots=True)
class View:
    """A content view. versions: ids, the oldest first."""

    pk: int
    name: str
    versions: tuple[int, ...]
    environments: Mapping[int, tuple[int, ...]]
    """The ids of the environments of each version."""


@dataclass(frozen=True, slots=True)
class Source:
    """What content views hold: repositories by name with the number of their units, of one organization."""

    organization: int
    units: Mapping[str, int]


def read_view(data: Any) -> View:
    """Return the content view in an answer of Katello. Raise Strange."""
    try:
        versions = sorted(data.get("versions") or (), key=lambda each: int(each["id"]))
        return View(
            int(data["id"]),
            str(data["name"]),
            tuple(int(each["id"]) for each in versions),
            {int(each["id"]): tuple(each.get("environment_ids") or ()) for each in versions},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(
            f"Katello's answer is no content view ({error!r}): {str(data)[:200]}"
        ) from None


def source_of(katello: Katello, repositories: Sequence[int]) -> Source:
    """Return the repositories that are to be published. Raise DriverError for one that is not there, or empty."""
    units: dict[str, int] = {}
    organizations: set[int] = set()
    for pk in repositories:
        try:
            repository = katello.repository(pk)
        except Answered as error:
            if error.status != 404:
                raise
            raise DriverError(
                f"This Katello has no repository {pk} that the user may see; check the id."
            ) from None
        if not repository.organization:
            raise Strange(f"Katello does not say to which organization repository {pk} belongs.")
        organizations.add(repository.organization)
        if not repository.units:
            raise DriverError(
                f"“{repository.name}” (repository {pk}) holds no content yet. Sync it in Katello once."
            )
        units[f"{repository.name} ({pk})"] = repository.units
    if len(organizations) != 1:
        raise DriverError(
            "The repositories belong to different organizations; a content view holds those of one."
        )
    return Source(organizations.pop(), units)


def environment_of(katello: Katello, organization: int, name: str) -> int:
    """Return the id of the lifecycle environment of a name that comes after Library. Raise DriverError for others."""
    path = f"{ROOT}/organizations/{organization}/environments"
    rows = [each for each in katello.results(path) if isinstance(each, Mapping)]
    library = next((each.get("id") for each in rows if each.get("library") is True), None)
    after = {each.get("name"): each for each in rows if _prior(each) == library is not None}
    if name in after:
        return int(after[name]["id"])
    known = ", ".join(str(each) for each in after) or "none"
    if name in {each.get("name") for each in rows}:
        raise DriverError(
            f"A new version cannot be promoted to “{name}” at once: the environments right after Library are {known}."
        )
    raise DriverError(
        f"There is no lifecycle environment “{name}”; after Library there are {known}."
    )


def _prior(environment: Mapping[str, Any]) -> Any:
    prior = environment.get("prior")
    return prior.get("id") if isinstance(prior, Mapping) else None


def make(katello: Katello, organization: int, name: str, repositories: Sequence[int]) -> View:
    """Make a content view."""
    body = {"name": name, "repository_ids": list(repositories)}
    return read_view(
        katello.send("POST", f"{ROOT}/organizations/{organization}/content_views", body)
    )


def view_of(katello: Katello, pk: int) -> View:
    """Return a content view as it is now. Raise RemovedByOthers."""
    try:
        return read_view(katello.get(f"{ROOT}/content_views/{pk}"))
    except Answered as error:
        if error.status != 404:
            raise
        raise RemovedByOthers(
            f"The content view {pk} was made for this run, and is not there any more: somebody else removed it."
        ) from None


def publish(katello: Katello, view: View, mark: str) -> ForemanTask:
    """Begin to publish a content view; `mark` is the request's id. Raise NotClean where something holds it."""
    return _begin(katello, "POST", f"{ROOT}/content_views/{view.pk}/publish", {}, mark, view)


def promote(katello: Katello, view: View, environment: int, mark: str) -> ForemanTask:
    """Begin to promote the newest version of a content view. Raise NotClean where something holds it, RemovedByOthers."""
    if not view.versions:
        raise RemovedByOthers(f"“{view.name}” has no version any more: somebody else removed it.")
    path = f"{ROOT}/content_view_versions/{view.versions[-1]}/promote"
    return _begin(katello, "POST", path, {"environment_ids": [environment]}, mark, view)


def own_views(katello: Katello, prefix: str) -> list[View]:
    """Return the content views whose names begin so."""
    rows = katello.results(f"{ROOT}/content_views", search=f"name ~ {prefix}")
    return [view for view in map(read_view, rows) if view.name.startswith(prefix)]


def remove(
    katello: Katello, target: Target, views: Sequence[View], begun: Sequence[str], seconds: float
) -> int:
    """Remove content views of this installation (`own_views`) with their versions, and end its tasks on them first; return how many.

    begun: ids of tasks of this attempt. Raise NotClean for a task of somebody else, after all others are removed, and where one
    is not removed in time.
    """
    until, mark = time.monotonic() + seconds, own_prefix(target)
    held: dict[str, ForemanTask] = {}
    removals: list[tuple[View, ForemanTask]] = []
    for view in views:
        tasks = unfinished(katello, view)
        if strangers := [task for task in tasks if not is_ours(task, begun, mark)]:
            held[view.name] = strangers[0]
        elif task := _begin_removal(katello, view, tasks, mark, until):
            removals.append((view, task))
    for view, task in removals:
        ended = wait_for(katello, task, until, "Look at it in Foreman.")
        if not ended.succeeded:
            raise NotClean(
                f"Katello did not remove the content view “{view.name}”: {'; '.join(ended.errors) or ended.result} "
                f"(task {ended.id}). Remove it there; its name begins with {mark}."
            )
    for name, task in held.items():
        raise NotClean(
            f"Somebody else works on a content view of perfdash, “{name}”: “{task.action}” of "
            f"{task.username or 'an unknown user'} is {task.state} (task {task.id}). Wait for its end, or end it in "
            "Foreman; this perfdash ends only what it began itself."
        )
    return len(views)


def _begin_removal(
    katello: Katello, view: View, tasks: Sequence[ForemanTask], mark: str, until: float
) -> ForemanTask | None:
    """Return the task that removes a content view: one that goes on already, or a new one. None: it is gone. Raise NotClean.

    A request that was under way may begin a task after one has looked; then it is ended, too.
    """
    body, path = {"destroy_content_view": True}, f"{ROOT}/content_views/{view.pk}/remove"
    while True:
        if removal := next((task for task in tasks if task.label == REMOVE), None):
            return removal
        end_ours(katello, tasks, max(1.0, until - time.monotonic()))
        try:
            return _begin(katello, "PUT", path, body, mark, view)
        except Answered as error:
            if error.status != 404:
                raise
            return None
        except Held:
            if time.monotonic() > until:
                raise
        katello.rest(0.0)
        tasks = unfinished(katello, view)


def unfinished(katello: Katello, view: View) -> list[ForemanTask]:
    """Return the tasks on a content view that have not stopped."""
    resource = f"resource_type = Katello::ContentView and resource_id = {view.pk}"
    return katello.tasks(f"state != stopped and {resource}")


def _begin(
    katello: Katello, method: str, path: str, body: Mapping[str, Any], mark: str, view: View
) -> ForemanTask:
    try:
        return read_task(katello.send(method, path, body, mark))
    except Answered as error:
        if error.status != LOCKED:
            raise
        raise Held(
            f"Katello does not begin a task on “{view.name}”: {error.server_message}"
        ) from None
