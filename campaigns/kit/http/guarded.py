"""HTTP to where the rules allow, with the library requests. No Django.

The name of a server is resolved once a connection, each address is checked against the rules, and the
connection goes to an address that was checked. A request follows no redirects, has one limit of time
and of bytes, and can be broken off by another thread.
"""

import http.client
import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Container, Mapping
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
"""What the exceptions of requests and of what it stands on mean, most telling first."""

EXPECTED = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError)
"""All that a request raises when something outside is wrong: Refused and what cannot be decoded
are ValueErrors. Anything else is a bug."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whatever its status. `cookies`: each header Set-Cookie.

    `headers` are found in capital and small letters. `seconds`: from the request to the end of the body. `ends`: whether the server closes the connection
    with it.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    cookies: tuple[str, ...]
    body: bytes
    seconds: float
    ends: bool


class TooLate(FileFailed):
    """The time for a whole request is over."""

    def __init__(self, seconds: float) -> None:
        """Tell how much time there was."""
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

    `check` ends it by what it raises; it is called all the while. Raise Refused or BadUrl for a URL
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
    **named: Any,
) -> Answer:
    """Send one request, and read its answer to the end. Redirects are not followed.

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
            for chunk in response.raw.stream(CHUNK_BYTES, decode_content=False):
                body += chunk
                if len(body) > most_bytes:
                    raise FileFailed("size", f"more than {most_bytes} bytes")
        said = response.headers.get("Connection", "").lower()
        return Answer(
            url,
            int(response.status_code),
            response.headers,
            tuple(response.raw.headers.getlist("Set-Cookie")),
            bytes(body),
            time.perf_counter() - started,
            "close" in said or (response.raw.version == 10 and "keep-alive" not in said),
        )


def watched(work: Callable[[], Result], check: Callable[[], None], seconds: float) -> Result:
    """Do the work in a thread, and return its result. Raise TooLate, or what `check` or the work raises.

    The thread is left behind then; whoever called breaks off its connections.
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
    """Return what trusts the usual certificates; nobody's, and 50 ms sooner, where no TLS is asked."""
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

    `opened` collects the connections, for somebody who wants to break them off. `limit` says until
    when answers may come.
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
    """Return the header Location as it was sent; empty where there is none."""
    return headers.get("Location", "").encode("latin-1", "replace")


class BrokenOff(OSError):
    """Somebody wanted no more of it."""


class Opened:
    """The connections of a session, so that another thread can break them off for good.

    `check` raises where nothing may be sent any more; it is asked last before anything is.
    """

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        self.check = check
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._sockets: list[socket.socket] = []

    def add(self, made: socket.socket) -> None:
        """Take a new connection. Close it and raise BrokenOff where none may be made any more."""
        with self._lock:
            if self._ended.is_set():
                made.close()
                raise BrokenOff
            self._sockets.append(made.dup())  # TLS takes the first one over

    def pause(self, seconds: float) -> None:
        """Sleep. Raise BrokenOff, at once, where nothing may be done any more."""
        if self._ended.wait(seconds):
            raise BrokenOff

    def break_off(self) -> None:
        """Wake whoever waits for a connection, and let nobody make one."""
        with self._lock:
            self._ended.set()
            for made in self._sockets:
                with suppress(OSError):
                    made.shutdown(socket.SHUT_RDWR)
                made.close()
            self._sockets.clear()


class Limit:
    """Until when the answers of a session may come; an answer that trickles meets no other limit."""

    def __init__(self, longest_seconds: float) -> None:
        self._longest_seconds = longest_seconds
        self._ends_at = float("inf")

    def begin(self, used_seconds: float = 0.0) -> None:
        """Let the time run that one file may take, `used_seconds` of it already gone."""
        self._ends_at = time.monotonic() + self._longest_seconds - used_seconds

    def left(self) -> float:
        """Return the seconds left. Raise FileFailed where there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise took_too_long(self._longest_seconds)
        return left


class _Session(requests.Session):
    """A session that leaves redirects alone.

    The one of requests reads Location even where redirects are off, and fails if it cannot.
    """

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Say that there is none: whoever follows checks each hop."""


class CheckedAdapter(HTTPAdapter):
    """Connections of `requests` under the rules."""

    def __init__(
        self,
        rules: Rules,
        tls: ssl.SSLContext,
        opened: "Opened | None",
        limit: "Limit | None" = None,
    ) -> None:
        """Build the classes that urllib3 makes its connections with."""
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
                """Connect; who trusts everybody was warned before, and is not at each request."""
                if conn.is_closed:
                    conn.connect()

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Give urllib3 the context that every engine uses, not a bundle of its own."""
        super().init_poolmanager(*args, ssl_context=self._tls, **kwargs)

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Verify against what the context trusts; requests would add certifi's list."""
        verifies = self._tls.verify_mode != ssl.CERT_NONE
        conn.cert_reqs = "CERT_REQUIRED" if verifies else "CERT_NONE"


class _Response(http.client.HTTPResponse):
    """An answer whose chunks have sizes of 0 or more.

    urllib3 2.8 reads a chunk of -1 bytes until the connection ends, into memory.
    """

    _limit: Limit | None = None

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        """Read the answer from a socket, until the limit where there is one."""
        super().__init__(sock, *given, **named)
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
    """What comes on a socket, until a limit; the socket's own timeout goes on to hold for each piece."""

    def __init__(self, sock: socket.socket, limit: Limit) -> None:
        self._socket = sock
        self._limit = limit
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what has come. Raise FileFailed where the limit is reached."""
        left, piece = self._limit.left(), self._socket.gettimeout()
        if piece is None or left < piece:
            self._socket.settimeout(left)
        try:
            return self._raw.readinto(buffer)
        except TimeoutError:
            self._limit.left()
            raise

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()


class _Checked:
    """Makes a urllib3 connection look at each address before it connects."""

    _rules: Rules
    _opened: "Opened | None"

    def _new_conn(self: Any) -> socket.socket:
        """Resolve the name, and connect to the first allowed address that answers."""
        name = self._dns_host.strip("[]")
        try:
            found = socket.getaddrinfo(name, self.port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        reason = OSError("no address")
        for family, kind, protocol, _, address in self._rules.allowed_of(
            found, self.port, name, lambda entry: str(entry[4][0])
        ):
            try:
                made = socket.socket(family, kind, protocol)
                self._connect(made, address)
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
        """Send, unless that is forbidden since: this process may have been stopped meanwhile."""
        if self.sock is None and self.auto_open:
            self.connect()
        if self._opened is not None:
            self._opened.check()
        super().send(data)  # type: ignore[misc]
