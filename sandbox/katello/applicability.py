"""Applicability of errata: hosts wait in a queue, and an event of Katello begins tasks for some of them at once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from sandbox.katello.answers import Problem, document
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.consumers import Consumers
from sandbox.katello.content_views import PlannedTask
from sandbox.katello.dynflow import Dynflow
from sandbox.katello.inventory import APPLICABILITY_BATCH
from sandbox.katello.tasks import Tasks

BULK_GENERATE = "Actions::Katello::Applicability::Hosts::BulkGenerate"
EVENT_SECONDS = 0.05
"""Until the event is handled that a request causes."""


@dataclass(slots=True, eq=False)
class Applicability:
    """The hosts that wait, in the order in which they came."""

    behaviour: Callable[[], KatelloBehaviour]
    now: Callable[[], datetime]
    consumers: Consumers
    tasks: Tasks
    flow: Dynflow
    _waiting: dict[int, None] = field(default_factory=dict)
    _event: asyncio.TimerHandle | None = None

    def answer(self, request: web.BaseRequest) -> web.Response | None:
        """Answer a request; None where it is for another part. Raise Problem."""
        match request.method, request.path.strip("/").split("/"):
            case "PUT", ["api", "v2", "hosts", pk, "errata", "applicability"]:
                if not pk.isdecimal() or int(pk) not in self.consumers.hosts:
                    text = f"Resource host not found by id '{pk}'"
                    raise Problem(404, {"error": {"message": text}})
                self._wait(int(pk))
                return document({}, 202)  # Katello names no task: it is not begun yet
        return None

    def _wait(self, pk: int) -> None:
        self._waiting[pk] = None
        if self._event is None:
            loop = asyncio.get_running_loop()
            self._event = loop.call_later(EVENT_SECONDS, self._begin)

    def _begin(self) -> None:
        """Begin a task for each batch of the hosts that wait."""
        self._event = None
        waiting = list(self._waiting)
        self._waiting.clear()
        for place in range(0, len(waiting), APPLICABILITY_BATCH):
            hosts, behaviour = waiting[place : place + APPLICABILITY_BATCH], self.behaviour()
            seconds = behaviour.applicability_seconds * len(hosts)
            self.tasks.add(
                PlannedTask(
                    BULK_GENERATE, ("Host", 0), "for hosts", behaviour.user, self.now(), seconds,
                    skipped=False, forced=False, behaviour=behaviour, request_id="",
                    verb="Bulk generate applicability", plan=self.flow.add(seconds), flow=self.flow,
                    told={"host_ids": hosts},
                )
            )  # fmt: skip
