"""Bounds for connections to a PostgreSQL that anybody may have set up: libpq waits for ever, and takes whatever comes. No Django.

What comes is counted by the kernel (TCP_INFO of tcp(7)), since libpq has no limit of its own.
"""

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

LOOK_SECONDS = 0.05
MOST_BYTES = 32 * 2**20
"""Of all that a server sends while it is bounded; what perfdash asks for is a hundredth of that."""
RECEIVED_AT = 128
"""Where struct tcp_info has tcpi_bytes_received, since Linux 4.1."""


@contextmanager
def bounded(connection: psycopg.Connection[Any], gives_up: Callable[[], bool]) -> Iterator[None]:
    """Cut the connection as soon as `gives_up` says so, or the server has sent too much. It is asked in another thread."""
    copy = socket.socket(fileno=os.dup(connection.fileno()))
    over, before = threading.Event(), _received(copy)

    def look() -> None:
        while not over.wait(LOOK_SECONDS):
            if gives_up() or _received(copy) - before > MOST_BYTES:
                with suppress(OSError):
                    copy.shutdown(socket.SHUT_RDWR)
                return

    thread = threading.Thread(target=look, name="sql", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        copy.close()


def _received(connection: socket.socket) -> int:
    """Return the bytes that a connection has received; 0 where the kernel does not tell."""
    with suppress(OSError, struct.error):
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, RECEIVED_AT + 8)
        return int(struct.unpack_from("Q", told, RECEIVED_AT)[0])
    return 0
