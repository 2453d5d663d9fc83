"""Answers that go wrong on the way, as behind proxies and networks that do."""

import asyncio
import json
import re
import socket
import struct
from dataclasses import dataclass, field
from random import Random

from aiohttp import web

from sandbox.katello.answers import page
from sandbox.katello.behaviour import KatelloBehaviour

_HTML = "<html><body><h1>Log in first</h1></body></html>"


@dataclass(slots=True, eq=False)
class Faults:
    """Chooses the requests that go wrong: `fault_share` of those that `fault_on` fits."""

    _random: Random = field(default_factory=lambda: Random(1))

    def of(self, behaviour: KatelloBehaviour, method: str, path: str) -> str:
        """Give the fault of a request; empty without one."""
        if not behaviour.fault or not re.search(behaviour.fault_on, f"{method} {path}"):
            return ""
        return behaviour.fault if self._random.random() < behaviour.fault_share else ""

    def renew(self) -> None:
        """Choose as at the start."""
        self._random.seed(1)


async def spoiled(request: web.BaseRequest, fault: str) -> web.StreamResponse:
    """Answer with a fault: see behaviour.FAULTS."""
    match fault:
        case "html":
            return web.Response(text=_HTML, content_type="text/html")
        case "unavailable":
            return page(503, "503 Service Unavailable")
        case "empty":
            return web.Response(status=500)
        case "rate":
            return web.Response(status=429, headers={"Retry-After": "1"})
        case "unauthorized":
            return web.Response(status=401)
        case "absent":
            return web.Response(status=404)
        case "gone":
            return web.Response(status=410)
        case "half":
            return await _half(request)
        case "hang":
            await asyncio.Event().wait()
    if transport := request.transport:
        if bound := transport.get_extra_info("socket"):
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response(status=500)


async def _half(request: web.BaseRequest) -> web.StreamResponse:
    """Send half of the announced body, and close the connection."""
    body = json.dumps({"uuid": "0" * 400}).encode()
    answer = web.StreamResponse(headers={"Content-Type": "application/json"})
    answer.content_length = len(body)
    await answer.prepare(request)
    await answer.write(body[: len(body) // 2])
    if request.transport:
        request.transport.close()
    return answer
