"""The pull side of the simulated smart proxy: hosts are told of their jobs by an MQTT broker, and fetch them over TLS.

The proxy tells a host once, counts it as busy until it has fetched its job, and tells it again after `mqtt_resend_interval` if it
never did: a message is hot until the next look (each `mqtt_ttl` seconds), then cold, then it waits to be sent again. With `mqtt_rate_limit`
at most so many hosts are busy or at work at a time (`mqtt/dispatcher.rb` of smart_proxy_remote_execution_ssh).
"""

import asyncio
import json
import ssl
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from sandbox.katello.machine import Machine
from sandbox.katello.mqtt import NotPublished, publish

PREFIX = "/ssh/jobs"
_PUBLISHERS = 16
"""Messages that are on their way at a time."""


@dataclass(slots=True, eq=False)
class Part:
    """What one host has to do for a job. done: called with its exit code, None where nothing came of it, and the words of a failure."""

    consumer: str
    script: str
    done: Callable[[int | None, str], None]
    began: Callable[[], None]
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    fetched: bool = False


@dataclass(slots=True, eq=False)
class Pull:
    """The parts that hosts still have to do. broker: host and port, empty without one; url: where hosts fetch."""

    broker: Callable[[], str]
    url: Callable[[], str]
    machine: Callable[[], Machine]
    context: Callable[[], ssl.SSLContext]
    parts: dict[str, Part] = field(default_factory=dict)
    published: int = 0
    refused: int = 0
    _waiting: deque[str] = field(default_factory=deque)
    _hot: set[str] = field(default_factory=set)
    _cold: set[str] = field(default_factory=set)
    _running: set[str] = field(default_factory=set)
    _sending: deque[tuple[str, bytes]] = field(default_factory=deque)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _ticking: bool = False

    def told(self) -> dict[str, int]:
        """Tell what there is to do."""
        return {"open": len(self.parts), "published": self.published, "not_published": self.refused}

    def renew(self) -> None:
        """Forget everything."""
        for each in (
            self.parts,
            self._waiting,
            self._hot,
            self._cold,
            self._running,
            self._sending,
        ):
            each.clear()
        self.published = self.refused = 0

    def add(self, part: Part) -> None:
        """Let a host do its part, as soon as the limit allows."""
        self.parts[part.uuid] = part
        self._waiting.append(part.uuid)
        self._dispatch()

    def drop(self, part: Part) -> None:
        """Forget a part that was cancelled; a host that has fetched it is told so."""
        if self.parts.pop(part.uuid, None) and part.fetched:
            self._send(part, "cancel", f"{self.url()}{PREFIX}/{part.uuid}/cancel")
        self._forget(part.uuid)

    def answer(self, request: web.BaseRequest, consumer: str, raw: bytes) -> web.Response | None:
        """Answer a host; None where the request is for another part of the server."""
        if not request.path.startswith(f"{PREFIX}/"):
            return None
        name, *rest = request.path.removeprefix(f"{PREFIX}/").split("/")
        part = self.parts.get(name)
        if part is None or part.consumer != consumer:
            return web.Response(status=404)
        match request.method, rest:
            case "GET", []:
                return self._fetched(part)
            case "POST", ["update"]:
                return self._updated(part, raw)
            case "GET", ["cancel"]:
                return web.Response(text="{}")
        return web.Response(status=405)

    def _fetched(self, part: Part) -> web.Response:
        part.fetched = True
        for each in (self._hot, self._cold):
            each.discard(part.uuid)
        self._running.add(part.uuid)
        part.began()
        return web.Response(text=part.script)

    def _updated(self, part: Part, raw: bytes) -> web.Response:
        try:
            told = json.loads(raw)
            updates = told["updates"] if told.get("version") == "1" else [told | {"type": "exit"}]
            codes = [
                each["exit_code"]
                for each in updates
                if each.get("type") == "exit" and "exit_code" in each
            ]
        except (ValueError, TypeError, KeyError, AttributeError):
            return web.Response(status=400, text="no update")
        if codes:
            self.parts.pop(part.uuid, None)
            self._forget(part.uuid)
            part.done(int(codes[-1]), "")
        return web.Response()

    def give_up(self, part: Part) -> None:
        """End a part that its host has not fetched in time."""
        if not part.fetched and self.parts.pop(part.uuid, None) is not None:
            self._forget(part.uuid)
            part.done(None, "pickup")

    def _forget(self, name: str) -> None:
        for each in (self._hot, self._cold, self._running):
            each.discard(name)
        if name in self._waiting:
            self._waiting.remove(name)
        self._dispatch()

    def _dispatch(self) -> None:
        limit = self.machine().mqtt_rate_limit
        while self._waiting and (
            not limit or len(self._running) + len(self._hot) + len(self._cold) < limit
        ):
            part = self.parts.get(self._waiting.popleft())
            if part is None:
                continue
            self._hot.add(part.uuid)
            self._send(part, "start", f"{self.url()}{PREFIX}/{part.uuid}")
        if self._hot and not self._ticking:
            self._ticking = True
            asyncio.get_running_loop().call_later(self.machine().mqtt_ttl, self._tick)

    def _tick(self) -> None:
        """Look which hosts have not fetched their job since they were told."""
        loop, again = asyncio.get_running_loop(), self.machine().mqtt_resend_interval
        for name in self._cold:
            loop.call_later(again, self._resend, name)
        self._cold, self._hot = self._hot, set()
        self._ticking = False
        self._dispatch()
        if self._cold and not self._ticking:
            self._ticking = True
            loop.call_later(self.machine().mqtt_ttl, self._tick)

    def _resend(self, name: str) -> None:
        if (part := self.parts.get(name)) and not part.fetched:
            self._waiting.append(name)
            self._dispatch()

    def _send(self, part: Part, event: str, url: str) -> None:
        metadata: dict[str, Any] = {"event": event, "job_uuid": part.uuid}
        if event == "start":
            metadata |= {"return_url": f"{url}/update", "version": "v1", "effective_user": "root"}
        self._sending.append((f"yggdrasil/{part.consumer}/data/in", _message(url, metadata)))
        if len(self._tasks) < _PUBLISHERS:
            self._begin(self._publish())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _publish(self) -> None:
        while self._sending:
            topic, payload = self._sending.popleft()
            host, _, port = self.broker().rpartition(":")
            try:
                await publish(host, int(port), self.context(), topic, payload)
                self.published += 1
            except NotPublished:
                self.refused += 1


def _message(url: str, metadata: Mapping[str, Any]) -> bytes:
    message = {
        "type": "data", "message_id": str(uuid.uuid4()), "version": 1, "sent": "2026-11-30T12:00:00+00:00",
        "directive": "foreman", "content": url, "metadata": metadata,
    }  # fmt: skip
    return json.dumps(message).encode()
