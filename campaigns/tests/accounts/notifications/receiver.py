"""A receiver of webhooks on loopback: answers as it is told, and keeps what it was sent."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`answers`: the status of each request in turn; the last one goes on. `hang`: seconds.

    `drip`: a status line that never ends. `trickle`: a status, and headers that never end.
    """

    answers: list[int] = field(default_factory=lambda: [200])
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    hang: float = 0.0
    drip: bool = False
    trickle: bool = False
    got: list[Received] = field(default_factory=list)
    port: int = 0
    scheme: str = "http"
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook/of-a-secret-path"

    def wait(self, count: int, seconds: float = 10.0) -> None:
        until = time.monotonic() + seconds
        while len(self.got) < count and time.monotonic() < until:
            time.sleep(0.01)
        assert len(self.got) >= count, f"{len(self.got)} of {count} came"


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver(scheme="https" if tls else "http")
    server = _Server(("127.0.0.1", 0), _handler(receiver))
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests are about."""


def _handler(receiver: Receiver) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.got.append(Received(self.path, dict(self.headers), body))
            answers = receiver.answers
            status = answers.pop(0) if len(answers) > 1 else answers[0]
            if receiver.hang:
                receiver.ended.wait(receiver.hang)
            if receiver.drip:
                while not receiver.ended.wait(0.05):
                    self.wfile.write(b"H")
                    self.wfile.flush()
            self.send_response(status)
            while receiver.trickle and not receiver.ended.wait(0.05):
                self.send_header("X-More", "to come")
                self.flush_headers()
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.body)))
            self.end_headers()
            self.wfile.write(receiver.body)

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    return Handler
