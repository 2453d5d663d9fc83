"""HTTP to allowed addresses only, with the library requests. No Django.

The name of a server is resolved once per connection, each address is checked against the rules, and the
connection goes to an address that was checked: urllib3, under requests, lets a class of connections make the socket. A request
follows no redirects, has one limit of time and one of bytes, and can be aborted by another thread.
"""

import http.client
import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, TypeVar

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from campaigns.kit.checked_addresses import allowed_addresses, family_of
from campaigns.kit.http.failures import (
    ANONYMOUS,
    CHUNK_BYTES,
    ErrorClasses,
    FileFailed,
    classified,
    headers,
    refuse_length,
    took_too_long,
)
from campaigns.kit.network import Rules, check_url

LOOK_SECONDS = 0.05
NOTHING_READ = range(1000)
"""All statuses, for `unread`."""
Result = TypeVar("Result")

FAILURE_CLASSES: ErrorClasses = (
    (socket.gaierror, "dns"),
    (NameResolutionError, "dns"),
    (ssl.SSLError, "tls"),
    (urllib3.exceptions.SSLError, "tls"),
    (urllib3.exceptions.InvalidChunkLength, "protocol"),  # before what it is a subclass of
    (http.client.IncompleteRead, "connect"),
    (NewConnectionError, "connect"),  # before the timeouts: it is a subclass of one
    (TimeoutError, "timeout"),
    (urllib3.exceptions.TimeoutError, "timeout"),
    (ConnectionError, "connect"),
    (urllib3.exceptions.IncompleteRead, "connect"),
    (OSError, "protocol"),  # RequestException is one: what is left is no HTTP
)
"""The class of failure of each exception of requests and the libraries under it, most specific first."""

