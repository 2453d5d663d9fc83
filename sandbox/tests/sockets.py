"""A client that sees every byte: a raw socket, with as little HTTP as the tests need."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 10.0


@contextmanager
def connected(base_url: str, receive_buffer: int = 0) -> Iterator[socket.socket]:
    address = urlsplit(base_url)
    with socket.socket() as client:
        client.settimeout(TIMEOUT_SECONDS)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.connect((address.hostname, address.port))
        yield client


def request(url: str, method: str = "GET", *headers: str) -> bytes:
    lines = [f"{method} {urlsplit(url).path} HTTP/1.1", "Host: sandbox", *headers, "", ""]
    return "\r\n".join(lines).encode()


def read_to_the_end(client: socket.socket) -> bytes:
    received = bytearray()
    while piece := client.recv(1 << 20):
        received += piece
    return bytes(received)


def read_until_reset(client: socket.socket) -> tuple[bytes, bool]:
    """What came, and whether a reset ended it."""
    received = bytearray()
    try:
        while piece := client.recv(1 << 20):
            received += piece
    except ConnectionResetError:
        return bytes(received), True
    return bytes(received), False


def read_body(client: socket.socket, count: int) -> bytes:
    """A head, and at least so many bytes of the body."""
    received = bytearray()
    while b"\r\n\r\n" not in received or len(received) - received.index(b"\r\n\r\n") < count + 4:
        received += client.recv(1 << 20)
    return bytes(received)


def bodies(received: bytes) -> list[tuple[int, bytes]]:
    """The status and body of each response, by Content-Length; the last body may be short."""
    results = []
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        results.append((status, received[:length]))
        received = received[length:]
    return results
