"""A connection whose answers are counted, and hashed where that is asked, and not kept. No Django.

The loop writes into one buffer that all connections of a process share, so a body is never copied. What has come is used before
the next read, which is why one buffer does for all.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter_ns
from typing import Any

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.framing import ANY_SIZE, MOST_HEAD_BYTES, UNPARSABLE, Direct
from campaigns.kinds.load.recorder import Recorder
from campaigns.kinds.load.wire import Answer, Awaited

NS = 1_000_000_000
BUFFER = bytearray(256 * 1024)
VIEW = memoryview(BUFFER)
SHOWN_BYTES = 300
"""Of the body of an answer that is an error, for its message."""
MOST_ERROR_BYTES = 1024 * 1024
LEAST_BYTES_PER_SECOND = 1000
"""Below this a transfer is slow, as librepo has it."""
MOST_MEAN_NS = 5 * NS
"""The time of which a transfer's speed is the mean, as in curl, so that one packet is no speed."""
MOST_LOOK_SECONDS = 1.0
USUAL = re.compile(rb"HTTP/1\.1 200 [ -~]*\r\n(?:[A-Za-z0-9-]+:[\t -~]*\r\n)+\r\n")
"""The whole head of a 200 that is beyond doubt. Any other head goes to the parser, which takes as long as all the rest."""
FIELDS = re.compile(
    rb"\n(content-length|x-pulp-artifact-size|connection|transfer-encoding|upgrade):[ \t]*([^\r\n]*)",
    re.IGNORECASE,
)
"""The headers of a usual head that are looked at."""
LENGTH, SIZE_IN_PULP, CONNECTION = b"content-length", b"x-pulp-artifact-size", b"connection"
MOST_DIGITS = 18
Headers = list[tuple[bytes, bytes]]

Following = Callable[[Answer], bytes | None]
"""Takes an answer as soon as it is whole; returns the request that is sent then, None where the caller goes on."""


@lru_cache(maxsize=10_000)
def usual_length(found: tuple[tuple[bytes, bytes], ...]) -> tuple[int, Headers]:
    """Return the length that the FIELDS of a head say, 0 where there is any doubt, and these with lower-case names."""
    headers = [(name.lower(), value) for name, value in found]
    lengths = [value for name, value in headers if name == LENGTH]
    others = [each for each in headers if each[0] not in (LENGTH, SIZE_IN_PULP)]
    if any(name != CONNECTION or value.lower() != b"keep-alive" for name, value in others):
        return 0, headers
    if len(lengths) != 1 or not lengths[0].isdigit() or len(lengths[0]) > MOST_DIGITS:
        return 0, headers
    return int(lengths[0]), headers


