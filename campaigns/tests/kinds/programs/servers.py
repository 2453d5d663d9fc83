"""Small servers of bad manners, for what the sandbox does not do."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def server(asked: list[str] | None = None, **answers: bytes) -> Iterator[str]:
    """Answer `GET /name` with the bytes given for that name, note it, and close the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(ConnectionError):  # a client may want no more
                    name = connection.recv(65536).split()[1].decode().removeprefix("/")
                    if asked is not None:
                        asked.append(name)
                    connection.sendall(answers.get(name, answers.get("any", b"")))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/PULP_MANIFEST"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextmanager
def behaving(
    handle: Callable[[socket.socket], None], host: str = "127.0.0.1", port: int = 0
) -> Iterator[tuple[str, list[float]]]:
    """Give each connection to `handle`, in a thread of its own, and break it off at the end.

    Gives `host:port`, and the instants at which connections were accepted.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    accepted: list[float] = []
    threads: list[threading.Thread] = []
    everyone: list[socket.socket] = []

    def one(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            handle(connection)

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                accepted.append(time.monotonic())
                everyone.append(connection)
                threads.append(threading.Thread(target=one, args=(connection,)))
                threads[-1].start()

    with socket.create_server((host, port), family=family, backlog=128) as listening:
        threads.append(threading.Thread(target=serve, args=(listening,)))
        threads[0].start()
        port = listening.getsockname()[1]
        try:
            yield (f"[{host}]:{port}" if ":" in host else f"{host}:{port}"), accepted
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            threads[0].join()
            for connection in everyone:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def asked(connection: socket.socket) -> str:
    """Read the head of one request, and give its path without the slash; empty at the end."""
    head = asked_head(connection)
    return head.split()[1].decode().removeprefix("/") if head else ""


def asked_head(connection: socket.socket) -> bytes:
    """Read the head of one request; empty at the end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        if not (data := connection.recv(65536)):
            return b""
        head += data
    return head
