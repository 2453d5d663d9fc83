"""Receives requests from Granian, and hands each to a thread only once its body is there.

The web server has few threads. Headers and bodies are waited for on the event loop, so that senders which are slow, however
many, keep no thread. A body has a deadline. One whose length is not announced (`Transfer-Encoding: chunked`) is read like
any other.

Granian speaks RSGI, its own protocol, with a Receiver, and that speaks WSGI (PEP 3333) with the application.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any

SECONDS = 20.0
"""How long a body may take that is small, or does not arrive."""
SLOWEST_BYTES_A_SECOND = 20_000
"""A body that arrives faster has as much time as it needs."""
IN_MEMORY = 64 * 1024
"""Larger bodies are kept in files."""
MOST_BODIES = 1000
MOST_BYTES = 450_000_000
"""Of all bodies that are received or worked on at a time: two of the largest that an address takes."""
STALLED_SECONDS = 60.0
"""How long a piece of an answer may wait for its receiver."""

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

log = logging.getLogger(__name__)


class Refused(Exception):
    """A request that no thread is to see, with the status and the sentence of its answer."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(slots=True)
class _Started:
    """What an application has begun to answer."""

    status: int = 500
    headers: Headers = field(default_factory=list)

    def __call__(self, status: str, headers: Headers, exc_info: Any = None) -> None:
        self.status, self.headers = int(status.split(" ", 1)[0]), headers


class Receiver:
    """An application of Granian that runs one of WSGI in threads.

    most: returns how many bytes a body sent to a path may have. What is longer is left unread: the application refuses it by
    its length. seconds: see SECONDS.
    """

    def __init__(
        self,
        application: Application,
        *,
        threads: int,
        most: Callable[[str], int],
        seconds: float = SECONDS,
    ) -> None:
        self._application, self._most, self._seconds = application, most, seconds
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="web")
        self._bodies = self._bytes = 0

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Answer one request."""
        environ = environ_of(scope)
        if "CONTENT_LENGTH" not in environ and "HTTP_TRANSFER_ENCODING" not in environ:
            await self._answer(environ, protocol)
            return
        with SpooledTemporaryFile(IN_MEMORY) as body:
            held = 0
            self._bodies += 1
            try:
                self._require_room()
                limit = self._most(environ["PATH_INFO"])
                if int(environ.get("CONTENT_LENGTH", 0)) <= limit:
                    async for piece in self._pieces(protocol):
                        held += len(piece)
                        self._bytes += len(piece)
                        self._require_room()
                        _keep(body, piece)
                        if held > limit:
                            break
                    _complete(environ, body, held)
                await self._answer(environ, protocol)
            except Refused as refused:
                _refuse(environ, protocol, refused)
            finally:
                self._bodies -= 1
                self._bytes -= held

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for what is still answered."""
        self._threads.shutdown()

    def _require_room(self) -> None:
        """Raise Refused where more is held than there is room for."""
        if self._bodies > MOST_BODIES or self._bytes > MOST_BYTES:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "Too much is sent at this moment. Try again later."
            )

    async def _pieces(self, protocol: Any) -> AsyncIterator[bytes]:
        """Yield a body as it arrives. Raise Refused where it is too slow, or ends early."""
        pieces, size = aiter(protocol), 0
        begun = asyncio.get_running_loop().time()
        while True:
            try:
                async with asyncio.timeout_at(
                    begun + self._seconds + size / SLOWEST_BYTES_A_SECOND
                ):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Refused(
                    HTTPStatus.REQUEST_TIMEOUT,
                    "The body did not arrive in time. Nothing was changed.",
                ) from None
            size += len(piece)
            yield piece

    async def _answer(self, environ: Environ, protocol: Any) -> None:
        """Run the application in a thread, and send what it answers."""
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._threads, self._run, environ, protocol, loop)
        if answer is not None:
            protocol.response_bytes(*answer)

    def _run(
        self, environ: Environ, protocol: Any, loop: asyncio.AbstractEventLoop
    ) -> tuple[int, Headers, bytes] | None:
        """Return the whole answer; None where it was sent piece by piece."""
        started = _Started()
        try:
            result = self._application(environ, started)
            try:
                if not getattr(result, "streaming", False):
                    return started.status, started.headers, b"".join(result)
                _stream(result, started, protocol, loop)
                return None
            finally:
                if hasattr(result, "close"):
                    result.close()
        except Exception:  # the last one who can answer
            log.exception("The application failed")
            return 500, [("content-type", "text/plain")], b"Internal error in perfdash."


def _stream(
    pieces: Iterable[bytes], started: _Started, protocol: Any, loop: asyncio.AbstractEventLoop
) -> None:
    """Send an answer piece by piece, each when the one before has been taken. Without its receiver it ends."""

    async def begin() -> Any:
        return protocol.response_stream(started.status, started.headers)

    async def send(transport: Any, piece: bytes) -> None:
        async with asyncio.timeout(STALLED_SECONDS):
            await transport.send_bytes(piece)

    transport = asyncio.run_coroutine_threadsafe(begin(), loop).result()
    for piece in pieces:
        try:
            asyncio.run_coroutine_threadsafe(send(transport, piece), loop).result()
        except (RuntimeError, TimeoutError):
            return


def _keep(body: IO[bytes], piece: bytes) -> None:
    """Raise Refused where the disk has no room for it."""
    try:
        body.write(piece)
    except OSError as error:
        log.error("A body cannot be kept: %s", error.strerror)  # noqa: TRY400  its reason is all there is
        raise Refused(HTTPStatus.INSUFFICIENT_STORAGE, "There is no room for the body.") from None


def _complete(environ: Environ, body: IO[bytes], size: int) -> None:
    """Give a body that is there to the application, with its length. Raise Refused where it ended early."""
    if size < int(environ.get("CONTENT_LENGTH", 0)):
        raise Refused(HTTPStatus.BAD_REQUEST, "The body ended early. Nothing was changed.")
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ["CONTENT_LENGTH"] = str(size)
    body.seek(0)
    environ["wsgi.input"] = body


def _refuse(environ: Environ, protocol: Any, refused: Refused) -> None:
    kind, text = "text/plain", str(refused)
    if environ["PATH_INFO"].startswith("/api/"):
        problem = {"type": "about:blank", "title": refused.status.phrase, "status": refused.status}
        kind, text = "application/problem+json", json.dumps(problem | {"detail": text})
    log.info("%s refused: %s", environ["REQUEST_METHOD"], refused)
    headers = [("content-type", kind), ("connection", "close"), ("cache-control", "no-store")]
    protocol.response_str(int(refused.status), headers, text)


def environ_of(scope: Any) -> Environ:
    """Return a request of RSGI as one of WSGI, without its body.

    A header whose name has “_” is left out: it would be taken for one with “-”, which a proxy may have checked.
    """
    host, _, port = scope.server.rpartition(":")
    environ: Environ = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        if "_" in name:
            continue
        key = name.upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        between = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{between}{value}" if key in environ else value
    return environ
