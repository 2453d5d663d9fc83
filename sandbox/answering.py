"""Sends an answer of a repository as one of aiohttp: whole, or in pieces with what goes wrong on the way."""

import asyncio
import socket
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache

from aiohttp import web

from sandbox.answers import Answer, Ending
from sandbox.bodies import Body
from sandbox.settings import FOREVER
from sandbox.site import Reply

_MOST_AT_ONCE = 4 * 1024 * 1024
_TICK = 0.02
"""Seconds between two pieces if the bandwidth is limited."""


async def send(
    request: web.BaseRequest,
    reply: Reply,
    headers: Mapping[str, str],
    *,
    chunked: bool = False,
) -> web.StreamResponse:
    """Send what a site answers, and count its end. headers: besides its own. chunked: without a length."""
    status, sent, whole = 0, 0, False
    try:
        answer = reply.answer if isinstance(reply.answer, Answer) else await reply.answer
        if answer.silent:
            await asyncio.Event().wait()
        if answer.delay:
            await asyncio.sleep(answer.delay)
        sending = _Sending(request, answer, headers, chunked)
        status = answer.status
        try:
            response = await sending.run()
        finally:
            sent = sending.sent
        whole = answer.ending in (Ending.WHOLE, Ending.STALL)
        return response
    finally:
        for tally in reply.tallies:
            tally.end(status, sent, whole)


class _Sending:
    """One answer on its way. sent: bytes of its body so far."""

    def __init__(
        self, request: web.BaseRequest, answer: Answer, headers: Mapping[str, str], chunked: bool
    ) -> None:
        self._request = request
        self._answer = answer
        self._headers = {**_headers(answer.head), **headers}
        self._body = None if request.method == "HEAD" else answer.body
        self._chunked = chunked and self._body is not None
        self.sent = 0

    async def run(self) -> web.StreamResponse:
        """Send it. Raise ConnectionError if the client is gone."""
        answer, body = self._answer, self._body
        if body is None or (
            answer.ending is Ending.WHOLE and not answer.bandwidth and body.length <= _MOST_AT_ONCE
        ):
            return await self._at_once(body)
        return await self._in_pieces(body)

    async def _at_once(self, body: Body | None) -> web.StreamResponse:
        response: web.StreamResponse
        if body is None:
            response = web.StreamResponse(status=self._answer.status)
        else:
            whole = b"".join(_pieces(body, 0, body.length))
            response = web.Response(status=self._answer.status, body=whole)
        self._dress(response)
        await response.prepare(self._request)
        await response.write_eof()
        self.sent = body.length if body else 0
        return response

    async def _in_pieces(self, body: Body) -> web.StreamResponse:
        response = web.StreamResponse(status=self._answer.status)
        self._dress(response)
        await response.prepare(self._request)
        ending = self._answer.ending
        middle = body.length if ending is Ending.WHOLE else body.length // 2
        await self._send(response, body, middle)
        if ending is Ending.STALL:
            if self._answer.stall == FOREVER:
                await asyncio.Event().wait()
            await asyncio.sleep(self._answer.stall)
            await self._send(response, body, body.length)
        if ending in (Ending.RESET, Ending.TRUNCATED):
            await asyncio.sleep(_TICK)  # what was sent goes first
            self._break(reset=ending is Ending.RESET)
            return response
        await response.write_eof()
        return response

    def _dress(self, response: web.StreamResponse) -> None:
        length = self._headers.pop("Content-Length", None)
        response.headers.update(self._headers)
        if self._chunked:
            response.enable_chunked_encoding()
        elif length is not None and not isinstance(response, web.Response):
            response.content_length = int(length)

    async def _send(self, response: web.StreamResponse, body: Body, end: int) -> None:
        """Send up to a byte of the body, as fast as the bandwidth allows."""
        loop, start = asyncio.get_running_loop(), self.sent
        began, bandwidth = loop.time(), self._answer.bandwidth
        while self.sent < end:
            due = end
            if bandwidth:
                due = min(end, start + max(1, int((loop.time() - began) * bandwidth)))
            for piece in _pieces(body, self.sent, due):
                await response.write(bytes(piece))
                self.sent += len(piece)
            if self.sent < end:
                await asyncio.sleep(max(_TICK, 1 / bandwidth))

    def _break(self, *, reset: bool) -> None:
        """End the connection half way."""
        if transport := self._request.transport:
            bound = transport.get_extra_info("socket")
            if reset and bound:
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                transport.abort()
            else:
                transport.close()


def _pieces(body: Body, start: int, end: int) -> Iterator[memoryview | bytes]:
    while start < end:
        piece = body.piece(start, end)
        start += len(piece)
        yield piece


@lru_cache(maxsize=4096)
def _headers(head: bytes) -> Mapping[str, str]:
    """Read the headers of a head."""
    lines = head.decode("ascii").splitlines()[1:]
    return dict(line.split(": ", 1) for line in lines)
