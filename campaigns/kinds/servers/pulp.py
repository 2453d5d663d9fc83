"""A client of Pulp 3's REST API. No Django.

Facts (pulpcore 3.123): basic authentication costs the server up to a second of CPU a request, so we
log in once and go on with the session's cookie; a session may end at any moment, and then we log in
again. Answers of unknown paths and of errors of the server are HTML.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.servers.pulp_tasks import StillAtIt, Task, TaskFailed, read_task
from campaigns.kit.http.connection import Answer, Connection, refusal
from campaigns.kit.http.credentials import Login
from campaigns.kit.http.errors import Answered, Strange

API = "/pulp/api/v3/"
PAGE = 100
SHORTEST_WAIT, LONGEST_WAIT = 0.2, 2.0
WAIT_SHARE = 0.02
"""Of the time that has gone: so long is the wait for the next look at a task."""


class Pulp:
    """Pulp at the other end of a connection."""

    def __init__(self, connection: Connection, base_url: str, login: Login) -> None:
        """`base_url`: with or without /pulp/api/v3/ at its end."""
        path = urlsplit(base_url).path.rstrip("/")
        self.root = f"{path.removesuffix(API.rstrip('/'))}{API}"
        self._connection = connection
        self._login = login
        self._cookies: dict[str, str] = {}
        self._basic = False

    def status(self) -> Mapping[str, Any]:
        """Ask for versions, workers and storage, which needs no login. Raise ClientError."""
        answer = self._connection.ask("GET", f"{self.root}status/")
        if answer.status >= 500:
            raise _refused(answer)
        if answer.status != 200:
            raise Strange(f"{answer}: this is no Pulp 3, or not its base URL. {answer.shown}")
        said = answer.json()
        if not isinstance(said, dict) or not isinstance(said.get("versions"), list):
            raise Strange(f"{answer}, but not with Pulp's status: {answer.shown}")
        return said

    def log_in(self) -> None:
        """Begin a session. Raise LoginRefused."""
        if not self._login.username:
            return
        answer = self._connection.ask("POST", f"{self.root}login/", headers=self._login.header)
        if "json" not in answer.headers.get("Content-Type", ""):
            self.status()  # what is no Pulp at all is told so
        if answer.status in (404, 405):
            self._basic = True  # an older Pulp without sessions
            return
        if answer.status not in (200, 201):
            raise _refused(answer)
        self._cookies = {
            name: answer.cookies[name]
            for name in ("sessionid", "csrftoken")
            if name in answer.cookies
        }
        if "sessionid" not in self._cookies:
            self.status()
            raise Strange(f"{answer}, but gave no session.")

    def date(self) -> str | None:
        """What clock the server shows, as its header Date tells; None where it tells nothing."""
        return self._connection.ask("HEAD", f"{self.root}status/").headers.get("Date")

    @property
    def has_session(self) -> bool:
        """Return whether requests go with a session's cookie, which costs the server little."""
        return bool(self._cookies)

    def get(self, path: str, **query: Any) -> Any:
        """Ask for one thing. `path` is an href or stands below the API's root."""
        return self._ask("GET", path, query=query).json()

    def list(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Ask for all things of a list, page by page."""
        offset = 0
        while True:
            page = self.get(path, limit=PAGE, offset=offset, **query)
            try:
                results, count = page["results"], page["count"]
            except (KeyError, TypeError):
                raise Strange(f"{path} gave no list: {str(page)[:200]}") from None
            yield from results
            offset += len(results)
            if not results or offset >= count:
                return

    def count(self, path: str, **query: Any) -> int:
        """Ask how many things a list has."""
        page = self.get(path, limit=1, **query)
        try:
            return int(page["count"])
        except (KeyError, TypeError, ValueError):
            raise Strange(f"{path} gave no count: {str(page)[:200]}") from None

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make something that is there at once (201)."""
        made = self._ask("POST", path, body=body).json()
        if not isinstance(made, dict) or "pulp_href" not in made:
            raise Strange(f"POST {path} made nothing that can be found: {str(made)[:200]}")
        return made

    def start(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> str:
        """Ask for something that takes a task; give the task's href, empty where none was needed."""
        answer = self._ask(method, path, body=body)
        if answer.status == 204 or not answer.body:
            return ""
        said = answer.json()
        if isinstance(said, dict) and "task" in said:
            return str(said["task"])
        return ""

    def task(self, href: str) -> Task:
        """Look at a task."""
        return read_task(self.get(href))

    def cancel(self, href: str) -> None:
        """Ask for the end of a task; one that has ended already is left alone."""
        try:
            self._ask("PATCH", href, body={"state": "canceled"})
        except Answered as refusal:
            if refusal.status not in (404, 409):
                raise

    def wait(self, href: str, seconds: float, what: str) -> Task:
        """Wait for the end of a task. Raise StillAtIt, or TaskFailed where it was not completed."""
        task = self.wait_for_end(href, seconds, what)
        if task.state not in ("completed", "skipped"):
            raise TaskFailed(what, task)
        return task

    def wait_for_end(self, href: str, seconds: float, what: str) -> Task:
        """Wait until a task has ended, however. Raise StillAtIt."""
        started = time.monotonic()
        while not (task := self.task(href)).ended:
            gone = time.monotonic() - started
            if gone > seconds:
                raise StillAtIt(what, task, seconds)
            self.rest(gone)
        return task

    def rest(self, gone: float) -> None:
        """Wait before the next look at something that began `gone` seconds ago."""
        longest = LONGEST_WAIT if self.has_session else 2 * LONGEST_WAIT
        self._connection.rest(max(SHORTEST_WAIT, min(longest, WAIT_SHARE * gone)))

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Ask, with a session; once more with a new one, where the old one has ended."""
        answer = self._send(method, path, query, body)
        if answer.status in (401, 403) and self._cookies:
            self.log_in()
            answer = self._send(method, path, query, body)
        if answer.status >= 300:
            raise _refused(answer)
        return answer

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
    ) -> Answer:
        headers = self._login.header if self._basic else {}
        if self._cookies:
            headers["Cookie"] = "; ".join(f"{name}={text}" for name, text in self._cookies.items())
            if method != "GET":
                headers["X-CSRFToken"] = self._cookies.get("csrftoken", "")
                headers["Referer"] = f"{self._connection.origin}/"
        place = path if path.startswith("/") else self.root + path
        return self._connection.ask(method, place, query=query, body=body, headers=headers)


def _refused(answer: Answer) -> Answered:
    """Return what a status means, in Pulp's words where it has any."""
    fields: dict[str, list[str]] = {}
    words = answer.shown
    try:
        said = answer.json()
    except Strange:
        said = None
        words = "" if "html" in answer.headers.get("Content-Type", "") else words
    if isinstance(said, dict):
        words = str(said.get("detail") or "")
        fields = {
            name: [str(each) for each in (told if isinstance(told, list) else [told])]
            for name, told in said.items()
            if name != "detail"
        }
        words = words or "; ".join(f"{name}: {' '.join(told)}" for name, told in fields.items())
    return refusal(answer, words, "Pulp", fields=fields)
