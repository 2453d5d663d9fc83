"""Answers of the REST API, each a function of one route."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from aiohttp import web

from sandbox.pulp import answers, fields, listing, schemas
from sandbox.pulp.answers import NoRoute, NotAllowed, NotFound
from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.fields import Broken, Invalid, checked, related
from sandbox.pulp.jobs import Jobs
from sandbox.pulp.names import PREFIX, instant
from sandbox.pulp.store import Artifact, Resource, Store, Unit, Version, units_path
from sandbox.pulp.task_fields import check_cancel, final_states, moment
from sandbox.pulp.tasks import State, Task
from sandbox.pulp.workers import Tasks, Worker

_POLICIES = ("additive", "mirror_complete", "mirror_content_only")
_TWO_POLICIES = (
    "Cannot use 'mirror' and 'sync_policy' options simultaneously. The 'mirror' option is deprecated,"
    " please use 'sync_policy' only."
)
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Views:
    """The routes' functions; `body` is the decoded JSON of a request."""

    store: Store
    tasks: Tasks
    jobs: Jobs

    @property
    def _behaviour(self) -> Behaviour:
        return self.jobs.behaviour()

    def resources(
        self, request: web.BaseRequest, body: object, kind: str, plugin: str | None
    ) -> web.Response:
        """List the resources of a kind, or make one."""
        if request.method == "GET":
            return answers.document(
                listing.answer(
                    request,
                    self.store.of(kind, plugin),
                    self._resource_filters(),
                    self._written if plugin else self._in_short,
                )
            )
        if request.method != "POST" or plugin is None:
            raise NotAllowed
        values = schemas.read(self.store, kind, plugin, body)
        if kind == "publications":
            repository = self.store.at(
                values.get("repository") or values["repository_version"].split("versions/")[0]
            )
            if not repository:
                raise Invalid({"repository_version": ["Invalid hyperlink - No URL match."]})
            return answers.task(self.jobs.publish(repository, values).href)
        if kind == "distributions":
            return answers.task(self.jobs.distribute(plugin, values).href)
        if (values.get("max_retries") or 0) < 0:
            raise Broken  # the database refuses it, after the serializer did not
        resource = self.store.make(kind, plugin, values)
        return answers.document(self._written(resource), 201, Location=resource.href)

    def _resource_filters(self) -> dict[str, Any]:
        def like(field: str) -> Any:
            return lambda row, wanted: row.values.get(field) == wanted

        named = listing.by_name(lambda row: str(row.values.get("name", "")))
        more = ("remote", "repository", "repository_version", "publication", "base_path", "url")
        return {
            **named,
            **{field: like(field) for field in more},
            "pulp_href__in": lambda row, wanted: row.href in wanted.split(","),
            "prn__in": lambda row, wanted: row.prn in wanted.split(","),
        }

    def _written(self, resource: Resource) -> dict[str, Any]:
        return schemas.document(self.store, resource, self.jobs.content_origin)

    def _in_short(self, resource: Resource) -> dict[str, Any]:
        return schemas.in_short(resource.kind, self._written(resource))

    def _found(self, kind: str, plugin: str, pk: str) -> Resource:
        resource = self.store.at(f"{PREFIX}{kind}/{plugin}/{pk}/")
        if resource:
            return resource
        if len(pk) != 36:
            raise NotFound("Not found.")
        absent = Resource(kind, plugin, pk, self.store.now(), self.store.now(), {})
        raise NotFound(f"No {absent.model} matches the given query.")

    def resource(
        self, request: web.BaseRequest, body: object, kind: str, plugin: str, pk: str
    ) -> web.Response:
        """Show, change or delete a resource."""
        resource = self._found(kind, plugin, pk)
        if request.method == "GET":
            return answers.document(listing.fields_of(request.query, self._written(resource)))
        if request.method == "DELETE" and kind == "publications":
            self.store.remove(resource)
            return web.Response(status=204)
        if request.method == "DELETE":
            return answers.task(self.jobs.delete(resource).href)
        if request.method not in ("PATCH", "PUT") or kind == "publications":
            raise NotAllowed
        partial = request.method == "PATCH"
        values = schemas.read(self.store, kind, plugin, body, resource, partial=partial)
        return answers.task(self.jobs.change(resource, values).href)

    def sync(self, request: web.BaseRequest, body: object, plugin: str, pk: str) -> web.Response:
        """Sync a repository."""
        if request.method != "POST":
            raise NotAllowed
        repository = self.store.at(f"{PREFIX}repositories/{plugin}/{pk}/")
        if repository is None:
            raise Broken  # it is looked for too late
        rules: dict[str, fields.Rule] = {
            "remote": related(self.store, "remotes"),
            "mirror": fields.boolean,
            "optimize": fields.boolean,
        }
        if plugin.startswith("rpm/"):
            rules["sync_policy"] = fields.choice(*_POLICIES)
            rules["skip_types"] = fields.listing
        values = checked(body, rules, more=plugin != "file/file")
        href = values.get("remote") or repository.values.get("remote")
        if not href:
            problem = "This field is required since a remote is not set on the repository."
            raise Invalid({"remote": [problem]})
        if "sync_policy" in values and "mirror" in values:
            raise Invalid({"non_field_errors": [_TWO_POLICIES]})
        remote = self.store.at(href)
        if remote is None:
            raise NotFound("Not found.")
        return answers.task(self.jobs.sync(repository, remote, values).href)

    def versions(
        self, request: web.BaseRequest, plugin: str, pk: str, number: str | None
    ) -> web.Response:
        """List the versions of a repository, or show one."""
        if request.method != "GET":
            raise NotAllowed
        repository = self._found("repositories", plugin, pk)

        def written(version: Version) -> dict[str, Any]:
            return self.store.version_document(repository, version)

        if number is None:
            return answers.document(listing.answer(request, repository.versions[::-1], {}, written))
        for version in repository.versions:
            if str(version.number) == number:
                return answers.document(written(version))
        raise NotFound("No RepositoryVersion matches the given query.")

    def units(self, request: web.BaseRequest, plugin: str | None) -> web.Response:
        """List content units."""
        if request.method != "GET":
            raise NotAllowed

        def in_version(unit: Unit, href: str) -> bool:
            return unit.pk in self._version_units(href)

        def written(unit: Unit) -> dict[str, Any]:
            artifact = self.store.artifacts.get(unit.artifact or "")
            href = f"{PREFIX}artifacts/{artifact.pk}/" if artifact else None
            name = units_path(unit.plugin).split("/")[0]
            own = {"artifact": href, "relative_path": unit.path, "sha256": unit.digest}
            if unit.plugin == "rpm/rpm":
                own |= {"pkgId": unit.digest, "location_href": unit.path.rpartition("/")[2]}
            return {
                "pulp_href": unit.href,
                "prn": f"prn:{name}.{name}content:{unit.pk}",
                "pulp_created": instant(unit.created),
                "pulp_last_updated": instant(unit.created),
                "pulp_labels": {},
                "vuln_report": None,
                **(own if plugin else {"artifacts": {unit.path: href}}),
            }

        rows = [u for u in self.store.units.values() if plugin in (None, u.plugin)]
        filters = {
            "repository_version": in_version,
            "sha256": lambda unit, wanted: unit.digest == wanted,
            "relative_path": lambda unit, wanted: unit.path == wanted,
        }
        if plugin is None:
            filters = {"repository_version": in_version}
        return answers.document(listing.answer(request, rows[::-1], filters, written))

    def _version_units(self, href: str) -> frozenset[str]:
        """Give the keys of the units of a version."""
        repository = self.store.at(href.split("versions/")[0])
        number = href.rstrip("/").rsplit("/", 1)[-1]
        versions = repository.versions if repository else []
        return next((v.units for v in versions if str(v.number) == number), frozenset())

    def reclaim(self, request: web.BaseRequest, body: object) -> web.Response:
        """Reclaim the space of repositories."""
        if request.method != "POST":
            raise NotAllowed
        values = checked(body, {"repo_hrefs": fields.listing}, required=("repo_hrefs",), more=True)
        hrefs = values["repo_hrefs"]
        if not hrefs:
            raise Invalid({"repo_hrefs": ["Must not be []."]})
        if hrefs == ["*"]:
            return answers.task(self.jobs.reclaim(list(self.store.of("repositories"))).href)
        found = [self.store.at(href) for href in hrefs]
        for href, each in zip(hrefs, found, strict=True):
            if each is None or each.kind != "repositories":
                name = str(href).rstrip("/").rsplit("/", 1)[-1]
                raise Invalid({"repo_hrefs": [f"ID invalid: {name}"]})
        return answers.task(self.jobs.reclaim([each for each in found if each]).href)

    def artifacts(self, request: web.BaseRequest) -> web.Response:
        """List artifacts."""
        if request.method != "GET":
            raise NotAllowed

        def written(artifact: Artifact) -> dict[str, Any]:
            return {
                "pulp_href": f"{PREFIX}artifacts/{artifact.pk}/",
                "prn": f"prn:core.artifact:{artifact.pk}",
                "pulp_created": instant(artifact.created),
                "pulp_last_updated": instant(artifact.touched),
                "file": f"artifact/{artifact.digest[:2]}/{artifact.digest[2:]}",
                "size": artifact.size,
                "sha256": artifact.digest,
            }

        def in_version(artifact: Artifact, href: str) -> bool:
            return artifact.digest in stored(href)

        @cache
        def stored(href: str) -> frozenset[str]:
            units = (self.store.units.get(pk) for pk in self._version_units(href))
            return frozenset(unit.artifact for unit in units if unit and unit.artifact)

        rows = list(self.store.artifacts.values())[::-1]
        filters = {
            "repository_version": in_version,
            "sha256": lambda artifact, wanted: artifact.digest == wanted,
            "sha256__in": lambda artifact, wanted: artifact.digest in wanted.split(","),
        }
        return answers.document(listing.answer(request, rows, filters, written))

    def task_list(self, request: web.BaseRequest) -> web.Response:
        """List tasks."""
        if request.method != "GET":
            raise NotAllowed

        def reserves(task: Task, wanted: str) -> bool:
            names = task.document()["reserved_resources_record"]
            return any(wanted in name for name in names)

        filters: dict[str, Any] = {
            **listing.by_name(lambda task: str(task.name)),
            **listing.state_filters(),
            **listing.time_filters(),
            "reserved_resources": reserves,
            "pulp_href__in": lambda task, wanted: task.href in wanted.split(","),
        }
        rows = list(self.tasks.all.values())[::-1]
        return answers.document(listing.answer(request, rows, filters, Task.document))

    def task(self, request: web.BaseRequest, body: object, pk: str) -> web.Response:
        """Show, cancel or delete a task."""
        if request.method == "PATCH":
            check_cancel(body)
        task = self.tasks.all.get(pk)
        if not task:
            raise NotFound("No Task matches the given query." if len(pk) == 36 else "Not found.")
        if request.method == "GET":
            return answers.document(listing.fields_of(request.query, task.document()))
        if request.method == "PATCH":
            self.tasks.cancel(task)
            canceled = task.state in (State.CANCELING, State.CANCELED)
            return answers.document(task.document(), 200 if canceled else 409)
        if request.method == "DELETE" and task.is_over:
            del self.tasks.all[pk]
            return web.Response(status=204)
        if request.method == "DELETE":
            return web.Response(status=409)
        raise NotAllowed

    def purge(self, request: web.BaseRequest, body: object) -> web.Response:
        """Purge tasks."""
        if request.method != "POST":
            raise NotAllowed
        rules: dict[str, fields.Rule] = {"finished_before": moment, "states": final_states}
        values = checked(body, rules)
        month_ago = self.store.now() - timedelta(days=30)
        states = values.get("states", [State.COMPLETED.value])
        return answers.task(self.jobs.purge(values.get("finished_before", month_ago), states).href)

    def clean_up(self, request: web.BaseRequest, body: object) -> web.Response:
        """Delete orphans."""
        if request.method != "POST":
            raise NotAllowed
        rules: dict[str, fields.Rule] = {"orphan_protection_time": fields.integer(0)}
        values = checked(body, rules, more=True)
        default = self._behaviour.orphan_protection_minutes
        minutes = min(values.get("orphan_protection_time", default), _LARGEST)
        return answers.task(self.jobs.clean_up(minutes).href)

    def workers(self, request: web.BaseRequest) -> web.Response:
        """List the workers that are online."""
        if request.method != "GET":
            raise NotAllowed

        def written(worker: Worker) -> dict[str, Any]:
            return {
                "pulp_href": f"{PREFIX}workers/{worker.pk}/",
                "prn": f"prn:core.appstatus:{worker.pk}",
                "name": worker.name,
                "last_heartbeat": instant(worker.killed or self.store.now()),
                "current_task": worker.task.href if worker.task else None,
            }

        filters = listing.by_name(lambda worker: str(worker.name))
        return answers.document(listing.answer(request, self.tasks.online(), filters, written))

    def has_plugin(self, plugin: str) -> None:
        """Raise NoRoute where the plug-in is not installed."""
        if plugin not in self._behaviour.plugins:
            raise NoRoute