EXPECTED = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError)
"""All that a request raises for reasons outside of perfdash: Refused and errors of decoding are
ValueErrors. Anything else is a bug."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer of any status. `cookies`: each header Set-Cookie.

    Names of `headers` are case-insensitive. `seconds`: from the request to the end of the body. `ends`:
    whether the server closes the connection after it.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    cookies: tuple[str, ...]
    body: bytes
    seconds: float
    ends: bool


class TooLate(FileFailed):
    """The request took longer than it may in all."""

    def __init__(self, seconds: float) -> None:
        super().__init__("timeout", f"no answer within {seconds:g} s")


def ask(
    method: str,
    url: str,
    rules: Rules,
    *,
    seconds: float,
    check: Callable[[], None] = lambda: None,
    tls: ssl.SSLContext | None = None,
    sender: str = ANONYMOUS,
    **named: Any,
) -> Answer:
    """Send one request over a connection of its own, and return the answer; see `exchange`.

    `check` is called again and again; what it raises ends the request. Raise Refused or BadUrl for a URL
    that the rules exclude, FileFailed where no answer came, TooLate after `seconds` in all.
    """
    check_url(url, rules)
    opened = Opened(check)

    def work() -> Answer:
        with checked_session(rules, tls or _tls(url), opened, sender) as session:
            return exchange(session, method, url, **named)

    try:
        return watched(work, check, seconds)
    except EXPECTED as error:
        raise classified(error, FAILURE_CLASSES) from error
    finally:
        opened.break_off()


def exchange(
    session: requests.Session,
    method: str,
    url: str,
    *,
    timeout: tuple[float, float],
    most_bytes: int,
    unread: Container[int] = (),
    read: Callable[[Iterator[bytes]], None] | None = None,
    **named: Any,
) -> Answer:
    """Send one request, and read its answer to the end. Redirects are not followed.

    read: takes the body of an answer of 200 piece by piece; the answer has none then. What it leaves is not read.

    timeout: seconds for connecting, and for each piece of the answer. unread: statuses of which the
    body is not read; `named` goes to requests. Raise one of EXPECTED, or FileFailed where the body
    is longer than `most_bytes` (class `size`).
    """
    started = time.perf_counter()
    with session.request(
        method, url, stream=True, allow_redirects=False, timeout=timeout, **named
    ) as response:
        body = bytearray()
        if response.status_code not in unread:
            refuse_length(response.headers.get("Content-Length", ""))
            pieces = _pieces(response, most_bytes)
            if read is not None and response.status_code == 200:
                read(pieces)
            else:
                for piece in pieces:
                    body += piece
        connection = response.headers.get("Connection", "").lower()
        return Answer(
            url,
            int(response.status_code),
            response.headers,
            tuple(response.raw.headers.getlist("Set-Cookie")),
            bytes(body),
            time.perf_counter() - started,
            "close" in connection
            or (response.raw.version == 10 and "keep-alive" not in connection),
        )


def _pieces(response: requests.Response, most_bytes: int) -> Iterator[bytes]:
    """Yield the body of an answer as it was sent. Raise FileFailed where it is longer than `most_bytes`."""
    size = 0
    for piece in response.raw.stream(CHUNK_BYTES, decode_content=False):
        size += len(piece)
        if size > most_bytes:
            raise FileFailed("size", f"more than {most_bytes} bytes")
        yield piece


def watched(work: Callable[[], Result], check: Callable[[], None], seconds: float) -> Result:
    """Do the work in a thread, and return its result. Raise TooLate, or what `check` or the work raises.

    The thread may then still run; the caller aborts its connections.
    """
    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            result.set_exception(error)

    threading.Thread(target=run, name="fetch", daemon=True).start()
    end = time.monotonic() + seconds
    while wait((result,), LOOK_SECONDS).not_done:
        check()
        if time.monotonic() > end:
            raise TooLate(seconds)
    return result.result()


def _tls(url: str) -> ssl.SSLContext:
    """Return a context with the usual certificates; for http:// one without, which loads 50 ms faster."""
    if url.lower().startswith("https:"):
        return ssl.create_default_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def checked_session(
    rules: Rules,
    tls: ssl.SSLContext,
    opened: "Opened | None" = None,
    sender: str = ANONYMOUS,
    limit: "Limit | None" = None,
) -> requests.Session:
    """Return a session of one connection, without cookies, retries, proxies or netrc.

    `opened` collects the connections, so that they can be aborted. `limit`: until when answers may come.
    """
    session = _Session()
    session.trust_env = False
    session.headers.clear()
    session.headers.update(headers(sender))
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    adapter = CheckedAdapter(rules, tls, opened, limit)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def location_of(headers: Mapping[str, str]) -> bytes:
    """Return the header Location as bytes; empty where there is none."""
    return headers.get("Location", "").encode("latin-1", "replace")


class BrokenOff(OSError):
    """The connection was aborted by another thread."""


class Opened:
    """The connections of a session, so that another thread can abort them for good.

    `check` raises where nothing may be sent any more; it is called directly before anything is sent.
    """

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        self.check = check
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._sockets: list[socket.socket] = []

    def add(self, made: socket.socket) -> None:
        """Add a new connection; after `break_off` close it and raise BrokenOff."""
        with self._lock:
            if self._ended.is_set():
                made.close()
                raise BrokenOff
            self._sockets.append(made.dup())  # TLS takes the first one over

    def pause(self, seconds: float) -> None:
        """Sleep. Raise BrokenOff at once after `break_off`."""
        if self._ended.wait(seconds):
            raise BrokenOff

    def break_off(self) -> None:
        """Abort all connections, end all pauses, and refuse new connections."""
        with self._lock:
            self._ended.set()
            for made in self._sockets:
                with suppress(OSError):
                    made.shutdown(socket.SHUT_RDWR)
                made.close()
            self._sockets.clear()


class Limit:
    """Until when the answers of a session may come; no other limit ends an answer that trickles."""

    def __init__(self, longest_seconds: float) -> None:
        self._longest_seconds = longest_seconds
        self._ends_at = float("inf")

    def begin(self, used_seconds: float = 0.0) -> None:
        """Start the time of one file, of which `used_seconds` have passed."""
        self._ends_at = time.monotonic() + self._longest_seconds - used_seconds

    def left(self) -> float:
        """Return the seconds left. Raise FileFailed where there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise took_too_long(self._longest_seconds)
        return left


class _Session(requests.Session):
    """A session that ignores redirects; who follows them checks each hop.

    requests reads Location even where redirects are off, and fails if it cannot.
    """

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None."""


