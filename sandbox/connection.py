"""One connection: reads requests, sends their answers in the order of the requests."""

import asyncio
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

import httptools

from sandbox.answers import Answer, text
from sandbox.bodies import PIECE
from sandbox.sending import Sending
from sandbox.site import Reply, Site

_MOST_REQUEST_BYTES = 64 * 1024
_MOST_OWED = 64


@dataclass(slots=True)
class _Owed:
    """An answer that the client waits for."""

    reply: Reply
    head_only: bool
    close: bool


class Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive and pipelining. `everyone` holds the open ones."""

    def __init__(
        self, site: Site, loop: asyncio.AbstractEventLoop, everyone: "set[Connection]"
    ) -> None:
        self._site = site
        self._loop = loop
        self._everyone = everyone
        self._transport: asyncio.Transport
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._sender = b""
        self._unfinished = 0
        self._owed: deque[_Owed] = deque()
        self._sending: Sending | None = None
        self._serving = False
        self._paused = False
        self._deaf = False  # reads no further requests: it ends after what is owed

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=PIECE)
        self._everyone.add(self)
        self._site.registry.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self._give_up()
        self._everyone.discard(self)
        self._site.registry.lost()
        del self._parser  # it refers to this object

    def eof_received(self) -> None:
        """Take the end of requests for the end of the client; one that was killed ends so."""
        self._give_up()

    def pause_writing(self) -> None:
        self._paused = True
        if self._sending:
            self._sending.paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._sending:
            self._sending.paused = False
            self._sending.resume()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._unfinished += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserCallbackError:
            raise
        except httptools.HttpParserError as error:
            if not self._deaf:  # else it is what follows the last request
                self._refuse(HTTPStatus.BAD_REQUEST, f"not a request of HTTP/1.1: {error}\n")
        if self._unfinished > _MOST_REQUEST_BYTES and not self._deaf:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._refuse(status, f"a request may have {_MOST_REQUEST_BYTES} bytes\n")
        self._serve()

    # What the parser calls.

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"user-agent":
            self._sender = value

    def on_message_complete(self) -> None:
        self._unfinished = 0
        if self._deaf:
            return
        url, self._url = self._url, b""
        sender, self._sender = self._sender, b""
        method = self._parser.get_method()
        close = not self._parser.should_keep_alive() or self._parser.get_http_version() == "1.0"
        self._owe(self._site.receive(method, url, sender), method == b"HEAD", close)

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:  # which a server may ignore
            rest = data[upgrade.args[0] :]
            if rest:
                self._parse(rest)

    # Answering.

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self._owe(Reply(text(status, sentence)), head_only=False, close=True)

    def _owe(self, reply: Reply, head_only: bool, close: bool) -> None:
        if not isinstance(reply.answer, Answer):
            reply.answer.add_done_callback(lambda _: self._serve())
        self._owed.append(_Owed(reply, head_only, close))
        self._deaf = self._deaf or close
        if len(self._owed) == _MOST_OWED:
            self._transport.pause_reading()

    def _serve(self) -> None:
        """Send what is owed, until something has to be waited for."""
        if self._serving:
            return
        self._serving = True
        while self._owed and self._sending is None:
            owed = self._owed[0]
            answer = owed.reply.answer
            if not isinstance(answer, Answer):
                if not answer.done():
                    break
                if answer.cancelled() or answer.exception():
                    self._transport.abort()  # a client shall not wait for what will not come
                answer = answer.result()
            owed.reply.answer = answer
            if owed.head_only:
                answer.body = None
            owed.close = owed.close or answer.close
            self._sending = Sending(
                self._loop, self._transport, answer, owed.close, self._paused, self._ended
            )
            self._sending.start()
        self._serving = False

    def _ended(self, whole: bool) -> None:
        close = self._owed[0].close or not whole
        self._count_end(whole)
        if close or (self._deaf and not self._owed):
            self._transport.close()
            self._give_up()
        else:
            if len(self._owed) == _MOST_OWED - 1:
                self._transport.resume_reading()
            self._serve()

    def _count_end(self, whole: bool) -> None:
        """Take the first answer off what is owed."""
        owed, sending = self._owed.popleft(), self._sending
        self._sending = None
        status, sent = 0, 0
        if sending is not None:
            sending.cancel()
            sent = sending.sent
            if sending.head_sent and isinstance(owed.reply.answer, Answer):
                status = owed.reply.answer.status
        for tally in owed.reply.tallies:
            tally.end(status, sent, whole)

    def _give_up(self) -> None:
        """Send nothing more, whatever is owed."""
        self._deaf = True
        while self._owed:
            self._count_end(whole=False)

    # Stopping.

    def finish(self) -> None:
        """End after what is owed; at once where it would take for ever."""
        self._deaf = True
        if not self._owed:
            self._transport.close()
        elif self._sending is not None and self._sending.endless:
            self._transport.abort()

    def abort(self) -> None:
        """End now."""
        self._transport.abort()
