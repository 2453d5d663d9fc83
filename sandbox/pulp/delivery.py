"""What clients download below /pulp/content: what was synced from the sandbox's own repositories, cold or warm.

The simulator stores no bytes. It makes those of a package again, from the URL at which the feed has it, and so serves the feeds of
the sandbox only. The metadata are the feed's.
"""

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from aiohttp import web

from sandbox.answering import send
from sandbox.answers import Answer, text
from sandbox.pulp.behaviour import Behaviour
from sandbox.pulp.machine import Machine
from sandbox.pulp.store import Resource, Store, Unit
from sandbox.settings import Feed
from sandbox.site import Reply, Site

PREFIX = "/pulp/content/"
_FEEDS = tuple(f"{feed}/" for feed in Feed)
_BUILT = "Wed, 01 Jan 2025 00:00:00 GMT"


class Delivery:
    """The content app: distributions, their units, and what they cost."""

    def __init__(self, store: Store, behaviour: Callable[[], Behaviour], machine: Machine) -> None:
        self._store = store
        self._behaviour = behaviour
        self._machine = machine
        self._site = Site("http://127.0.0.1", asyncio.get_running_loop().time)
        self._by_path: dict[str, tuple[frozenset[str], dict[str, Unit]]] = {}

    def close(self) -> None:
        """Abandon what is being made."""
        self._site.close()

    async def answer(
        self, request: web.BaseRequest, headers: Mapping[str, str]
    ) -> web.StreamResponse:
        """Answer a request below PREFIX."""
        if request.method not in ("GET", "HEAD"):
            return await send(request, Reply(text(405, "405: Method Not Allowed")), headers)
        path = unquote(request.raw_path.partition("?")[0]).removeprefix(PREFIX)
        source, unit, policy = self._found(path)
        place = urlsplit(source).path
        if not place.startswith(_FEEDS):
            words = "404: Not Found" if not source else f"404: no feed of the sandbox: {source}"
            return await send(request, Reply(text(404, words)), headers)
        sender = request.headers.get("User-Agent", "").encode()
        reply = self._site.receive(b"GET", place.encode(), sender)
        failed = isinstance(reply.answer, Answer) and reply.answer.status != HTTPStatus.OK
        cold = unit is not None and unit.artifact is None and not failed
        behaviour = self._behaviour()
        factor = 2 if cold else 1
        await self._machine.work(factor * behaviour.content_cpu_seconds)
        more = self._warm(unit) if unit and unit.artifact else self._cold(reply) if cold else {}
        response = await send(request, reply, {**headers, **more}, chunked=cold)
        if unit and cold and request.method == "GET" and response.status == HTTPStatus.OK:
            self._keep(unit, reply, policy)
        return response

    def _keep(self, unit: Unit, reply: Reply, policy: str) -> None:
        """Note that the package is there from now on, unless it is only passed on."""
        answer = reply.answer if isinstance(reply.answer, Answer) else reply.answer.result()
        if policy != "streamed" and answer.body is not None:
            unit.artifact = self._store.keep(unit.digest, answer.body.length).digest

    def _found(self, path: str) -> tuple[str, Unit | None, str]:
        """Find where the feed has what is at a path, which unit it is, and the policy; an empty text if it is nowhere."""
        for distribution in self._store.of("distributions"):
            base = f"{distribution.values['base_path'].strip('/')}/"
            repository = self._repository(distribution)
            if repository and path.startswith(base):
                return self._in_repository(repository, path.removeprefix(base))
        return "", None, ""

    def _in_repository(self, repository: Resource, name: str) -> tuple[str, Unit | None, str]:
        url = str(repository.last_sync.get("url", ""))
        policy = str(repository.last_sync.get("download_policy", ""))
        if name == Feed.FILE.entry and not repository.plugin.startswith("rpm/"):
            return url, None, policy
        if name.startswith("repodata/"):
            return f"{url.rstrip('/')}/{name}", None, policy
        unit = self._units(repository).get(name)
        return (unit.source, unit, policy) if unit else ("", None, "")

    def _units(self, repository: Resource) -> dict[str, Unit]:
        """Give the units of the newest version by their paths."""
        keys = repository.versions[-1].units
        known = self._by_path.get(repository.pk)
        if known is None or known[0] != keys:
            units = (self._store.units[pk] for pk in keys if pk in self._store.units)
            known = self._by_path[repository.pk] = keys, {unit.path: unit for unit in units}
        return known[1]

    def _repository(self, distribution: Resource) -> Resource | None:
        """Find the repository whose publication is distributed."""
        publication = self._store.at(distribution.values.get("publication"))
        if publication:
            return self._store.at(publication.values.get("repository"))
        repository = self._store.at(distribution.values.get("repository"))
        published = any(
            repository and each.values.get("repository") == repository.href
            for each in self._store.of("publications")
        )
        return repository if published else None

    def _cold(self, reply: Reply) -> dict[str, str]:
        body = reply.answer.body if isinstance(reply.answer, Answer) else None
        told = {"Last-Modified": _BUILT}
        return told | {"X-PULP-ARTIFACT-SIZE": str(body.length)} if body else told

    def _warm(self, unit: Unit) -> dict[str, str]:
        size = self._store.artifacts[unit.digest].size
        return {
            "X-PULP-ARTIFACT-SIZE": str(size),
            "Etag": f'"{unit.digest}"',
            "Last-Modified": _BUILT,
        }
