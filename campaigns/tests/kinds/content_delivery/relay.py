"""A relay that writes down each request on its way to a server: by connection, in order, as it was sent."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Recording:
    """What passed. port: of the relay. Requests: connection (from 1, as they were opened), method, path, headers in order."""

    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    closed: list[tuple[int, int]] = field(default_factory=list)
    """Connections that the client closed, with the number of requests that had passed then."""

    def add(self, connection: int, head: bytes) -> None:
        """Write a request down."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = [line.split(": ", 1) for line in lines if line]
        self.requests.append(
            {"connection": connection, "method": method, "path": path, "headers": headers}
        )


@contextmanager
def recording(host: str, port: int) -> Iterator[Recording]:
    """Relay to a server until the block is left."""
    found, stopped = Recording(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found.port = listening.getsockname()[1]
        thread = threading.Thread(target=_accept, args=(listening, (host, port), found, stopped))
        thread.start()
        yield found
        stopped.set()
        with suppress(OSError), socket.create_connection(("127.0.0.1", found.port)):
            pass
        thread.join()


def _accept(
    listening: socket.socket, to: tuple[str, int], found: Recording, stopped: threading.Event
) -> None:
    number = 0
    while True:
        connection, _ = listening.accept()
        if stopped.is_set():
            connection.close()
            return
        number += 1
        threading.Thread(target=_relay, args=(connection, to, number, found), daemon=True).start()


def _relay(client: socket.socket, to: tuple[str, int], number: int, found: Recording) -> None:
    with client, socket.create_connection(to) as server:
        back = threading.Thread(target=_answers, args=(server, client), daemon=True)
        back.start()
        head = b""
        with suppress(OSError):
            while data := client.recv(65536):
                head += data
                while b"\r\n\r\n" in head:
                    whole, head = head.split(b"\r\n\r\n", 1)
                    found.add(number, whole)
                server.sendall(data)
        found.closed.append((number, len(found.requests)))
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        back.join()


def _answers(server: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := server.recv(262144):
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)