class Traffic:
    """What all counting connections of a process share. The bytes of bodies are counted by `recorder` as they come."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.requests = self.connections = 0
        self._wires: set[CountingWire] = set()

    async def watch(self, seconds: float) -> None:
        """End transfers that are slow for so many seconds; never return."""
        while True:
            await asyncio.sleep(min(MOST_LOOK_SECONDS, seconds / 20))
            now = perf_counter_ns()
            for wire in tuple(self._wires):
                wire.look(now)

    def add(self, wire: "CountingWire") -> None:
        """Watch a new connection."""
        self.connections += 1
        self._wires.add(wire)

    def discard(self, wire: "CountingWire") -> None:
        """Watch a connection no more."""
        self._wires.discard(wire)


class CountingWire(Direct, Awaited, asyncio.BufferedProtocol):
    """A connection whose bodies are not kept, besides the begin of that of an error.

    `expect` says what the next answer should be; its failures are `size` where it is another one. The timeout of `ask` is how long
    the answer may come with less than LEAST_BYTES_PER_SECOND, looked at by `Traffic.watch`; there is no limit of the whole.
    """

    def __init__(self, traffic: Traffic) -> None:
        super().__init__(ANY_SIZE)
        self._traffic = traffic
        self._recorder = traffic.recorder
        self._size, self._left = 0, 0
        self._expected: int | None = None
        self._most = ANY_SIZE
        self._digest: Any = None
        self._shown = b""
        self._is_body = self._parser_waits = False
        self._has_parser = False
        self._head_bytes = 0
        self._problem: LoadFailed | None = None
        self._following: Following | None = None
        self._patience_ns = self._slow_ns = self._looked_ns = self._looked_bytes = 0

    def expect(self, size: int | None, *, hashed: bool = False, most: int = ANY_SIZE) -> None:
        """Say how many bytes the next body should have, None where that is not known, and how many it may have then."""
        self._expected, self._most = size, most
        self._digest = hashlib.sha256() if hashed else None

    async def ask(
        self, data: bytes, timeout_seconds: float, following: Following | None = None
    ) -> Answer:
        """Send a request, and those that `following` returns; return the last answer."""
        waiting = self._begin()
        self.request_count -= 1
        self._patience_ns = int(timeout_seconds * NS)
        self._following = following
        try:
            self._ask(data)
            return await waiting
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            self._waiting = self._following = None

    def finished(self) -> None:
        """Go on with the next request at once, or let the caller go on."""
        if self._following is not None and self.open:
            try:
                data = self._following(self._answer())
            except BaseException as error:  # noqa: BLE001 - the loop would take it for a lost connection
                if self._waiting is not None and not self._waiting.done():
                    self._waiting.set_exception(error)
                return
            if data is not None:
                self._ask(data)
                return
        super().finished()

    def _ask(self, data: bytes) -> None:
        self.request_count += 1
        self._traffic.requests += 1
        self._size = self._left = self._head_bytes = self._looked_bytes = 0
        self._is_body, self._shown, self._problem = False, b"", None
        self.send(data)
        self._slow_ns = self._looked_ns = self.sent_ns

    def look(self, now: int) -> None:
        """End a transfer that has been slow for too long."""
        if not self.busy:
            return
        came, since = self.received - self._looked_bytes, now - self._looked_ns
        if since < min(MOST_MEAN_NS, self._patience_ns // 2):
            return
        self._looked_bytes, self._looked_ns = self.received, now
        if came * NS >= LEAST_BYTES_PER_SECOND * since:
            self._slow_ns = now
        elif now - self._slow_ns >= self._patience_ns:
            seconds = self._patience_ns / NS
            what = (
                f"less than {LEAST_BYTES_PER_SECOND} bytes/s came for {seconds:g} s, after {self._size:,} bytes of the body"
                if self.received
                else f"waited {seconds:g} s for the first byte"
            )
            self.fail(LoadFailed("timeout", what))

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._traffic.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._traffic.discard(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        return VIEW

    def buffer_updated(self, nbytes: int) -> None:
        if not self.busy:
            self.close()  # an answer without a request
            return
        self.received += nbytes
        if self._left:
            self._rest(0, nbytes)
            return
        if not self.first_byte_ns:
            self.first_byte_ns = perf_counter_ns()
            head = USUAL.match(BUFFER, 0, nbytes)
            if head is not None and self._is_usual(head.end()):
                self._rest(head.end(), nbytes)
                return
        try:
            self._parse(nbytes)
        except UNPARSABLE as error:
            self.unparsable(bytes(VIEW[: min(nbytes, MOST_HEAD_BYTES)]), error)

    def _is_usual(self, end: int) -> bool:
        """Return whether a head has one length, and keeps the connection open; then nothing has to be parsed.

        The parser is between two answers, and need not know of this one.
        """
        found = FIELDS.findall(BUFFER, 0, end)
        length, headers = usual_length(tuple(found))
        if length <= 0 or (self._expected is not None and length != self._expected):
            return False
        self._headers, self.status, self._left = headers, 200, length
        self._is_body = self.keep_alive = True
        self._parser_waits = False
        return True

    def _new_parser(self) -> None:
        """Leave it until there is something to parse: most connections never need one."""

    # Called by the parser.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_body = False

    def on_headers_complete(self) -> None:
        self._is_body = True
        self.status = self._parser.get_status_code()
        self.keep_alive = self._parser.should_keep_alive()
        self._left = 0
        length = self._length()
        if self._expected is None or length in (None, self._expected) or self.status >= 300:
            return
        self._problem = LoadFailed(
            "size",
            f"the server announces {length:,} bytes, and the metadata say {self._expected:,}",
            status=self.status,
        )

    def on_body(self, body: bytes) -> None:
        self._add(body)

    def _parse(self, nbytes: int) -> None:
        """Parse what is no body of a known length; the rest of such a body is only counted."""
        if not self._has_parser:
            self._has_parser = True
            super()._new_parser()
        begun_in_body = self._is_body
        end = -1 if begun_in_body or self._head else BUFFER.find(b"\r\n\r\n", 0, nbytes)
        cut = end + 4 if end >= 0 else nbytes
        self._feed(VIEW[:cut])
        if end >= 0 and self._is_body and not self._answers and not self._problem:
            self._left = self._length() or 0
            if self._left:
                self._parser_waits = True
                self._rest(cut, nbytes)
                return
        if cut < nbytes and not self._problem:
            self._feed(VIEW[cut:nbytes])
        if not begun_in_body:
            self._note_head(nbytes)
        self._settle()

    def _note_head(self, nbytes: int) -> None:
        """Keep the head as long as it is not over, and count its bytes, also those of interim answers."""
        self._head_bytes += nbytes
        if not self._is_body:
            self._head = (self._head + bytes(VIEW[:nbytes]))[-MOST_HEAD_BYTES:]
            if self._head_bytes > MOST_HEAD_BYTES:
                what = f"the answer has more than {MOST_HEAD_BYTES:,} bytes in its head"
                self._problem = LoadFailed("protocol", what)

    def _settle(self) -> None:
        if self._problem is not None:
            self.fail(self._problem)
        elif self._answers:
            self._finish()

    def _rest(self, begin: int, end: int) -> None:
        """Count a part of a body of a known length."""
        count = end - begin
        left = self._left - count
        if left < 0:
            self.fail(LoadFailed("protocol", "the server sent more than it had announced"))
            return
        self._left = left
        if self.status == 200 and self._digest is None and self._expected is not None:
            self._size += (
                count  # of that length: `on_headers_complete`, or `_is_usual`, has compared it
            )
            self._recorder.bytes += count
        elif count:
            self._add(VIEW[begin:end])
            if self._problem is not None:
                self.fail(self._problem)
                return
        if left:
            return
        if self._parser_waits:  # for the body
            self._parser_waits = self._has_parser = False
        if self.keep_alive:
            self.busy = False
            self.done_ns = perf_counter_ns()
            self.finished()
        else:
            self._answers = 1
            self._finish()

    def _add(self, piece: bytes | memoryview) -> None:
        self._size += len(piece)
        self._recorder.bytes += len(piece)
        if self.status >= 300:
            if len(self._shown) < SHOWN_BYTES:
                self._shown += bytes(piece[:SHOWN_BYTES])
            most = MOST_ERROR_BYTES
        else:
            if self._digest is not None:
                self._digest.update(piece)
            most = self._most if self._expected is None else self._expected
        if self._size > most and self._problem is None:
            self._problem = LoadFailed("size", f"the body has more than {most:,} bytes")

    def _length(self) -> int | None:
        """Return what Content-Length says; None where there is none, or it does not count."""
        found = None
        for name, value in self._headers:
            if name == b"transfer-encoding":
                return None
            if name == b"content-length" and value.isdigit():
                found = int(value)
        return found

    def _loss(self, exc: Exception | None) -> LoadFailed:
        failure = super()._loss(exc)
        if not self._is_body:
            return failure
        of = f" of {self._expected:,}" if self._expected is not None else ""
        return failure.saying(f"{failure}, after {self._size:,}{of} bytes of the body")

    def _ends_with_the_connection(self) -> bool:
        if not self._is_body or self.status < 200 or self._length() is not None:
            return False
        return all(name != b"transfer-encoding" for name, _ in self._headers)

    def _answer(self) -> Answer:
        return Answer(
            self.status,
            self._headers,
            self._shown,
            self.sent_ns,
            self.first_byte_ns,
            self.done_ns,
            self.keep_alive,
            self._size,
            self._digest.hexdigest() if self._digest is not None else "",
        )
