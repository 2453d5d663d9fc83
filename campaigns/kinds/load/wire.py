"""A connection that a sequence opens, sends requests on, and closes. No Django.

It follows no redirects, stores no cookies, decodes no bodies, and uses no proxies, HEAD or CONNECT.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Protocol, TypeVar

from campaigns.kinds.load.failures import LoadFailed, of_error
from campaigns.kinds.load.framing import Framing, Opened
from campaigns.kit.checked_addresses import allowed_addresses_in_thread, family_of
from campaigns.kit.network import Address, Refused, Rules

TICK_SECONDS = 0.001
"""How much too early a timer of uvloop may fire."""
MOST_STORED_BYTES = 4 * 1024 * 1024


class Place(Protocol):
    """Where to connect: an `Endpoint` of `parse_url`, or a `Pinned`, which is not resolved again."""

    @property
    def host(self) -> str:
        """The name that certificates are checked for, or an address."""

    @property
    def port(self) -> int:
        """TCP port."""

    @property
    def address(self) -> Address | str | None:
        """The address, where it is known."""


@dataclass(slots=True)
class Answer:
    """An answer. `headers` have lower-case names; instants are of perf_counter_ns.

    size, sha256: of a body that was counted, or hashed, and not kept (`counting`).
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    sent_ns: int
    first_byte_ns: int
    done_ns: int
    keep_alive: bool
    size: int = 0
    sha256: str = ""

    def header(self, name: bytes) -> bytes:
        """Return the first value of a header (lower-case name); empty where there is none."""
        return next((value for key, value in self.headers if key == name), b"")


class Awaited(Framing):
    """A connection whose answers are awaited. request_count: of the requests on it.

    connect_ns, tls_ns: the times to open it; tls_ns is 0 without TLS.
    """

    def __init__(self, most_body_bytes: int) -> None:
        super().__init__(most_body_bytes)
        self.request_count = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._waiting: asyncio.Future[Answer] | None = None

    async def ask(self, data: bytes, timeout_seconds: float) -> Answer:
        """Send a whole request and return its answer, whatever its status. Raise LoadFailed; the wire is closed then."""
        raise NotImplementedError

    def finished(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(self._answer())

    def broke(self, failure: LoadFailed) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(failure)

    def on_message_begin(self) -> None:
        self._headers = []  # those of an interim answer do not count

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def _answer(self) -> Answer:
        raise NotImplementedError

    def _begin(self) -> asyncio.Future[Answer]:
        """Return what the answer will be of a request that is sent next. Raise LoadFailed."""
        if not self.open:
            raise LoadFailed(
                "connect", "the server had closed the connection", unanswered=self.request_count > 0
            )
        self._waiting = asyncio.get_running_loop().create_future()
        self._headers = []
        self.request_count += 1
        return self._waiting


class Wire(Awaited, asyncio.Protocol):
    """A connection whose answers are kept whole."""

    def __init__(self, most_body_bytes: int = MOST_STORED_BYTES) -> None:
        super().__init__(most_body_bytes)
        self._body: list[bytes] = []

    async def ask(self, data: bytes, timeout_seconds: float) -> Answer:
        """Send a request; its answer has to be whole within the timeout."""
        waiting = self._begin()
        self._body = []
        loop = asyncio.get_running_loop()
        timer = loop.call_later(timeout_seconds + TICK_SECONDS, self._too_late, timeout_seconds)
        try:
            self.send(data)
            return await waiting
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            timer.cancel()
            self._waiting = None

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def _answer(self) -> Answer:
        return Answer(
            status=self.status,
            headers=self._headers,
            body=b"".join(self._body),
            sent_ns=self.sent_ns,
            first_byte_ns=self.first_byte_ns,
            done_ns=self.done_ns,
            keep_alive=self.keep_alive,
        )

    def _too_late(self, seconds: float) -> None:
        where = "the rest of the answer" if self.received else "the first byte"
        self.fail(LoadFailed("timeout", f"waited {seconds:g} s for {where}"))


async def open_connection(
    endpoint: Place,
    rules: Rules,
    tls_context: ssl.SSLContext | None,
    connect_timeout: float,
    tls_timeout: float,
    handshakes: asyncio.Semaphore | None = None,
) -> Wire:
    """Open a connection, with TLS where there is a context (see `tls`). Raise LoadFailed.

    handshakes: how many may run at once; the wait for that is `tls_wait_ns`.
    """
    return await opened(
        Wire, endpoint, rules, tls_context, connect_timeout, tls_timeout, handshakes
    )


LineOf = TypeVar("LineOf", bound=Opened)


async def opened(
    make: Callable[[], LineOf],
    endpoint: Place,
    rules: Rules,
    tls_context: ssl.SSLContext | None,
    connect_timeout: float,
    tls_timeout: float,
    handshakes: asyncio.Semaphore | None = None,
) -> LineOf:
    """Open a connection for the protocol that `make` returns. Raise LoadFailed."""
    begun = perf_counter_ns()
    try:
        async with asyncio.timeout(connect_timeout):
            connection = await _connect(endpoint, rules)
    except TimeoutError:
        raise LoadFailed("timeout", f"no connection within {connect_timeout:g} s") from None
    except OSError as error:
        raise of_error(error, f"no connection to {endpoint.host}:{endpoint.port}") from error
    connected = shaking = perf_counter_ns()
    try:
        async with handshakes if handshakes and tls_context else nullcontext():
            shaking = perf_counter_ns()
            line = await _wrapped(make, connection, endpoint.host, tls_context, tls_timeout)
    except asyncio.CancelledError:
        connection.close()
        raise
    except TimeoutError:
        raise LoadFailed("timeout", f"no TLS connection within {tls_timeout:g} s") from None
    except OSError as error:
        failure = of_error(error, "no TLS connection")
        if not failure.exhausted:
            failure.kind = "tls"
        raise failure from error
    line.connect_ns = connected - begun
    if tls_context:
        line.tls_wait_ns = shaking - connected
        line.tls_ns = perf_counter_ns() - shaking
    return line


async def _connect(endpoint: Place, rules: Rules) -> socket.socket:
    """Connect to the first address that the rules allow and that takes the connection."""
    try:
        allowed = await _allowed(endpoint, rules)
    except Refused as refused:
        raise LoadFailed("connect", str(refused)) from None
    problem = OSError("no address")
    for address in allowed:
        made = socket.SOCK_STREAM | socket.SOCK_NONBLOCK
        connection = socket.socket(family_of(address), made)
        try:
            await asyncio.get_running_loop().sock_connect(connection, (address, endpoint.port))
        except OSError as error:
            connection.close()
            problem = error
            continue
        except BaseException:
            connection.close()
            raise
        return connection
    raise problem


async def _allowed(endpoint: Place, rules: Rules) -> list[str]:
    host, port = endpoint.host, endpoint.port
    if endpoint.address is not None:  # thousands of connections need no thread to resolve nothing
        return rules.allowed_of([str(endpoint.address)], port, host)
    return await allowed_addresses_in_thread(host, port, rules)


async def _wrapped(
    make: Callable[[], LineOf],
    connection: socket.socket,
    host: str,
    tls_context: ssl.SSLContext | None,
    tls_timeout: float,
) -> LineOf:
    loop = asyncio.get_running_loop()
    try:
        if tls_context is None:
            _, line = await loop.create_connection(make, sock=connection)
        else:
            async with asyncio.timeout(tls_timeout):
                _, line = await loop.create_connection(
                    make, sock=connection, ssl=tls_context, server_hostname=host
                )
    except BaseException:
        connection.close()
        raise
    return line
