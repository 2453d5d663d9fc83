"""One HTTP/1.1 connection and the answers on it, parsed by llhttp, independent of the callers.

`Framing` is the base of all connections. `wire.Wire` is awaited, and `plain.Link` calls back; the loop
gives them bytes. `counting.CountingWire` lets it write into a buffer.
"""

import asyncio
import os
import re
import ssl
from time import perf_counter_ns
from typing import cast

import httptools

from campaigns.kinds.load.failures import LoadFailed, of_error
from campaigns.kit.http.failures import normalised_message
from campaigns.kit.redaction import begin_of

MOST_HEAD_BYTES = 64 * 1024
MOST_BODY_BYTES = 64 * 1024 * 1024
ANY_SIZE = 1 << 62
"""The most bytes of an answer whose body is not kept."""
UNPARSABLE = (httptools.HttpParserError, httptools.HttpParserUpgrade)
HEAD_IS_OVER = re.compile(rb"\r?\n\r?\n")
INTERIM = re.compile(rb"\A(?:HTTP/1\.\d 1\d\d.*?\r?\n\r?\n)+", re.DOTALL)
LENGTH_HEADER = re.compile(rb"\n(?:content-length|transfer-encoding)[ \t]*:", re.IGNORECASE)


class Opened(asyncio.BaseProtocol):
    """What `wire.opened` returns: a connection of any protocol, with the nanoseconds that opening it took.

    tls_wait_ns: of the wait for its turn to begin with TLS. tls_ns: 0 without TLS.
    """

    connect_ns = tls_wait_ns = tls_ns = 0


class Framing(Opened):
    """A connection with at most one request in flight. All instants are of perf_counter_ns.

    A subclass defines `finished` and `broke`; exactly one of the two is called for each `send`.
    """

    def __init__(self, most_body_bytes: int = MOST_BODY_BYTES) -> None:
        self.most_bytes = most_body_bytes + MOST_HEAD_BYTES
        self.open = False
        self.busy = False
        self.status = 0
        self.keep_alive = True
        self.sent_ns = self.first_byte_ns = self.done_ns = 0
        self.received = 0
        self._head = b""
        self._answers = 0
        self._transport: asyncio.Transport | None = None
        self._new_parser()

    def _new_parser(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._feed = self._parser.feed_data

    def finished(self) -> None:
        """Process a whole answer."""
        raise NotImplementedError

    def broke(self, failure: LoadFailed) -> None:
        """Process the failure of the request in flight; the connection is closed."""
        raise NotImplementedError

    def send(self, data: bytes) -> None:
        """Send a request. The connection has to be open, with no other request in flight."""
        self.busy = True
        self.received = self.first_byte_ns = 0
        self._head = b""
        self.sent_ns = perf_counter_ns()
        self._transport.write(data)  # type: ignore[union-attr]

    def close(self) -> None:
        """Close the connection at once; neither `finished` nor `broke` is called."""
        self.open = self.busy = False
        if self._transport is not None:
            self._transport.abort()

    def fail(self, failure: LoadFailed) -> None:
        """Close the connection, and call `broke` where a request is in flight."""
        busy = self.busy
        self.close()
        if busy:
            self.done_ns = perf_counter_ns()
            self.broke(failure)

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.open = True

    def data_received(self, data: bytes) -> None:
        if not self.busy:
            self.close()  # an answer without a request
            return
        if not self.first_byte_ns:
            self.first_byte_ns = perf_counter_ns()
        try:
            self._feed(data)
        except UNPARSABLE as error:
            self.unparsable(data, error)
            return
        self.take(data)

    def eof_received(self) -> None:
        """Let the transport close; `connection_lost` decides what that means."""
        self.open = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        self._transport = None  # with TLS it is most of a connection's memory
        if not self.busy:
            return
        if exc is None and self._ends_with_the_connection():
            self.keep_alive = False
            self._finish()
        else:
            self.fail(self._loss(exc))

    # Called by the parser.

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:  # after an interim answer the real one follows
            self._answers += 1
            self.status = status
            self.keep_alive = self._parser.should_keep_alive()  # it forgets this afterwards

    def unparsable(self, data: bytes, error: Exception) -> None:
        """Fail because of an unreadable answer."""
        head = (self._head + data)[:800].decode("latin-1")
        shown = begin_of(head, 80).encode("latin-1", errors="replace")
        self.fail(
            LoadFailed(
                "protocol",
                normalised_message(f"no HTTP answer ({error}): {shown!r}"),
                unquoted="no HTTP answer",
            )
        )

    def take(self, data: bytes) -> None:
        """Finish where the answer is complete; otherwise check the limits of its size."""
        self.received += len(data)
        if self._answers:
            self._finish()
            return
        if not HEAD_IS_OVER.search(self._head):
            self._head = INTERIM.sub(b"", self._head + data)
        if len(self._head) > MOST_HEAD_BYTES and not HEAD_IS_OVER.search(self._head):
            what = f"{MOST_HEAD_BYTES:,} bytes in its head"
            self.fail(LoadFailed("protocol", f"the answer has more than {what}"))
        elif self.received > self.most_bytes:
            what = f"{self.most_bytes:,} bytes"
            self.fail(LoadFailed("protocol", f"the answer has more than {what}"))

    def _finish(self) -> None:
        answers, self._answers = self._answers, 0
        if answers > 1:
            self.fail(LoadFailed("protocol", "the server sent more answers than were asked for"))
            return
        self.busy = False
        self.done_ns = perf_counter_ns()
        if not self.keep_alive:
            self.open = False
            if self._transport is not None:
                self._transport.close()
        self.finished()

    def _ends_with_the_connection(self) -> bool:
        """Return whether the end of the connection is the end of the body (RFC 9112, section 6.3)."""
        over = HEAD_IS_OVER.search(self._head)
        if not over or LENGTH_HEADER.search(self._head, 0, over.end()):
            return False
        self.status = self._parser.get_status_code()
        return self.status >= 200

    def _loss(self, exc: Exception | None) -> LoadFailed:
        """Return the failure that the end of the connection means for the request in flight."""
        if isinstance(exc, ssl.SSLError):
            return of_error(exc, "TLS ended the connection")
        if not self.received:
            what = f" ({exc})" if exc else ""
            return LoadFailed(
                "connect",
                f"the server closed the connection before any byte of an answer{what}",
                unanswered=True,
            )
        if exc is not None:
            return of_error(exc, "the connection was lost in mid-answer")
        return LoadFailed("protocol", "the connection ended in mid-answer")


class Direct(Framing):
    """A connection that writes directly to its socket, where there is no TLS.

    _fd: of that socket; otherwise -1.
    """

    _fd = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if transport.get_extra_info("ssl_object") is None:
            self._fd = transport.get_extra_info("socket").fileno()

    def send(self, data: bytes) -> None:
        """Send as `Line` does, but directly to the socket where possible."""
        if self._fd < 0 or self._transport.is_closing():  # type: ignore[union-attr]
            super().send(data)
            return
        self.busy = True
        self.received = self.first_byte_ns = 0
        self._head = b""
        self.sent_ns = perf_counter_ns()
        self._write(data)

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._fd, data)
        except BlockingIOError:
            written = 0
        except OSError:
            return  # the loop notices it, and calls connection_lost
        if written < len(data):
            self._fd = -1  # what follows has to wait for this
            self._transport.write(data[written:])  # type: ignore[union-attr]
