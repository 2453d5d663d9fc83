"""Servers' bad manners, one a path: what each sends, and which class of failure that is.

Everything here asks for a file of 1000 bytes `x`. A class is "" where the file comes, and `time` where only the
end of the run's time ends it. Where the engines differ, there are two: of `asyncio`, and of `futures` (and `fetch`).
"""

import gzip
import select
import socket
from collections.abc import Callable, Iterator
from itertools import cycle, repeat

from campaigns.tests.kinds.programs.servers import asked

SIZE = 1000
GOOD = b"x" * SIZE
OK = b"HTTP/1.1 200 OK\r\n"
MEGABYTE = b"y" * 1_000_000
BOMB = gzip.compress(bytes(20_000_000), mtime=0)


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Write an answer whose length is right unless a header says otherwise; it is the last one."""
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if not any("-length:" in line.lower() or "-encoding: chunked" in line for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


def chunked(*chunks: bytes) -> bytes:
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(chunks)


SENT: dict[str, tuple[bytes | Callable[[], Iterator[bytes | float]], str | tuple[str, str]]] = {
    "good": (answer(GOOD), ""),
    # What never ends.
    "endless-headers": (lambda: endless(OK, b"X-Header: y\r\n" * 1000), "protocol"),
    "endless-header-line": (lambda: endless(OK + b"X-Header: ", MEGABYTE), "protocol"),
    "endless-header-name": (lambda: endless(OK, MEGABYTE), "protocol"),
    "endless-status-line": (lambda: endless(b"HTTP/1.1 200 ", MEGABYTE), "protocol"),
    "endless-nothing": (lambda: endless(b"", b"\r\n" * 10_000), ("time", "protocol")),
    "endless-folds": (lambda: endless(OK + b"X: y\r\n", b" y\r\n" * 10_000), "protocol"),
    "endless-body": (lambda: endless(OK + b"Connection: close\r\n\r\n", MEGABYTE), "size"),
    "endless-length": (lambda: endless(OK + b"Content-Length: 9" + b"0" * 17 + b"\r\n\r\n", MEGABYTE), "size"),
    "endless-chunks": (lambda: endless(chunked(), (b"3e8\r\n" + GOOD + b"\r\n") * 100), "size"),
    "endless-chunk-line": (lambda: endless(chunked(b"5;"), MEGABYTE), ("time", "protocol")),
    "endless-chunk-size": (lambda: endless(chunked(), b"0" * 1_000_000), ("time", "protocol")),
    "endless-trailer": (lambda: endless(chunked(b"3e8\r\n", GOOD, b"\r\n0\r\nX: "), MEGABYTE), "protocol"),
    "endless-late-trailer": (lambda: late_trailer(), "protocol"),
    # What lies about its length.
    "chunk-of-2-63": (lambda: endless(chunked(b"8000000000000000\r\n"), MEGABYTE), "size"),
    "chunk-of-2-64": (lambda: endless(chunked(b"10000000000000000\r\n"), MEGABYTE), ("protocol", "size")),
    "chunk-of-minus-1": (lambda: endless(chunked(b"-1\r\n"), MEGABYTE), "protocol"),
    "chunk-of-minus-5": (lambda: endless(chunked(b"-5\r\n"), MEGABYTE), "protocol"),
    "chunk-of-nonsense": (chunked(b"zz\r\n", b"x" * 2000), "protocol"),
    "chunk-cut-off": (chunked(b"3e8\r\n", b"x" * 10), "connect"),
    "length-negative": (answer(GOOD, "Content-Length: -1"), "protocol"),
    "length-of-23-digits": (answer(GOOD, "Content-Length: " + "1" * 23), "protocol"),
    "length-2-63": (answer(b"x" * 2000, f"Content-Length: {2**63}"), "protocol"),
    "length-no-number": (answer(GOOD, "Content-Length: many"), "protocol"),
    "length-twice": (answer(GOOD, "Content-Length: 1000", "Content-Length: 1000"), ("protocol", "")),
    "length-contradicting": (answer(GOOD, "Content-Length: 1000", "Content-Length: 5"), "protocol"),
    "length-and-chunked": (answer(b"3e8\r\n" + GOOD + b"\r\n0\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked"), ("protocol", "")),
    "length-too-long": (answer(b"x" * 500, "Content-Length: 1000"), "connect"),
    "body-too-short": (answer(b"x" * 500), "size"),
    "body-too-long": (answer(b"x" * 1001), "size"),
    "body-after-the-end": (answer(GOOD, "Content-Length: 5"), ("protocol", "size")),
    # What is something else.
    "gzip-bomb": (answer(BOMB, "Content-Encoding: gzip"), "size"),
    "gzip-bomb-of-the-size": (answer(BOMB[:SIZE], "Content-Encoding: gzip"), "digest"),
    "wrong-byte": (answer(GOOD[:-1] + b"y"), "digest"),
    "html": (answer(b"<!doctype html><title>Sign in</title>", "Content-Type: text/html"), "size"),
    "garbage": (bytes(range(256)) * 40, "protocol"),
    "http-0.9": (GOOD, "protocol"),
    "http-2": (b"HTTP/2 200\r\n\r\n" + GOOD, "protocol"),
    "status-999": (answer(GOOD, status="999 Odd"), "protocol"),
    "status-of-four-digits": (answer(GOOD, status="2000 OK"), "protocol"),
    "nul-in-header": (answer(GOOD, "X: a\0b"), ("protocol", "")),
    "no-content-with-body": (answer(GOOD, status="204 No Content"), "protocol"),
    "partial": (answer(GOOD, status="206 Partial Content"), "protocol"),
    "not-modified-with-body": (answer(GOOD, status="304 Not Modified"), "protocol"),
    "switching": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + GOOD, "protocol"),
    "early-hints": (b"HTTP/1.1 100 Continue\r\n\r\n" * 50 + answer(GOOD), ""),
    "storm-of-100": (lambda: endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000), "time"),
    "storm-of-103": (lambda: endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" * 1000), ("time", "protocol")),
    # What is slow.
    "slow-head": (lambda: slowly(OK + b"X-Header: " + b"y" * 10_000), "time"),
    "slow-body": (lambda: slowly(OK + b"Content-Length: 1000\r\n\r\n" + GOOD), "time"),
    "slow-100s": (lambda: cycle((b"HTTP/1.1 100 Continue\r\n\r\n", 0.1)), "time"),
    "silent": (lambda: iter([60.0]), "timeout"),
}  # fmt: skip


OTHERWISE: dict[str, dict[str, str]] = {
    "curl": {
        "endless-chunk-line": "time",
        "storm-of-100": "protocol",
        **dict.fromkeys(("chunk-of-2-63", "chunk-of-2-64"), "protocol"),
        "nul-in-header": "protocol",
    },
}
"""What differs from the class of `futures`."""


def expected(engine: str) -> dict[str, str]:
    """Give the class of failure of each path."""
    of = 0 if engine == "asyncio" else 1
    return {
        name: failure if isinstance(failure, str) else failure[of]
        for name, (_, failure) in SENT.items()
    } | OTHERWISE.get(engine, {})


def endless(first: bytes, again: bytes) -> Iterator[bytes | float]:
    yield first
    yield from repeat(again)


def late_trailer() -> Iterator[bytes | float]:
    """A body that is read before its trailer begins."""
    yield chunked(b"3e8\r\n", GOOD, b"\r\n0\r\n")
    yield 0.3
    yield from endless(b"X: ", MEGABYTE)


def slowly(whole: bytes, pause_seconds: float = 0.1) -> Iterator[bytes | float]:
    """A byte, a pause, a byte ..."""
    for byte in whole:
        yield bytes([byte])
        yield pause_seconds


class Server:
    """Answers each path as SENT says, and counts what it could get rid of, in bytes."""

    def __init__(self) -> None:
        self.sent: dict[str, int] = {}

    def __call__(self, connection: socket.socket) -> None:
        if name := asked(connection):
            self.answer(connection, name)

    def answer(self, connection: socket.socket, name: str) -> None:
        """Send what belongs to a path, until it ends or the client does."""
        what = SENT[name][0]
        for piece in (what,) if isinstance(what, bytes) else what():
            if isinstance(piece, float):
                if select.select([connection], [], [], piece)[0]:
                    return
            else:
                connection.sendall(piece)
                self.sent[name] = self.sent.get(name, 0) + len(piece)
