"""A client of the REST API of Foreman with Katello. No Django.

A login with a password costs the server a slow digest, so the client reuses its session; a session may
end at any moment, and then the password is sent again. Errors are JSON in several forms (`displayMessage`,
`message`, `error.message`), or pages of a proxy. The header X-Request-Id of the request that begins a task
is in the task's input as `current_request_id`.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kit.http.connection import Answer, Connection, refusal
from campaigns.kit.http.credentials import Login
from campaigns.kit.http.errors import Answered, ClientError, Strange
from campaigns.kit.mappings import Json, JsonObject

SESSION = "_session_id"
ENDINGS = ("/katello/api/v2", "/katello/api", "/api/v2", "/api", "/katello")
PAGE = 100
MOST_PAGES = 100
SHORTEST_WAIT, LONGEST_WAIT = 0.5, 5.0
WAIT_SHARE = 0.02
"""The wait between two requests for a task's state, as a share of the time since it began."""
ALWAYS_RUN = (
    "Actions::Katello::EventQueue::Monitor",
    "Actions::Candlepin::ListenOnCandlepinEvents",
)
"""Labels of tasks that always run in a healthy Katello."""
LABEL_OF_HOST = "Actions::RemoteExecution::RunHostJob"
"""The label of the task of one host of a job."""
TASKS = "/foreman_tasks/api/tasks"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of Katello. counts: units of content by type. organization: its id; 0 where Katello does not tell it."""

    id: int
    name: str
    content_type: str
    url: str
    download_policy: str
    counts: Mapping[str, int]
    organization: int = 0

    @property
    def units(self) -> int:
        """The number of its units of content, of all types."""
        return sum(self.counts.values())


class StillGoesOn(ClientError):
    """A task has not stopped within the time allowed."""

    def __init__(self, task: ForemanTask, seconds: float) -> None:
        super().__init__(
            f"{task.action} is still {task.state} after {seconds:g} s (task {task.id})."
        )


class Katello:
    """A client of one Foreman with Katello."""

    def __init__(self, connection: Connection, base_url: str, login: Login) -> None:
        """base_url: of the server, with or without the path of an API at its end."""
        path = urlsplit(base_url).path.rstrip("/")
        self._root = next((path.removesuffix(end) for end in ENDINGS if path.endswith(end)), path)
        self._connection = connection
        self._login = login
        self._session = ""

    def foreman_version(self) -> str:
        """Return the version of Foreman; it needs a login. Raise ClientError."""
        answer = self._send("GET", "/api/v2/status", None, None, "")
        if answer.status in (401, 403) or answer.status >= 500:
            raise _refused(answer)
        if answer.status != 200:
            raise Strange(f"{answer}: this is no Foreman, or not its base URL. {answer.shown}")
        self._store_session(answer)
        return _version(answer)

    def katello_version(self) -> str:
        """Return the version of Katello. Raise ClientError."""
        answer = self._send("GET", "/katello/api/v2/status", None, None, "")
        if answer.status == 404:
            raise Strange(f"{answer}: this Foreman has no Katello. {answer.shown}")
        if answer.status in (401, 403) or answer.status >= 500:
            raise _refused(answer)
        if answer.status != 200:
            raise Strange(f"{answer}: this is no Katello, or not its base URL. {answer.shown}")
        return _version(answer)

    def date(self) -> str | None:
        """Return the header Date of the server; None where there is none."""
        return self._send("GET", "/katello/api/v2/status", None, None, "").headers.get("Date")

    def ping(self) -> dict[str, str]:
        """Return the state of the services by name: “ok”, or what is wrong."""
        services = self.get("/katello/api/v2/ping").get("services")
        if not isinstance(services, dict):
            raise Strange("Katello's ping names no services.")
        return {
            name: "ok" if each.get("status") == "ok" else str(each.get("message") or "FAIL")
            for name, each in services.items()
            if isinstance(each, dict)
        }

    def get(self, path: str, **query: Any) -> JsonObject:
        """Return a JSON object."""
        data = self._ask("GET", path, query=query).json()
        if not isinstance(data, dict):
            raise Strange(f"{path} gave no JSON object: {str(data)[:200]}")
        return data

    def send(self, method: str, path: str, body: Json | None = None, mark: str = "") -> Any:
        """Send a change, and return the data of the answer; None where it is empty."""
        answer = self._ask(method, path, body=body, mark=mark)
        return answer.json() if answer.body.strip() else None

    def results(
        self,
        path: str,
        *,
        size: int = PAGE,
        between: Callable[[], None] | None = None,
        **query: Any,
    ) -> Iterator[Any]:
        """Yield the rows of a list, page by page. size: rows of a page; between: called between two pages."""
        count = 0
        for page in range(1, MOST_PAGES + 1):
            if page > 1 and between is not None:
                between()
            data = self.get(path, page=page, per_page=size, **query)
            rows = data.get("results")
            if not isinstance(rows, list):
                raise Strange(f"{path} gave no list: {str(data)[:200]}")
            yield from rows
            count += len(rows)
            if not rows or count >= int(data.get("subtotal") or 0):
                return

    def repository(self, pk: int) -> Repository:
        """Return a repository."""
        data = self.get(f"/katello/api/v2/repositories/{pk}")
        try:
            counts = data.get("content_counts") or {}
            return Repository(
                id=int(data["id"]),
                name=str(data["name"]),
                content_type=str(data.get("content_type") or ""),
                url=str(data.get("url") or ""),
                download_policy=str(data.get("download_policy") or ""),
                counts={name: int(count or 0) for name, count in counts.items()},
                organization=int((data.get("organization") or {}).get("id") or 0),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Strange(f"Repository {pk} cannot be read ({error!r}).") from None

    def sync_repository(self, pk: int, body: Json, mark: str) -> ForemanTask:
        """Begin the sync of a repository; `mark` is the request's id."""
        return self._begin(f"/katello/api/v2/repositories/{pk}/sync", body, mark)

    def sync_proxy(self, pk: int, body: Json, mark: str) -> ForemanTask:
        """Begin the sync of a smart proxy."""
        return self._begin(f"/katello/api/v2/capsules/{pk}/content/sync", body, mark)

    def reclaim_repository(self, pk: int, mark: str) -> ForemanTask:
        """Let Katello give up the stored packages of a repository with the policy on_demand."""
        return self._begin(f"/katello/api/v2/repositories/{pk}/reclaim_space", {}, mark)

    def reclaim_proxy(self, pk: int, mark: str) -> ForemanTask:
        """Let a smart proxy give up the stored packages of all its repositories with the policy on_demand."""
        return self._begin(f"/katello/api/v2/capsules/{pk}/content/reclaim_space", {}, mark)

    def proxy_content(self, pk: int) -> JsonObject:
        """Return the running syncs of a smart proxy, and the counts of its content."""
        return self.get(f"/katello/api/v2/capsules/{pk}/content/sync")

    def task(self, pk: str) -> ForemanTask:
        """Return a task."""
        return read_task(self.get(f"{TASKS}/{pk}"))

    def details(self, pk: str) -> JsonObject:
        """Return all details of a task, with its failed steps."""
        return self.get(f"{TASKS}/{pk}/details")

    def tasks(self, search: str) -> list[ForemanTask]:
        """Find tasks, each once: a search by resource may give one several times."""
        rows = map(read_task, self.results(TASKS, search=search))
        return list({task.id: task for task in rows}.values())

    def tasks_at_work(self) -> list[ForemanTask]:
        """Return the tasks that run, without those that always do, and without those of the hosts of a job: it has one itself."""
        running = self.tasks(f"state = running and label != {LABEL_OF_HOST}")
        return [task for task in running if task.label not in ALWAYS_RUN]

    def count_tasks(self, search: str) -> int:
        """Return how many tasks a search matches; -1 where Foreman does not count."""
        data = self.get(TASKS, search=search, per_page=1).get("subtotal")
        return data if isinstance(data, int) else -1

    def cancel(self, tasks: Sequence[str]) -> None:
        """Cancel tasks; those that cannot be cancelled are unchanged."""
        self._ask("POST", f"{TASKS}/bulk_cancel", body={"task_ids": list(tasks)})

    def stop(self, tasks: Sequence[str]) -> None:
        """Stop paused tasks, which releases their locks."""
        self._ask("POST", f"{TASKS}/bulk_stop", body={"task_ids": list(tasks)})

    def wait_until_stopped(self, pk: str, seconds: float) -> ForemanTask:
        """Wait until a task has stopped, successfully or not. Raise StillGoesOn."""
        started = time.monotonic()
        while (task := self.task(pk)).state != "stopped":
            gone = time.monotonic() - started
            if gone > seconds:
                raise StillGoesOn(task, seconds)
            self.rest(gone)
        return task

    def pause(self, seconds: float) -> None:
        """Wait; end at once where the run is cancelled."""
        self._connection.rest(seconds)

    def rest(self, gone: float) -> None:
        """Wait before the next request for the state of something that began `gone` seconds ago."""
        self._connection.rest(max(SHORTEST_WAIT, min(LONGEST_WAIT, WAIT_SHARE * gone)))

    def _begin(self, path: str, body: Json, mark: str) -> ForemanTask:
        return read_task(self._ask("POST", path, body=body, mark=mark).json())

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Json | None = None,
        body: Json | None = None,
        mark: str = "",
    ) -> Answer:
        """Send a request with the session; repeat it with the password where the session has ended."""
        answer = self._send(method, path, query, body, mark)
        if answer.status == 401 and self._session:
            self._session = ""
            answer = self._send(method, path, query, body, mark)
        if answer.status >= 300:
            raise _refused(answer)
        self._store_session(answer)
        return answer

    def _store_session(self, answer: Answer) -> None:
        self._session = answer.cookies.get(SESSION, self._session)

    def _send(
        self,
        method: str,
        path: str,
        query: Json | None,
        body: Json | None,
        mark: str,
    ) -> Answer:
        headers = {"Accept": "application/json"}
        if mark:
            headers["X-Request-Id"] = mark
        if self._session:
            headers["Cookie"] = f"{SESSION}={self._session}"
        elif self._login.username:
            headers |= self._login.header
        return self._connection.ask(
            method, f"{self._root}{path}", query=query, body=body, headers=headers
        )


def _version(answer: Answer) -> str:
    data = answer.json()
    if not isinstance(data, dict) or not data.get("version"):
        raise Strange(f"{answer}, but names no version: {answer.shown}")
    return str(data["version"])


def _refused(answer: Answer) -> Answered:
    return refusal(answer, error_text(answer), "Katello", login_server="Foreman")


def error_text(answer: Answer) -> str:
    """Return the error message in an answer, in any form of Foreman and Katello; empty for an HTML page."""
    try:
        data = answer.json()
    except Strange:
        return "" if "html" in answer.headers.get("Content-Type", "") else answer.shown
    if not isinstance(data, dict):
        return ""
    error = data.get("error")
    inner = error if isinstance(error, dict) else {"message": error}
    parts = [
        data.get("displayMessage") or data.get("message"),
        inner.get("message"),
        inner.get("details"),
        *_items(data.get("errors")),
        *_items(inner.get("full_messages")),
    ]
    texts = [" ".join(str(part).split()) for part in parts if part]
    return " ".join(dict.fromkeys(texts))


def _items(data: Any) -> list[Any]:
    return data if isinstance(data, list) else []
