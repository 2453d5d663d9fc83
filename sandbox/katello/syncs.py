"""Beginning syncs, and what Katello refuses of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from sandbox.katello.answers import Problem, katello
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.inventory import PROXIES, Repository, repositories
from sandbox.katello.tasks import PROXY_SYNC, REPOSITORY_SYNC, Task, Tasks

LOCKED = """Required lock is already taken by other running tasks.
Please inspect their state, fix their errors and resume them.

Conflicts with tasks:
"""


@dataclass(slots=True, eq=False)
class Syncs:
    """Repositories, and the tasks that sync them."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    tasks: Tasks
    held: dict[int, Repository] = field(default_factory=repositories)
    _random: Random = field(default_factory=lambda: Random(1))

    def repository(self, pk: str | int) -> Repository:
        """Find a repository. Raise Problem."""
        result = self.held.get(int(pk)) if str(pk).isdigit() else None
        if result is None:
            raise self._problem(404, f"Couldn't find Katello::Repository with 'id'={pk}")
        return result

    def proxy(self, pk: str | int) -> int:
        """Find a smart proxy that holds content of others. Raise Problem."""
        known = int(pk) if str(pk).isdigit() else 0
        if known not in PROXIES:
            raise self._problem(404, f"Couldn't find SmartProxy with 'id'={pk}")
        if "Pulpcore" not in PROXIES[known][1]:
            raise self._problem(
                500,
                "This request may only be performed on a Smart proxy that has the Pulpcore feature "
                "with mirror=true.",
            )
        return known

    def of_repository(
        self, pk: str | int, body: Mapping[str, Any], request_id: str, username: str
    ) -> Task:
        """Begin the sync of a repository. Raise Problem."""
        result, forced = self.repository(pk), bool(body.get("skip_metadata_check"))
        if not result.library:
            raise self._problem(400, "attempted to sync a non-library repository.")
        if not result.url:
            raise self._problem(400, "attempted to sync without a feed URL")
        if forced and result.content_type not in ("yum", "deb"):
            raise self._problem(400, "Cannot skip metadata check on non-yum/deb repositories.")
        resource = ("Katello::Repository", result.pk)
        if holding := self.tasks.holding(resource):
            links = [f"- https://katello.example/foreman_tasks/tasks/{task.pk}" for task in holding]
            raise self._problem(422, LOCKED + "\n".join(links))
        name = f"repository '{result.name}'; product 'Bench'; organization 'ACME'"
        added = self.behaviour().added
        result.units += added
        skipped = not forced and not added
        return self._begin(
            REPOSITORY_SYNC, resource, name, username, request_id, forced=forced, skipped=skipped
        )

    def of_proxy(
        self, pk: str | int, body: Mapping[str, Any], request_id: str, username: str
    ) -> Task:
        """Begin the sync of a smart proxy, which locks nothing. Raise Problem."""
        known, forced = self.proxy(pk), bool(body.get("skip_metadata_check"))
        if body.get("repository_id") is not None:
            self.repository(body["repository_id"])
        return self._begin(
            PROXY_SYNC, ("SmartProxy", known), f"'{PROXIES[known][0]}'", username, request_id,
            forced=forced, skipped=False,
        )  # fmt: skip

    def _begin(
        self, label: str, resource: tuple[str, int], name: str, username: str, request_id: str,
        *, forced: bool, skipped: bool,
    ) -> Task:  # fmt: skip
        behaviour = self.behaviour()
        seconds = behaviour.skip_seconds if skipped else behaviour.sync_seconds
        if behaviour.sync_spread:
            seconds *= math.exp(self._random.gauss(0, behaviour.sync_spread))
        task = Task(
            label,
            resource,
            name,
            username,
            self.now(),
            seconds,
            skipped,
            forced,
            behaviour,
            request_id,
        )
        return self.tasks.add(task)

    def _problem(self, status: int, words: str) -> Problem:
        return katello(status, words, old=self.behaviour().old_errors)
