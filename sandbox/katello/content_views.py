"""Content views: made, published, promoted and removed, as Katello does it with tasks of Dynflow."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web

from sandbox.katello.answers import Problem, document, katello
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.dynflow import Dynflow, Plan
from sandbox.katello.inventory import PROXIES, PROXY_ENVIRONMENTS
from sandbox.katello.lists import listed
from sandbox.katello.syncs import LOCKED, Syncs
from sandbox.katello.tasks import NEVER, PROXY_SYNC, Task, Tasks

PUBLISH = "Actions::Katello::ContentView::Publish"
PROMOTE = "Actions::Katello::ContentView::Promote"
REMOVE = "Actions::Katello::ContentView::Remove"
LIBRARY = 1
ENVIRONMENTS = {LIBRARY: "Library", 2: "Test", 3: "Production"}
MOST_VIEWS = 1000
_SEARCH = re.compile(r'\s*name\s*(=|~)\s*"?([\w.-]+)"?\s*\Z')
_REMOVE_SECONDS = 0.1
_VERBS = {
    PUBLISH: "Publish",
    PROMOTE: "Promote",
    REMOVE: "Remove Versions and Associations",
    PROXY_SYNC: "Synchronize smart proxy",
}


@dataclass(slots=True, eq=False)
class PlannedTask(Task):
    """A task whose instants follow from what else Dynflow has to do."""

    plan: Plan = field(default_factory=lambda: Plan(0.0))
    flow: Dynflow | None = None
    told: Mapping[str, Any] = field(default_factory=dict)  # in its input

    @property
    def begins(self) -> datetime:
        """When it runs; far away as long as it waits."""
        self._look()
        return self.plan.begun or NEVER

    @property
    def ends(self) -> datetime:
        """When it is at rest; far away as long as that is open."""
        self._look()
        if self.cancelled is not None:
            return self.cancelled + timedelta(seconds=self.behaviour.cancel_seconds)
        return self.plan.ended or NEVER

    def locks(self, now: datetime) -> bool:
        """Whether its content view is locked."""
        return self.state(now) != "stopped"

    def end_early(self, now: datetime) -> None:
        """Be cancelled."""
        if self.flow is not None:
            self.flow.drop(self.plan)
        if self.plan.begun is None:
            self.plan.begun = now
        self.cancelled = now

    def _look(self) -> None:
        if self.flow is not None and self.plan.ended is None and self.cancelled is None:
            self.flow.advance()

    def _share(self, now: datetime) -> float:
        return min(1.0, self.plan.done / self.plan.seconds) if self.plan.seconds else 1.0

    def _input(self) -> dict[str, Any]:
        request = {"current_request_id": self.request_id} if self.behaviour.request_ids else {}
        return {**self.told, **request}


@dataclass(slots=True, eq=False)
class Version:
    """A version of a content view, and the environments that it is in."""

    pk: int
    number: str
    environments: set[int]


@dataclass(slots=True, eq=False)
class View:
    """A content view."""

    pk: int
    name: str
    repositories: list[int]
    versions: list[Version] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Tell of it as `GET /katello/api/v2/content_views/:id` does."""
        latest = self.versions[-1] if self.versions else None
        return {
            "id": self.pk,
            "name": self.name,
            "label": self.name,
            "composite": False,
            "rolling": False,
            "default": False,
            "organization": {"id": 1, "name": "ACME", "label": "ACME"},
            "version_count": len(self.versions),
            "latest_version": latest.number if latest else None,
            "latest_version_id": latest.pk if latest else None,
            "next_version": f"{len(self.versions) + 1}.0",
            "repository_ids": self.repositories,
            "environments": [
                {"id": pk, "name": name, "label": name}
                for pk, name in ENVIRONMENTS.items()
                if any(pk in each.environments for each in self.versions)
            ],
            "versions": [
                {
                    "id": each.pk,
                    "version": each.number,
                    "environment_ids": sorted(each.environments),
                }
                for each in self.versions
            ],
        }


