"""A client as small as these tests allow: it asks, and waits for tasks."""

import itertools
import threading
import time
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import requests

from sandbox.process import Sandbox

PREFIX = "/pulp/api/v3/"
FINAL = ("completed", "failed", "canceled", "skipped")
Document = dict[str, Any]


def progress(task: Document) -> dict[str, tuple[str, int, int | None]]:
    """The state, what is done, and the total, of each report by its code."""
    reports = task["progress_reports"]
    return {each["code"]: (each["state"], each["done"], each["total"]) for each in reports}


class Pulp:
    def __init__(self, base_url: str, user: str, password: str, feed: Sandbox, prefix: str):
        self.base_url, self.prefix, self.feed = base_url, prefix, feed
        self.credentials = (user, password)
        self._numbers = itertools.count()
        self._session = requests.Session()
        self._session.trust_env = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._session.close()

    def ask(self, method: str, path: str, body: object = None, **options: Any) -> requests.Response:
        url = path if path.startswith("/") else PREFIX + path
        return self._session.request(
            method, self.base_url + url, json=body, timeout=60, allow_redirects=False, **options
        )

    def get(self, path: str, **query: object) -> Document:
        answer = self.ask("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        result: Document = answer.json()
        return result

    def log_in(self) -> requests.Response:
        self.forget()
        answer = self.ask("POST", "login/", auth=self.credentials)
        self._session.headers["X-CSRFToken"] = answer.cookies["csrftoken"]
        return answer

    def forget(self) -> None:
        """Have neither cookies nor token."""
        self._session.cookies.clear()
        self._session.headers.pop("X-CSRFToken", None)

    def say(self, header: str | None) -> None:
        """Send another token, or none."""
        self._session.headers.pop("X-CSRFToken", None)
        if header is not None:
            self._session.headers["X-CSRFToken"] = header

    def name(self) -> str:
        return f"{self.prefix}-{next(self._numbers)}"

    def remote(self, url: str, **fields: object) -> str:
        return self._made("remotes/file/file/", {"name": self.name(), "url": url, **fields})

    def repository(self, **fields: object) -> str:
        return self._made("repositories/file/file/", {"name": self.name(), **fields})

    def _made(self, path: str, body: Document) -> str:
        answer = self.ask("POST", path, body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["pulp_href"])

    def manifest(self, **settings: object) -> str:
        """A manifest of files that no other test has."""
        return self.feed.manifest(**{"size": 100, "seed": uuid4().int % 10**6, **settings})

    def fed(self, url: str) -> bytes:
        """What the feed has at a URL."""
        return self._session.get(url, timeout=60).content

    def task(self, method: str, path: str, body: object = None) -> str:
        answer = self.ask(method, path, body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["task"])

    def done(self, task: str, seconds: float = 60) -> Document:
        return self.when(task, lambda found: found["state"] in FINAL, seconds)

    def when(self, task: str, claim: Any, seconds: float = 60) -> Document:
        pause, end = threading.Event(), time.monotonic() + seconds
        while True:
            result = self.get(task)
            if claim(result):
                return result
            assert time.monotonic() < end, result
            pause.wait(0.02)

    def start(self, repository: str, remote: str, **options: object) -> str:
        return self.task("POST", f"{repository}sync/", {"remote": remote, **options})

    def sync(self, repository: str, remote: str, **options: object) -> Document:
        return self.done(self.start(repository, remote, **options))

    def artifact(self, digest: str) -> int:
        return int(self.get("artifacts/", sha256=digest, limit=1)["count"])

    def clean(self) -> None:
        for kind in ("distributions", "repositories", "remotes"):
            for result in self.get(f"{kind}/", name__startswith=self.prefix)["results"]:
                self.done(self.task("DELETE", result["pulp_href"]))
        self.done(self.task("POST", "orphans/cleanup/", {"orphan_protection_time": 0}))