class CheckedAdapter(HTTPAdapter):
    """An adapter of requests whose connections go to allowed addresses only."""

    def __init__(
        self,
        rules: Rules,
        tls: ssl.SSLContext,
        opened: "Opened | None",
        limit: "Limit | None" = None,
    ) -> None:
        """Build the connection classes of urllib3, which have no other way to get the rules."""
        self._tls = tls
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)

        class Answer(_Response):
            _limit = limit

        class Plain(_Checked, HTTPConnection):
            response_class = Answer
            _rules, _opened = rules, opened

        class Encrypted(_Checked, HTTPSConnection):
            response_class = Answer
            _rules, _opened = rules, opened

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = Encrypted

            def _validate_conn(self, conn: Any) -> None:
                """Connect without urllib3's warning about unverified certificates at each request."""
                if conn.is_closed:
                    conn.connect()

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Use the context that every engine uses, not the bundle of requests."""
        super().init_poolmanager(*args, ssl_context=self._tls, **kwargs)

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Verify against the context only; requests would add certifi's list."""
        verifies = self._tls.verify_mode != ssl.CERT_NONE
        conn.cert_reqs = "CERT_REQUIRED" if verifies else "CERT_NONE"


class _Response(http.client.HTTPResponse):
    """An answer that refuses chunks of negative sizes.

    urllib3 2.8 reads a chunk of -1 bytes into memory until the connection ends.
    """

    _limit: Limit | None = None

    def __init__(self, sock: socket.socket, *arguments: Any, **named: Any) -> None:
        """Read from a socket, until the limit where there is one."""
        super().__init__(sock, *arguments, **named)
        if self._limit is not None:
            raw = _Limited(sock, self._limit)
            self.fp.close()
            self.fp = io.BufferedReader(raw)

    def _safe_read(self, amt: int) -> bytes:
        if amt < 0:
            raise http.client.HTTPException(f"a chunk of {amt} bytes")
        read: bytes = super()._safe_read(amt)  # type: ignore[misc]
        return read


class _Limited(io.RawIOBase):
    """A stream from a socket that ends at a limit; the socket's timeout still holds for each piece."""

    def __init__(self, sock: socket.socket, limit: Limit) -> None:
        self._socket = sock
        self._limit = limit
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what is there. Raise FileFailed where the limit is reached."""
        left, piece = self._limit.left(), self._socket.gettimeout()
        if piece is None or left < piece:
            self._socket.settimeout(left)
        try:
            return self._raw.readinto(buffer)
        except TimeoutError:
            self._limit.left()
            raise

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Checked:
    """A mixin for urllib3 connections that checks each address before connecting."""

    _rules: Rules
    _opened: "Opened | None"

    def _new_conn(self: Any) -> socket.socket:
        """Resolve the name, and connect to the first allowed address that answers."""
        name = self._dns_host.strip("[]")
        try:
            addresses = allowed_addresses(name, self.port, self._rules)
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        reason = OSError("no address")
        for address in addresses:
            try:
                made = socket.socket(family_of(address), socket.SOCK_STREAM)
                self._connect(made, (address, self.port))
            except OSError as error:
                reason = error
            else:
                return made
        if isinstance(reason, TimeoutError):
            raise ConnectTimeoutError(self, f"no connection within {self.timeout} s") from reason
        raise NewConnectionError(self, str(reason)) from reason

    def _connect(self: Any, made: socket.socket, address: Any) -> None:
        try:
            for option in self.socket_options or ():
                made.setsockopt(*option)
            made.settimeout(self.timeout)
            if self._opened is not None:
                self._opened.check()
            made.connect(address)
            if self._opened is not None:
                self._opened.add(made)
        except BaseException:
            made.close()
            raise

    def send(self: Any, data: Any) -> None:
        """Send, after another check: this process may have been stopped for a while."""
        if self.sock is None and self.auto_open:
            self.connect()
        if self._opened is not None:
            self._opened.check()
        super().send(data)  # type: ignore[misc]
