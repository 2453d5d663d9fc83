"""Deleting packages that can be fetched again, and what Katello refuses of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from sandbox.katello.answers import document, katello
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.delivery import Delivery
from sandbox.katello.inventory import PROXIES, Repository
from sandbox.katello.syncs import Syncs
from sandbox.katello.tasks import Task

OF_REPOSITORY = "Actions::Pulp3::Repository::ReclaimSpace"
OF_PROXY = "Actions::Pulp3::CapsuleContent::ReclaimSpace"
_PRIMARY = 1


@dataclass(slots=True, eq=False)
class Reclaiming:
    """Routes that reclaim space, of a repository and of a smart proxy."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    syncs: Syncs
    delivery: Delivery

    def answer(self, request: web.BaseRequest, request_id: str) -> web.Response | None:
        """Answer; None where there is no such route here. Raise Problem."""
        if request.method != "POST":
            return None
        match request.path.strip("/").split("/"):
            case ["katello", "api", "v2", "repositories", pk, "reclaim_space"]:
                task = self._of_repository(self.syncs.repository(pk), request_id)
            case ["katello", "api", "v2", "capsules", pk, "content", "reclaim_space"]:
                task = self._of_proxy(self.syncs.proxy(pk), request_id)
            case _:
                return None
        return document(task.document(self.now()), 202)

    def _of_repository(self, repository: Repository, request_id: str) -> Task:
        behaviour = self.behaviour()
        if repository.download_policy != "on_demand":
            words = "Only On Demand repositories may have space reclaimed."
            raise katello(400, words, old=behaviour.old_errors)
        self.delivery.reclaim(repository, on_proxy=False)
        resource = "Katello::Repository", repository.pk
        return self._begin(OF_REPOSITORY, resource, f"repository '{repository.name}'", request_id)

    def _of_proxy(self, pk: int, request_id: str) -> Task:
        for repository in self.syncs.held.values():
            if pk != _PRIMARY or repository.download_policy == "on_demand":
                self.delivery.reclaim(repository, on_proxy=pk != _PRIMARY)
        return self._begin(OF_PROXY, ("SmartProxy", pk), f"'{PROXIES[pk][0]}'", request_id)

    def _begin(self, label: str, resource: tuple[str, int], name: str, request_id: str) -> Task:
        behaviour = self.behaviour()
        task = Task(
            *(label, resource, name, behaviour.user, self.now(), behaviour.reclaim_seconds),
            *(False, False, behaviour, request_id),
            verb="Reclaim space of",
        )
        return self.syncs.tasks.add(task)
