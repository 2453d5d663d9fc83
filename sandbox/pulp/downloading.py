"""Downloads as in pulpcore: in parallel, retried, checked; from this machine only, and discarded."""

import asyncio
import errno
import hashlib
import random
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from sandbox.pulp.tasks import TaskFailed

CONCURRENCY = 10  # where the remote says nothing
_RETRIES = 3
_TIMEOUTS = {"total": 300.0, "sock_connect": 30.0, "sock_read": None, "connect": None}
_PIECE = 1 << 20
_MOST_TEXT = 1 << 28


@dataclass(frozen=True, slots=True)
class Received:
    """The result of a download. `body` is empty unless it was requested."""

    url: str
    size: int
    digest: str
    body: bytes


class _Throttle:
    """So many starts within any second."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._starts: deque[float] = deque(maxlen=rate)
        self._lock = asyncio.Lock()

    async def wait(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._lock:
            if len(self._starts) == self._rate:
                await asyncio.sleep(max(0.0, self._starts[0] + 1 - loop.time()))
            self._starts.append(loop.time())


def local_socket(address: tuple[Any, ...]) -> socket.socket:
    """Make a socket to connect to an address of this machine. Raise OSError for any other."""
    family, kind, protocol, _, place = address
    if not is_of_this_machine(family, place[0]):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")
    return socket.socket(family, kind, protocol)


def is_of_this_machine(family: int, host: str) -> bool:
    """Return whether an address is of this machine: a container has one of its own, by which others name its feeds."""
    address = ip_address(host)
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return address.is_loopback
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        try:
            tried.bind((host, 0))
        except OSError:
            return False
    return True


def _tls(remote: Mapping[str, Any]) -> ssl.SSLContext | bool:
    """Give what Pulp connects by: its own CA and client certificate, where the remote has them."""
    verify = bool(remote.get("tls_validation", True))
    authority, certificate, key = (remote.get(n) for n in ("ca_cert", "client_cert", "client_key"))
    if not (authority or (certificate and key)):
        return verify
    context = ssl.create_default_context(cadata=authority or None)
    if certificate and key:
        with NamedTemporaryFile("w") as chain:  # 0600; OpenSSL reads files alone
            chain.write(f"{certificate}\n{key}\n")
            chain.flush()
            context.load_cert_chain(chain.name)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Downloader:
    """Downloads of one remote; an asynchronous context."""

    def __init__(
        self,
        remote: Mapping[str, Any],
        retry_seconds: float,
        work: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """work: what each file takes besides, while it is one of those that are downloaded at once."""
        timeouts: dict[str, Any] = {
            name: remote.get(field) or default
            for (name, default), field in zip(
                _TIMEOUTS.items(),
                ("total_timeout", "sock_connect_timeout", "sock_read_timeout", "connect_timeout"),
                strict=True,
            )
        }
        headers = {"User-Agent": "simulated-pulp/1"}
        for more in remote.get("headers") or []:
            headers |= more
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=_tls(remote), socket_factory=local_socket),
            timeout=aiohttp.ClientTimeout(**timeouts),
            headers=headers,
            requote_redirect_url=False,
        )
        user = remote.get("username")
        self._auth = aiohttp.BasicAuth(user, remote.get("password") or "") if user else None
        self._slots = asyncio.Semaphore(remote.get("download_concurrency") or CONCURRENCY)
        rate = remote.get("rate_limit")
        self._throttle = _Throttle(rate) if rate and rate > 0 else None
        self._retries = remote.get("max_retries") or _RETRIES
        self._retry_seconds = retry_seconds
        self._work = work

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        await self._session.close()

    async def get(
        self, url: str, digest: str = "", size: int = 0, *, keep: bool = False
    ) -> Received:
        """Download, and check digest and size if there are any. Raise TaskFailed with Pulp's message."""
        if urlsplit(url).scheme.lower() not in ("http", "https"):
            raise TaskFailed(f"URL: {url} not supported.")
        async with self._slots:  # also while it waits to try again
            for attempt in range(self._retries + 1):
                try:
                    return await self._try(url, digest, size, keep=keep)
                except (aiohttp.ClientError, TimeoutError, TaskFailed, OSError) as error:
                    if attempt == self._retries or not _may_pass(error):
                        raise _failure(error, url) from None
                    longest = self._retry_seconds * 2**attempt
                    await asyncio.sleep(random.uniform(0, longest))
        raise AssertionError("the last try gives or raises")

    async def _try(self, url: str, digest: str, size: int, *, keep: bool) -> Received:
        if self._throttle:
            await self._throttle.wait()
        read, summed, pieces = 0, hashlib.sha256(), []
        async with self._session.get(url, auth=self._auth) as answer:
            answer.raise_for_status()
            while piece := await answer.content.read(_PIECE):
                read += len(piece)
                summed.update(piece)
                if keep:
                    pieces.append(piece)
                    if read > _MOST_TEXT:
                        raise TaskFailed(f"The simulator reads no metadata of over {_MOST_TEXT} B.")
        if self._work and not keep:
            await self._work()
        actual = summed.hexdigest()
        if digest and actual != digest:
            raise _invalid("PLP0003", "checksum", url, digest, actual)
        if size and read != size:
            raise _invalid("PLP0004", "size", url, size, read)
        return Received(url, read, actual, b"".join(pieces))


def _invalid(code: str, what: str, url: str, expected: object, actual: object) -> TaskFailed:
    return TaskFailed(
        f"[{code}] A file located at the url {url} failed validation due to {what}."
        f" Expected '{expected}', Actual '{actual}'",
        code,
    )


def _may_pass(error: Exception) -> bool:
    if isinstance(error, aiohttp.ClientResponseError):
        return error.status >= 500 or error.status == 429
    if isinstance(error, TaskFailed):
        return error.error_code is not None
    return not isinstance(error, aiohttp.InvalidURL)


def _failure(error: Exception, url: str) -> TaskFailed:
    if isinstance(error, TaskFailed):
        return error
    if isinstance(error, TimeoutError):
        return TaskFailed(
            f"[PLP0005] Request timed out for {url}."
            " Increasing the total_timeout value on the remote might help.",
            "PLP0005",
        )
    if isinstance(error, aiohttp.ClientConnectorError) and error.errno == errno.ECONNREFUSED:
        address = urlsplit(url)  # in asyncio's words, whichever loop runs
        port = address.port or (443 if address.scheme == "https" else 80)
        return TaskFailed(
            f"Cannot connect to host {address.hostname}:{port} ssl:default"
            f" [Connect call failed ('{address.hostname}', {port})]"
        )
    return TaskFailed(str(error))
