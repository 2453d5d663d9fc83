"""Tasks of Pulp other than the sync: change, delete, publish, distribute, clean up, purge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.pulp import schemas
from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.machine import Machine
from sandbox.pulp.store import Resource, Store
from sandbox.pulp.syncing import Sync, publish
from sandbox.pulp.tasks import State, Task
from sandbox.pulp.workers import Tasks

_BASE = "pulpcore.app.tasks.base"
_ORPHANS = "pdrn:00000000-0000-7000-8000-000000000000:orphans"


@dataclass(frozen=True, slots=True)
class Jobs:
    """Queues tasks, each under its name and with what it wants alone or shared."""

    store: Store
    tasks: Tasks
    behaviour: Callable[[], Behaviour]
    content_origin: str
    machine: Machine

    def sync(self, repository: Resource, remote: Resource, values: dict[str, Any]) -> Task:
        """Sync a repository."""
        publish = mirror = values.get("mirror", False)
        if policy := values.get("sync_policy"):
            mirror, publish = policy.startswith("mirror"), policy == "mirror_complete"
        sync = Sync(
            self.store, repository, remote, mirror, publish, values.get("optimize", True),
            self.behaviour().retry_seconds, self.behaviour().storage_total,
            self.machine,
        )  # fmt: skip
        plugin = repository.plugin.split("/")[0]
        name = f"pulp_{plugin}.app.tasks.synchronizing.synchronize"
        return self.tasks.dispatch(name, sync.run, [repository.prn], [remote.prn])

    def change(self, resource: Resource, values: dict[str, Any]) -> Task:
        """Change a resource."""

        async def work(task: Task) -> dict[str, Any]:
            resource.values.update(values)
            resource.updated = self.store.now()
            return schemas.document(self.store, resource, self.content_origin)

        return self.tasks.dispatch(f"{_BASE}.ageneral_update", work, [resource.prn], immediate=True)

    def delete(self, resource: Resource) -> Task:
        """Delete a resource."""

        async def work(task: Task) -> dict[str, int]:
            self.store.remove(resource)
            plugin = resource.plugin.split("/")[0]
            return {f"{plugin}.{resource.model}": 1}

        return self.tasks.dispatch(f"{_BASE}.ageneral_delete", work, [resource.prn], immediate=True)

    def publish(self, repository: Resource, values: dict[str, Any]) -> Task:
        """Publish a repository's latest version."""

        async def work(task: Task) -> dict[str, Any]:
            publication = publish(self.store, repository, values.get("checkpoint", False))
            if repository.plugin.startswith("rpm/"):
                message = "Generating repository metadata"
                with task.reporting(message, "publish.generating_metadata", 1) as report:
                    report.done = 1
            extra = {n: v for n, v in values.items() if n not in publication.values}
            publication.values |= extra
            task.made.append((publication.href, publication.prn))
            return schemas.document(self.store, publication, self.content_origin)

        name = f"pulp_{repository.plugin.split('/')[0]}.app.tasks.publishing.publish"
        return self.tasks.dispatch(name, work, shared=[repository.prn])

    def distribute(self, plugin: str, values: dict[str, Any]) -> Task:
        """Make a distribution."""

        async def work(task: Task) -> dict[str, Any]:
            distribution = self.store.make("distributions", plugin, values)
            task.made.append((distribution.href, distribution.prn))
            return schemas.document(self.store, distribution, self.content_origin)

        return self.tasks.dispatch(f"{_BASE}.general_create", work)

    def clean_up(self, minutes: int) -> Task:
        """Delete orphans."""

        async def work(task: Task) -> None:
            units = self.store.orphaned_units(minutes)
            message = "Clean up orphan Content"
            with task.reporting(message, "clean-up.content", len(units)) as report:
                self.store.forget(units=units)
                report.done = len(units)
            artifacts = self.store.orphaned_artifacts(minutes)
            message = "Clean up orphan Artifacts"
            with task.reporting(message, "clean-up.artifacts", len(artifacts)) as report:
                self.store.forget(artifacts=artifacts)
                report.done = len(artifacts)

        return self.tasks.dispatch("pulpcore.app.tasks.orphan.orphan_cleanup", work, [_ORPHANS])

    def reclaim(self, repositories: Sequence[Resource]) -> Task:
        """Delete the artifacts of repositories that can be downloaded again."""

        async def work(task: Task) -> None:
            units = [unit for each in repositories for unit in self.store.units_of(each)]
            digests = {unit.artifact for unit in units if unit.artifact and unit.source}
            message = "Reclaim disk space"
            with task.reporting(message, "reclaim-space.artifact", len(digests)) as report:
                report.done = self.store.reclaim(digests)

        name = "pulpcore.app.tasks.reclaim_space.reclaim_space"
        return self.tasks.dispatch(name, work, [each.prn for each in repositories])

    def purge(self, before: datetime, states: list[str]) -> Task:
        """Forget tasks that finished before an instant, in one of the states."""

        async def work(task: Task) -> None:
            gone = [
                old.pk
                for old in self.tasks.all.values()
                if old.finished and old.finished < before and State(old.state).value in states
            ]
            for pk in gone:
                del self.tasks.all[pk]
            for message, code, count in (
                ("Purged task-related-objects total", "purge.tasks.total", len(gone)),
                ("Purged task-objects of type core.Task", "purge.tasks.key.core.Task", len(gone)),
                ("Tasks failed to purge", "purge.tasks.error", 0),
            ):
                with task.reporting(message, code, count) as report:
                    report.done = count

        return self.tasks.dispatch("pulpcore.app.tasks.purge.purge", work)
