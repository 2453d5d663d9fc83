"""A small HTTP API that runs: items, a sign-in with cookie and token, and a count of its requests."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD, TOKEN = "anna", "correct-horse-battery", "t0k3n-of-this-session"


@dataclass
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Api:
    """A running API. asked: all requests but those for /count."""

    base_url: str
    asked: list[Asked] = field(default_factory=list)
    items: set[str] = field(default_factory=set)

    def paths(self) -> Counter[str]:
        """How often each path was asked for, with its method."""
        return Counter(f"{each.method} {each.path}" for each in self.asked)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # all hosts connect at once


@contextmanager
def running_api() -> Iterator[Api]:
    """Run an API in threads."""
    server = Server(("127.0.0.1", 0), Handler)
    server.api = Api(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server.api  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def handle_one(self) -> None:
        api: Api = self.server.api
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        parts = urlsplit(self.path)
        if parts.path == "/count":
            self.answer(200, {"requests": len(api.asked), "items": len(api.items)})
            return
        api.asked.append(Asked(self.command, self.path, dict(self.headers), body))
        match self.command, parts.path.strip("/").split("/"):
            case "POST", ["sign-in"]:
                given = {name: each[0] for name, each in parse_qs(body).items()}
                if given == {"user": USER, "password": PASSWORD}:
                    self.answer(200, {"token": TOKEN}, {"Set-Cookie": f"sid={TOKEN}; Path=/"})
                else:
                    self.answer(403, {"error": f"wrong password {given.get('password')}"})
            case "GET", ["mine"]:
                signed = f"sid={TOKEN}" in (self.headers.get("Cookie") or "")
                bearer = self.headers.get("Authorization") == f"Bearer {TOKEN}"
                self.answer(200 if signed or bearer else 401, {"me": USER})
            case "GET", ["items"]:
                results = [{"href": f"/items/{number}/", "n": number} for number in range(3)]
                self.answer(200, {"count": 3, "results": results})
            case "POST", ["items"]:
                href = f"/items/{len(api.asked)}/"
                api.items.add(href)
                self.answer(201, {"href": href}, {"Location": f"{api.base_url}{href}"})
            case "DELETE", ["items", _]:
                api.items.discard(self.path)
                self.answer(204, None)
            case "GET", ["items", number]:
                self.answer(200, {"n": number})
            case "GET", ["large"]:
                self.answer(200, "x" * 5_000_000)
            case "GET", ["broken"]:
                self.answer(503, {"error": "no"})
            case "GET", ["html"]:
                self.answer(200, {}, {"Content-Type": "text/html"})
            case "GET", ["all"]:
                self.answer(200, " ".join(sorted(api.items)))
            case _, ["reflect"]:
                self.answer(200, f"{' '.join(self.headers.values())} {body}")
            case _, ["json"]:
                self.answer(200, json.loads(body))
            case _, ["echo", *_]:
                self.answer(200, {"path": self.path, "body": body})
            case _:
                self.answer(404, {"error": "there is no such path"})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815 - their names in http.server

    def answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        given = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }
        for name, text in given.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""
