"""Pulp's REST API: tasks that run and wait, and the workers that are online."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import urlencode

from campaigns.targets.watches.base import Access, Frame, Sink, Source, WatchFailed
from campaigns.targets.watches.catalog import SLOTS
from campaigns.targets.watches.polling import Missed, look_in_steps
from campaigns.targets.watches.queues import count_of, queue_values
from campaigns.targets.watches.web import Got, Web, expect_ok, web_address, web_place

STATUS_SECONDS = 10.0
NO_PULP = "The answer is none of Pulp's REST API: check the address."


class Pulp(Source):
    """Task slots of Pulp."""

    name = "pulp"
    reads = ("queues",)
    label = "Pulp's tasks"
    description = "Tasks of Pulp that run and wait, and how many workers are online: task slots."
    needs = "A login of its own in Pulp with the role core.task_viewer and nothing else."
    address_help = "The URL of Pulp, such as https://pulp.example; or of its REST API, where that is not below /pulp/api/v3."
    has_login = True
    steps = (2.0, 1.0)

    def check_address(self, address: str) -> str:
        """Return the URL of its REST API."""
        return web_address(address, "/pulp/api/v3")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Count tasks each step, and workers every ten seconds."""
        with Web(access) as web:
            watch = _Watch(web, self.check_address(access.address), sink)
            look_in_steps(watch.look, max(access.step_seconds, self.steps[1]), stopped)


source = Pulp()


class _Watch:
    """What one watch knows from earlier looks."""

    def __init__(self, web: Web, url: str, sink: Sink) -> None:
        self._web, self._url, self._sink = web, url, sink
        self._workers: float | None = None
        self._status_due = 0.0

    def look(self) -> None:
        """Count once. Raise Missed, WatchFailed."""
        if monotonic() >= self._status_due:
            self._workers = self._read_workers()
            self._status_due = monotonic() + STATUS_SECONDS
        running, _ = self._count("running")
        waiting, got = self._count("waiting")
        values = queue_values(
            SLOTS, "pulp workers", busy=running, limit=self._workers, waiting=waiting
        )
        self._sink.frame(Frame(got.read_clock(self._sink), got.answered, values))

    def _read_workers(self) -> float | None:
        got = self._web.get(f"{self._url}/status/")
        expect_ok(got, "Pulp", "check the address of its REST API")
        workers = _document(got).get("online_workers")
        if not isinstance(workers, list):
            raise WatchFailed(NO_PULP)
        return float(len(workers))

    def _count(self, state: str) -> tuple[float, Got]:
        query = urlencode({"state": state, "limit": 1, "fields": "pulp_href"})
        got = self._web.get(f"{self._url}/tasks/?{query}")
        if got.status == 403:
            raise Missed("Pulp does not let this login see tasks: give it the role core.task_viewer.", hopeless=True)  # fmt: skip
        expect_ok(got, "Pulp", "check the address of its REST API")
        count = count_of(_document(got).get("count"))
        if count is None:
            raise WatchFailed(NO_PULP)
        return count, got


def _document(got: Got) -> dict[str, Any]:
    with suppress(ValueError):
        document = got.json()
        if isinstance(document, dict):
            return document
    return {}
