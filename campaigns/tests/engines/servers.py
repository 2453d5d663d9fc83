"""Small servers of bad manners, for what the sandbox does not do."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
                with connection:
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
