"""A web server in a thread that gives recorded answers."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

DATA = Path(__file__).with_name("data")


def recorded(name):
    """Return an answer of a real server."""
    return (DATA / name).read_bytes()


class Answers:
    """`answer` gets the path with its query, and the form; it returns status and body. requests: what came."""

    def __init__(self, answer: Callable[[str, Mapping[str, str]], tuple[int, bytes]]):
        self.answer = answer
        self.requests: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.place = ""

    def give(self, status: int, body: bytes) -> None:
        """Answer this to everything from now on."""
        self.answer = lambda path, form: (status, body)


@contextmanager
def serving(answer) -> Iterator[Answers]:
    """Serve at a free port of loopback; `place` is host:port. A body alone is an answer to everything."""
    given = Answers(answer if callable(answer) else lambda path, form: (200, answer))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def do_GET(self):
            length = int(self.headers.get("Content-Length") or 0)
            form = {
                name: values[0]
                for name, values in parse_qs(self.rfile.read(length).decode()).items()
            }
            given.requests.append((self.path, dict(self.headers), form))
            status, body = given.answer(self.path, form)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 302:
                self.send_header("Location", "http://192.0.2.1/")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name that the library calls

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            """Who went away early is no error."""

    with Server(("127.0.0.1", 0), Handler) as server:
        given.place = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield given
        finally:
            server.shutdown()
