"""A server of another make: PostgreSQL's protocol before a PostgreSQL, without what CockroachDB does not have.

CockroachDB itself cannot be had under an open licence. What it answers to statements that it does not know is told by its
documentation, as SQLSTATEs, and a PostgreSQL gives the same for names that it does not know: so these are put into the statements.
"""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from campaigns.tests.kinds.sql.servers import Database

VERSION = "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)"
UNKNOWN = (
    (rb"\bVACUUM\b", b"no_vacuum"),  # 42601
    (rb"\bCHECKPOINT\b", b"no_checkpoint"),  # 42601
    (rb"\b(pg_stat_reset|inet_server_addr|pg_terminate_backend|pg_database_size)\b", rb"no_\1"),  # 42883
    (rb"\bpg_stat_ssl\b", b"no_pg_stat_ssl"),  # 42P01
    (rb"\bSHOW (\w+)", rb"SHOW no.\1"),  # 42704
    (rb"\bFROM (pg_stat_activity|pg_stat_database)\b", rb"FROM (TABLE \1 LIMIT 0) AS \1"),
    (rb"\bSELECT version\(\)", b"SELECT '" + VERSION.encode() + b"'"),
)  # fmt: skip
ENCRYPTION = (80877103, 80877104)
"""The codes by which a client asks for TLS and GSSAPI."""


@contextmanager
def server(behind: Database) -> Iterator[int]:
    """Listen before a database. Return the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    threading.Thread(target=_serve, args=(client, behind.port), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def _serve(client: socket.socket, port: int) -> None:
    with (
        suppress(OSError, EOFError),
        client,
        socket.create_connection(("127.0.0.1", port)) as server,
    ):
        while True:
            start = _exactly(client, 8)
            if int.from_bytes(start[4:]) not in ENCRYPTION:
                break
            client.sendall(b"N")
        server.sendall(start + _exactly(client, int.from_bytes(start[:4]) - 8))
        threading.Thread(target=_pass_on, args=(server, client), daemon=True).start()
        while True:
            kind, size = _exactly(client, 1), int.from_bytes(_exactly(client, 4)) - 4
            body = _exactly(client, size)
            if kind in (b"Q", b"P"):
                for pattern, other in UNKNOWN:
                    body = re.sub(pattern, other, body)
            server.sendall(kind + (len(body) + 4).to_bytes(4) + body)


def _exactly(client: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        piece = client.recv(size - len(found))
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


def _pass_on(server: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := server.recv(65536):
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)
