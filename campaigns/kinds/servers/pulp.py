"""A client of Pulp 3's REST API. No Django.

With pulpcore 3.123, basic authentication costs the server up to a second of CPU a request, so the client
logs in once and uses the session's cookie; a session may end at any moment, and then it logs in again.
Answers for unknown paths and errors of the server are HTML.
"""

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.servers.pulp_tasks import StillAtIt, Task, TaskFailed, read_task
from campaigns.kit.http.connection import Answer, Connection, refusal
from campaigns.kit.http.credentials import Login
from campaigns.kit.http.errors import Answered, Strange
from campaigns.kit.mappings import Json, JsonObject

API = "/pulp/api/v3/"
PAGE = 100
AT_WORK = "running,canceling"
SHORTEST_WAIT, LONGEST_WAIT = 0.2, 2.0
WAIT_SHARE = 0.02
"""The wait between two requests for a task's state, as a share of the time since it began."""


class Pulp:
    """A client of one Pulp."""

    def __init__(self, connection: Connection, base_url: str, login: Login) -> None:
        """base_url: of the server, with or without /pulp/api/v3/ at its end."""
        path = urlsplit(base_url).path.rstrip("/")
        self.root = f"{path.removesuffix(API.rstrip('/'))}{API}"
        self._connection = connection
        self._login = login
        self._cookies: dict[str, str] = {}
        self._basic = False

    def status(self) -> Json:
        """Return versions, workers and storage; it needs no login. Raise ClientError."""
        answer = self._connection.ask("GET", f"{self.root}status/")
        if answer.status >= 500:
            raise _refused(answer)
        if answer.status != 200:
            raise Strange(f"{answer}: this is no Pulp 3, or not its base URL. {answer.shown}")
        status = answer.json()
        if not isinstance(status, dict) or not isinstance(status.get("versions"), list):
            raise Strange(f"{answer}, but not with Pulp's status: {answer.shown}")
        return status

    def log_in(self) -> None:
        """Begin a session. Raise ClientError."""
        if not self._login.username:
            return
        answer = self._connection.ask("POST", f"{self.root}login/", headers=self._login.header)
        if "json" not in answer.headers.get("Content-Type", ""):
            self.status()  # raises where this is no Pulp at all
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
        """Return the header Date of the server; None where there is none."""
        return self._connection.ask("HEAD", f"{self.root}status/").headers.get("Date")

    @property
    def has_session(self) -> bool:
        """Whether requests use a session, which costs the server little."""
        return bool(self._cookies)

    def get(self, path: str, **query: Any) -> Any:
        """Return the data of one thing. path: an href, or relative to the API's root."""
        return self._ask("GET", path, query=query).json()

    def list(self, path: str, **query: Any) -> Iterator[JsonObject]:
        """Yield the rows of a list, page by page."""
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
        """Return how many rows a list has."""
        page = self.get(path, limit=1, **query)
        try:
            return int(page["count"])
        except (KeyError, TypeError, ValueError):
            raise Strange(f"{path} gave no count: {str(page)[:200]}") from None

    def create(self, path: str, body: Json) -> JsonObject:
        """Create something that needs no task (201), and return it."""
        made = self._ask("POST", path, body=body).json()
        if not isinstance(made, dict) or "pulp_href" not in made:
            raise Strange(f"POST {path} made nothing that can be found: {str(made)[:200]}")
        return made

    def start(self, method: str, path: str, body: Json | None = None) -> str:
        """Start a task; return its href, empty where none was needed."""
        answer = self._ask(method, path, body=body)
        if answer.status == 204 or not answer.body:
            return ""
        data = answer.json()
        return str(data["task"]) if isinstance(data, dict) and "task" in data else ""

    def tasks_between(self, began: str, ended: str) -> Iterator[JsonObject]:
        """Yield the tasks that were running at any time between two instants, in ISO 8601."""
        for query in ({"finished_at__gte": began}, {"state__in": AT_WORK}):
            yield from self.list("tasks/", started_at__lte=ended, **query)

    def task(self, href: str) -> Task:
        """Return a task."""
        return read_task(self.get(href))

    def cancel(self, href: str) -> None:
        """Cancel a task; one that has ended already is no error."""
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
        """Wait until a task has ended, successfully or not. Raise StillAtIt."""
        started = time.monotonic()
        while not (task := self.task(href)).ended:
            gone = time.monotonic() - started
            if gone > seconds:
                raise StillAtIt(what, task, seconds)
            self.rest(gone)
        return task

    def rest(self, gone: float) -> None:
        """Wait before the next request for the state of something that began `gone` seconds ago."""
        longest = LONGEST_WAIT if self.has_session else 2 * LONGEST_WAIT
        self._connection.rest(max(SHORTEST_WAIT, min(longest, WAIT_SHARE * gone)))

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Json | None = None,
        body: Json | None = None,
    ) -> Answer:
        """Send a request with the session; repeat it with a new one where the old one has ended."""
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
        query: Json | None,
        body: Json | None,
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
    """Return the error that a status means, with Pulp's own message where it has one."""
    fields: dict[str, list[str]] = {}
    text = answer.shown
    try:
        data = answer.json()
    except Strange:
        data = None
        text = "" if "html" in answer.headers.get("Content-Type", "") else text
    if isinstance(data, dict):
        fields = {
            name: [str(each) for each in (errors if isinstance(errors, list) else [errors])]
            for name, errors in data.items()
            if name != "detail"
        }
        text = str(data.get("detail") or "") or "; ".join(
            f"{name}: {' '.join(errors)}" for name, errors in fields.items()
        )
    return refusal(answer, text, "Pulp", fields=fields)
