"""A plain virtual host and its connection: the hot path. No Django.

What a request costs here bounds the load of a process, so `Link.data_received` does in one function what
elsewhere would be five: see docs/reference/load-engine.md.
"""

import asyncio
import os
from time import perf_counter_ns
from typing import Protocol

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.framing import UNPARSABLE, Line
from campaigns.kinds.load.loops import Closed, Open
from campaigns.kinds.load.recorder import Recorder


class Crew(Protocol):
    """Who drives the hosts. Until `chained_until_ns` they send their next request themselves."""

    recorder: Recorder
    loop: Closed | Open
    chained_until_ns: int

    def connect(self, client: "Client") -> None:
        """Open a connection for a client that has something to send."""

    def unusual(self, client: "Client", link: "Link") -> None:
        """Record what is not a 200 in one piece, to a first try, on a connection that goes on."""

    def failed(self, client: "Client", failure: LoadFailed) -> None:
        """Count a failure of a client's request."""


class Link(Line):
    """A connection of a client.

    fd: of the socket where there is no TLS, which is written to at once; otherwise -1.
    """

    def __init__(self, client: "Client") -> None:
        super().__init__()
        self.client = client
        self._fd = -1
        instants = client.crew.recorder.instants
        self._intended = instants.intended.append
        self._sent = instants.sent.append
        self._first_byte = instants.first_byte.append
        self._done = instants.done.append

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if transport.get_extra_info("ssl_object") is None:
            self._fd = transport.get_extra_info("socket").fileno()

    def send(self, data: bytes) -> None:
        """Send as `Line` does, but without waiting for the loop's next turn where that can be."""
        if self._fd < 0 or self._transport.is_closing():  # type: ignore[union-attr]
            super().send(data)
            return
        self.busy = True
        self.received = self.first_byte_ns = 0
        self._head = b""
        self.sent_ns = perf_counter_ns()
        self._write(data)

    def data_received(self, data: bytes) -> None:
        """Record a usual answer (200, in one piece) in place, and send the next request at once."""
        if self.first_byte_ns or not self.busy:
            super().data_received(data)
            return
        first = perf_counter_ns()
        try:
            self._feed(data)
        except UNPARSABLE as error:
            self.unparsable(data, error)
            return
        client = self.client
        if self._answers != 1 or self.status != 200 or client.retry or not self.keep_alive:
            self.first_byte_ns = first
            self.take(data)
            return
        self._answers = 0
        crew, done = client.crew, perf_counter_ns()
        self._intended(client.intended_ns)
        self._sent(self.sent_ns)
        self._first_byte(first)
        self._done(done)
        crew.recorder.bytes += len(data)
        if done >= crew.chained_until_ns or client.left == 1 or self._fd < 0:
            self.busy = False
            crew.loop.next(client, done)
            return
        client.left -= 1
        client.intended_ns = done
        self.sent_ns = perf_counter_ns()
        self._write(client.data)

    def finished(self) -> None:
        self.client.finished(self)

    def broke(self, failure: LoadFailed) -> None:
        self.client.broke(self, failure)

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._fd, data)
        except BlockingIOError:
            written = 0
        except OSError:
            return  # the loop hears of it, and calls connection_lost
        if written < len(data):
            self._fd = -1  # what follows has to wait for this
            self._transport.write(data[written:])  # type: ignore[union-attr]


class Client:
    """A virtual host. `left`: how many requests it still has to do."""

    __slots__ = (
        "crew",
        "data",
        "failures",
        "intended_ns",
        "left",
        "link",
        "number",
        "retry",
        "todo",
    )

    def __init__(self, crew: "Crew", number: int, data: bytes, todo: int) -> None:
        self.crew = crew
        self.number = number
        self.data = data
        self.todo = self.left = todo
        self.link: Link | None = None
        self.intended_ns = self.failures = 0
        self.retry = False

    def go(self, intended_ns: int) -> None:
        """Send the request that should have begun at `intended_ns`."""
        self.intended_ns = intended_ns
        link = self.link
        if link is not None and link.open:
            link.send(self.data)
        else:
            self.crew.connect(self)

    def finished(self, link: Link) -> None:
        """Record an answer that is not as usual, and go on."""
        self.crew.unusual(self, link)
        self.crew.loop.next(self, link.done_ns)

    def broke(self, link: Link, failure: LoadFailed) -> None:
        """Count a failure; send again, once, what a dropped kept-alive connection has not taken."""
        self.link = None
        again = failure.unanswered and bool(link.status) and not self.retry
        self.crew.failed(self, failure)
        if again:
            self.retry = True
            self.go(self.intended_ns)
        else:
            self.retry = False
            self.crew.loop.next(self, perf_counter_ns())
