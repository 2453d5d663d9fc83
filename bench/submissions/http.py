"""A client that keeps its connection, as a CI job's would: it costs the machine little."""

import http.client
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

SECONDS = 600


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and after how many seconds."""

    code: int
    headers: Any
    body: bytes
    seconds: float


class Client:
    """One connection to one server. Raise RuntimeError for an answer that is none of those expected."""

    def __init__(self, base: str, headers: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=SECONDS)
        self._headers = headers

    def get(self, path: str, expected: int = 200) -> Answer:
        return self._ask("GET", path, None, (expected,))

    def post(self, path: str, body: bytes, *expected: int) -> Answer:
        return self._ask("POST", path, body, expected)

    def _ask(self, method: str, path: str, body: bytes | None, expected: tuple[int, ...]) -> Answer:
        begun = perf_counter()
        try:
            answer = self._asked(method, path, body)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._connection.close()  # a server that keeps no connection
            answer = self._asked(method, path, body)
        content = answer.read()
        seconds = perf_counter() - begun
        if answer.status not in expected:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {content[:500]!r}")
        return Answer(answer.status, answer.headers, content, seconds)

    def _asked(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        self._connection.request(method, path, body, headers)
        return self._connection.getresponse()

    def close(self) -> None:
        with suppress(OSError):
            self._connection.close()
