"""A server that misbehaves as its path says, each connection in a thread of its own."""

import select
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat

from campaigns.tests.kinds.programs.servers import asked_head, behaving

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n6;note=x\r\n world\r\n0\r\nTrailer: yes\r\n\r\n"
)
ANSWERS = {
    "ok": OK,
    "chunked": CHUNKED,
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,
    "empty": b"HTTP/1.1 204 No Content\r\n\r\n",
    "unchanged": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "moved": b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n",
    "html": b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<h1>No!</h1>\n",
    "unavailable": b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
    "limited": b"HTTP/1.1 429 Slow down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
    "forbidden": b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
    "login": b"HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n",
    "missing": b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
    "twice": OK + OK,
    "garbage": b"\x16\x03\x01 this is no HTTP\r\n\r\n",
    "upgrade": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "length-of-23-digits": OK.replace(b": 2\r", b": " + b"1" * 23 + b"\r"),
    "endless-head": b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"x" * 100_000,
}
ENDING = {
    "close": OK.replace(b"Content-Type", b"Connection: close\r\nContent-Type"),
    "until-close": b"HTTP/1.1 200 OK\r\n\r\nall that there is",
    "old": b"HTTP/1.0 200 OK\r\n\r\nall that there was",
    "half": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    "half-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    "half-head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "nothing": b"",
}


def misbehave(connection: socket.socket) -> None:
    """Answer each request as its path asks for; see ANSWERS, ENDING, and here."""
    while head := asked_head(connection):
        path = head.split()[1].decode().removeprefix("/")
        name, _, argument = path.partition("/")
        match name:
            case "reset" | "reset-half":
                if name == "reset-half":
                    connection.sendall(ENDING["half"])
                    time.sleep(0.05)  # it is on its way before the reset overtakes it
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            case "slow":
                time.sleep(float(argument))
                connection.sendall(OK)
            case "slow-body":
                connection.sendall(OK[:-1])
                time.sleep(float(argument))
                connection.sendall(OK[-1:])
            case "trickle":
                slowly(connection, [OK[place : place + 1] for place in range(len(OK))])
            case "continues":
                slowly(connection, repeat(b"HTTP/1.1 100 Continue\r\n\r\n"))
            case "bytewise":
                for place in range(len(CHUNKED)):
                    connection.sendall(CHUNKED[place : place + 1])
            case "large":
                size = int(argument)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
                connection.sendall(b"x" * size)
            case _ if name in ENDING:
                connection.sendall(ENDING[name])
                return
            case _:
                connection.sendall(ANSWERS[name])


def slowly(connection: socket.socket, pieces: Iterable[bytes]) -> None:
    """Send piece after piece, until the client has enough of it."""
    for piece in pieces:
        connection.sendall(piece)
        if select.select([connection], [], [], 0.05)[0]:
            return


@contextmanager
def misbehaving() -> Iterator[str]:
    """Give `host:port` of a server that misbehaves as it is asked to."""
    with behaving(misbehave) as (place, _):
        yield place


def get(path: str) -> bytes:
    """Give the bytes of a request."""
    return f"GET /{path} HTTP/1.1\r\nHost: there\r\n\r\n".encode()
