"""A real server on loopback with settings that it tells and takes over HTTP, and can lose."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class SettingsServer(ThreadingHTTPServer):
    """`values` by name; `deaf` ones are taken and not kept; `html` answers pages; `asked` is a book."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.values = {"puma_workers": 2, "puma_threads": 5}
        self.deaf, self.html, self.vanishes = set(), set(), False
        self.blinds = {}  # setting one, another one cannot be read until it is set
        self.asked, self.not_ready = [], 0

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def changes(self):
        """What was set, in order."""
        return [(path, value) for method, path, value in self.asked if method == "PUT"]


class _Handler(BaseHTTPRequestHandler):
    server: SettingsServer

    def do_GET(self):
        self.server.asked.append(("GET", self.path, self.headers.get("Authorization")))
        name = self.path.rpartition("/")[2]
        if name == "ready":
            self.server.not_ready -= 1
            return self._answer(503 if self.server.not_ready >= 0 else 200, {"status": "ok"})
        if name in self.server.html:
            return self._answer(200, "<html><body>Please sign in</body></html>", "text/html")
        if name not in self.server.values:
            return self._answer(404, {"detail": "no such setting"})
        return self._answer(200, {"value": self.server.values[name]})

    def do_PUT(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.path.rpartition("/")[2]
        self.server.asked.append(("PUT", self.path, sent["value"]))
        self.server.html.discard(name)
        if name not in self.server.deaf:
            self.server.values[name] = sent["value"]
        if name in self.server.blinds:
            self.server.html.add(self.server.blinds[name])
        self._answer(200, {"value": sent["value"]})
        if self.server.vanishes:
            self.server.socket.close()

    def do_POST(self):
        self.server.asked.append(("POST", self.path, None))
        failing = self.path.endswith("/fails")
        self._answer(500 if failing else 200, {"detail": "broken" if failing else "done"})

    def _answer(self, status, body, kind="application/json"):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@contextmanager
def serving():
    """Serve until the block ends."""
    server = SettingsServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def over_http(name, **other):
    """What is sent to define a setting of that server."""
    url = f"/settings/{name}"
    return {
        "name": name,
        "type": "integer",
        "minimum": 1,
        "maximum": 64,
        "apply": {"way": "http", "method": "PUT", "url": url, "body": {"value": "{value}"}},
        "read_back": {"way": "http", "url": url, "at": "value"},
        "hard_to_change": True,
    } | other


def manually(name, **other):
    """What is sent to define one that a person sets."""
    words = {"way": "manual", "words": "Ask the operator of the night."}
    return over_http(name, apply=words, read_back={"way": "manual"}) | other