@dataclass(slots=True, eq=False)
class ContentViews:
    """All content views, and what is done with them."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    tasks: Tasks
    syncs: Syncs
    flow: Dynflow
    held: dict[int, View] = field(default_factory=dict)
    _removals: list[tuple[Task, View]] = field(default_factory=list)
    _next: int = 2  # 1 is the default one, which nobody publishes

    def count(self) -> int:
        """Return how many there are."""
        self._settle()
        return len(self.held)

    def renew(self) -> None:
        """Forget all of them."""
        self.held.clear()
        self._removals.clear()
        self.flow.renew()

    def answer(
        self, request: web.BaseRequest, body: dict[str, Any], request_id: str
    ) -> web.Response | None:
        """Answer a request; None where it is for another part. Raise Problem."""
        self._settle()
        path = request.path.strip("/").split("/")
        if path[:3] != ["katello", "api", "v2"]:
            return None
        match request.method, path[3:]:
            case "GET", ["content_views"] | ["organizations", _, "content_views"]:
                return listed(request, self._found(request), View.document)
            case "GET", ["content_views", pk]:
                return document(self._view(pk).document())
            case "GET", ["environments"] | ["organizations", _, "environments"]:
                return listed(request, map(_environment, ENVIRONMENTS))
            case "POST", ["content_views"] | ["organizations", _, "content_views"]:
                return document(self._make(body).document(), 201)
            case "GET", ["capsules", pk, "content", "lifecycle_environments"]:
                held = PROXY_ENVIRONMENTS[self.syncs.proxy(pk)]
                return listed(request, map(_environment, held))
            case "POST", ["capsules", pk, "content", "sync"] if "content_view_id" in body:
                return self._begun(self._sync(self.syncs.proxy(pk), body, request_id))
            case "POST", ["content_views", pk, "publish"]:
                return self._begun(self._publish(self._view(pk), request_id))
            case "POST", ["content_view_versions", pk, "promote"]:
                return self._begun(self._promote(pk, body, request_id))
            case "PUT", ["content_views", pk, "remove"]:
                return self._begun(self._remove(self._view(pk), body, request_id))
        return None

    def _found(self, request: web.BaseRequest) -> list[View]:
        search, name = request.query.get("search", ""), request.query.get("name")
        match = _SEARCH.match(search)
        if search.strip() and match is None:
            raise self._problem(400, f"Field '{search[:40]}' not recognized for searching!")
        return [
            each
            for each in self.held.values()
            if name in (None, each.name)
            and (
                match is None
                or (match[2] in each.name if match[1] == "~" else each.name == match[2])
            )
        ]

    def _view(self, pk: str) -> View:
        result = self.held.get(int(pk)) if pk.isdecimal() else None
        if result is None:
            raise self._problem(404, f"Couldn't find Katello::ContentView with 'id'={pk}")
        return result

    def _make(self, body: dict[str, Any]) -> View:
        name, repositories = str(body.get("name") or ""), _ids(body.get("repository_ids"))
        if not name:
            raise self._problem(422, "Validation failed: Name can't be blank")
        if any(each.name == name for each in self.held.values()):
            raise self._problem(422, "Validation failed: Name has already been taken")
        for pk in repositories:
            if not self.syncs.repository(pk).library:
                raise self._problem(
                    422,
                    "Validation failed: Repositories Cannot add repositories outside of library",
                )
        if len(self.held) >= MOST_VIEWS:
            raise self._problem(422, f"There are {MOST_VIEWS} content views already")
        view = View(self._next, name, repositories)
        self.held[view.pk] = view
        self._next += 1
        return view

    def _publish(self, view: View, request_id: str) -> Task:
        self._require_free(view)
        version = Version(self._next, f"{len(view.versions) + 1}.0", {LIBRARY})
        self._next += 1
        for each in view.versions:
            each.environments.discard(LIBRARY)
        view.versions.append(version)
        seconds = self.behaviour().publish_seconds * max(1, len(view.repositories))
        told = {"content_view_version_id": version.pk, "environment_id": LIBRARY}
        return self._begin(PUBLISH, view, seconds, told, request_id)

    def _promote(self, pk: str, body: dict[str, Any], request_id: str) -> Task:
        version, view = next(
            (
                (version, view)
                for view in self.held.values()
                for version in view.versions
                if str(version.pk) == pk
            ),
            (None, None),
        )
        if version is None or view is None:
            raise self._problem(404, f"Couldn't find Katello::ContentViewVersion with 'id'={pk}")
        asked = _ids(body.get("environment_ids"))
        if not asked or any(each not in ENVIRONMENTS for each in asked):
            raise self._problem(404, "Could not find environments")
        if not body.get("force") and any(
            each > LIBRARY and each - 1 not in version.environments for each in asked
        ):
            raise self._problem(
                400,
                "Cannot promote environment out of sequence. Use force to bypass restriction.",
            )
        self._require_free(view)
        for each in view.versions:
            each.environments.difference_update(asked)
        version.environments.update(asked)
        seconds = self.behaviour().promote_seconds * max(1, len(view.repositories)) * len(asked)
        told = {"environments": [ENVIRONMENTS[each] for each in asked]}
        return self._begin(PROMOTE, view, seconds, told, request_id)

    def _sync(self, proxy: int, body: dict[str, Any], request_id: str) -> Task:
        """Begin the sync of one content view to a smart proxy, which locks nothing."""
        view, environments = self._view(str(body["content_view_id"])), PROXY_ENVIRONMENTS[proxy]
        asked = body.get("environment_id")
        if asked is not None and asked not in environments:
            name = ENVIRONMENTS.get(asked, asked)
            raise self._problem(
                400, f"Lifecycle environment '{name}' is not attached to this capsule."
            )
        wanted = environments if asked is None else (asked,)
        copies = sum(pk in each.environments for each in view.versions for pk in wanted)
        behaviour = self.behaviour()
        seconds = behaviour.proxy_sync_seconds * len(view.repositories) * copies
        options = {
            name: body.get(name)
            for name in (
                "environment_id",
                "content_view_id",
                "repository_id",
                "skip_metadata_check",
            )
        }
        told = {"smart_proxy": {"id": proxy, "name": PROXIES[proxy][0]}, "options": options}
        return self._planned(
            PROXY_SYNC, ("SmartProxy", proxy), f"'{PROXIES[proxy][0]}'", seconds, told, request_id
        )

    def _remove(self, view: View, body: dict[str, Any], request_id: str) -> Task:
        self._require_free(view)
        task = self._begin(REMOVE, view, _REMOVE_SECONDS, {}, request_id)
        if body.get("destroy_content_view"):
            self._removals.append((task, view))
        else:
            gone = _ids(body.get("content_view_version_ids"))
            view.versions = [each for each in view.versions if each.pk not in gone]
        return task

    def _settle(self) -> None:
        """Forget the content views whose removal has come through."""
        now = self.now()
        for task, view in list(self._removals):
            if task.state(now) != "stopped":
                continue
            self._removals.remove((task, view))
            if task.result(now) == "success":
                self.held.pop(view.pk, None)

    def _require_free(self, view: View) -> None:
        if holding := self.tasks.holding(("Katello::ContentView", view.pk)):
            links = [f"- https://katello.example/foreman_tasks/tasks/{task.pk}" for task in holding]
            raise self._problem(422, LOCKED + "\n".join(links))

    def _begin(
        self, label: str, view: View, seconds: float, told: Mapping[str, Any], request_id: str
    ) -> Task:
        told = {"content_view": {"id": view.pk, "name": view.name}, **told}
        name = f"content view '{view.name}'; organization 'ACME'"
        return self._planned(
            label, ("Katello::ContentView", view.pk), name, seconds, told, request_id
        )

    def _planned(
        self,
        label: str,
        resource: tuple[str, int],
        name: str,
        seconds: float,
        told: Mapping[str, Any],
        request_id: str,
    ) -> Task:
        behaviour = self.behaviour()
        task = PlannedTask(
            label, resource, name, behaviour.user, self.now(), seconds, skipped=False, forced=False,
            behaviour=behaviour, request_id=request_id, verb=_VERBS[label], plan=self.flow.add(seconds),
            flow=self.flow, told=told,
        )  # fmt: skip
        return self.tasks.add(task)

    def _begun(self, task: Task) -> web.Response:
        return document(task.document(self.now()), 202)

    def _problem(self, status: int, words: str) -> Problem:
        return katello(status, words, old=self.behaviour().old_errors)


def _environment(pk: int) -> dict[str, Any]:
    """Tell of a lifecycle environment; each comes after the one before."""
    name, prior = ENVIRONMENTS[pk], pk - 1
    before = {"id": prior, "name": ENVIRONMENTS[prior]} if prior in ENVIRONMENTS else None
    return {"id": pk, "name": name, "label": name, "library": pk == LIBRARY, "prior": before}


def _ids(data: Any) -> list[int]:
    """Return the ids in a list; what is none is left out, as Rails does."""
    listed = data if isinstance(data, list) else []
    return [int(each) for each in listed if isinstance(each, int) or str(each).isdecimal()]
