"""The simulated Katello in this process, with every request that reached it written down."""

import asyncio
import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests
from aiohttp import web

from sandbox.katello.authority import Authority
from sandbox.katello.behaviour import KatelloBehaviour
from sandbox.katello.machine import Machine
from sandbox.katello.site import Site

ASKED = {"organization_id": 1, "activation_keys": ["bench-ak"]}


@dataclass(frozen=True)
class Asked:
    """One request: on which connection, who showed a certificate, what was sent."""

    connection: int
    common_name: str
    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.headers]


@dataclass
class Recording:
    """What was asked, and how a test makes the server drop a connection after so many answers on it."""

    url: str = ""
    ca: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: dict[asyncio.BaseTransport, int] = field(default_factory=dict)
    drops: set[str] = field(default_factory=set)
    drops_again: bool = False
    without_packages: bool = False
    swaps_certificates: bool = False
    last: dict[str, Any] | None = None
    site: Site | None = None

    def renew(self) -> None:
        """Forget what was asked, and who is registered."""
        self.asked.clear()
        self.connections.clear()
        self.drops.clear()
        self.drops_again = self.without_packages = self.swaps_certificates = False
        assert self.site
        self.site.control.consumers.renew()

    def consumers(self) -> int:
        """Count who is registered."""
        assert self.site
        return len(self.site.control.consumers.held)

    def command(self) -> str:
        """Give the command that Foreman tells to run on a host; asking for it is not written down."""
        with tempfile.NamedTemporaryFile("w") as bundle:
            bundle.write(self.ca)
            bundle.flush()
            answer = requests.post(
                f"{self.url}api/v2/registration_commands",
                json={"registration_command": ASKED},
                auth=("admin", "password"),
                verify=bundle.name,
                timeout=10,
            )
        self.asked.clear()
        self.connections.clear()
        return str(answer.json()["registration_command"])

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport
        assert self.site
        number = self.connections.setdefault(request.transport, len(self.connections) + 1)
        shown = request.get_extra_info("peercert") or {}
        names = dict(pair for group in shown.get("subject", ()) for pair in group)
        body = await request.read()
        headers = [(name.decode(), value.decode()) for name, value in request.raw_headers]
        self.asked.append(
            Asked(
                number,
                str(names.get("commonName", "")),
                request.method,
                request.path_qs,
                headers,
                body,
            )
        )
        step = f"{request.method} {request.path.rpartition('/')[2]}"
        if step in self.drops:
            if not self.drops_again:
                self.drops.discard(step)
            request.transport.abort()
        answer = await self.site.answer(request)
        if not isinstance(answer, web.Response) or not answer.body:
            return answer
        if self.without_packages and request.path == "/rhsm/":
            rels = [each for each in json.loads(answer.text or "") if each["rel"] != "packages"]
            return web.json_response(rels)
        if self.swaps_certificates and request.path == "/rhsm/consumers":
            return self._swapped(json.loads(answer.text or ""))
        return answer

    def _swapped(self, consumer: dict[str, Any]) -> web.Response:
        """Give a host the certificate of the one before it."""
        own = consumer["idCert"]
        consumer["idCert"] = self.last or own
        self.last = own
        return web.json_response(consumer)


@contextmanager
def recording(**behaviour: object) -> Iterator[Recording]:
    """Serve over TLS, in a thread of its own."""
    loop = asyncio.new_event_loop()
    found = Recording()
    runners: list[web.ServerRunner] = []

    async def start() -> None:
        authority = Authority.new()
        found.site = Site(KatelloBehaviour.of(behaviour), Machine(), authority)
        runner = web.ServerRunner(web.Server(found.answer, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=authority.context("127.0.0.1"))
        await site.start()
        runners.append(runner)
        found.url = f"https://127.0.0.1:{runner.addresses[0][1]}/"
        found.ca = authority.pem

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(start(), loop).result(10)
        yield found
    finally:
        for runner in runners:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
