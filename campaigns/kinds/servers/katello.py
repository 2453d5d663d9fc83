"""A client of the REST API of Foreman with Katello. No Django.

Facts: a login with a password costs the server a slow digest, so the session that it begins is kept; a
session may end at any moment, and then the password is sent again. Errors are JSON in several forms
(`displayMessage`, `message`, `error.message`), or pages of a proxy in front of it. The header
X-Request-Id of the request that begins a task stands in the task's input as `current_request_id`.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from campaigns.kinds.servers.foreman_tasks import ForemanTask, read_task
from campaigns.kit.http.connection import Answer, Connection, refusal
from campaigns.kit.http.credentials import Login
from campaigns.kit.http.errors import Answered, ClientError, Strange

SESSION = "_session_id"
ENDINGS = ("/katello/api/v2", "/katello/api", "/api/v2", "/api", "/katello")
PAGE = 100
MOST_PAGES = 100
SHORTEST_WAIT, LONGEST_WAIT = 0.5, 5.0
WAIT_SHARE = 0.02
"""Of the time that has gone: so long is the wait for the next look at a task."""
TASKS = "/foreman_tasks/api/tasks"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of Katello; `counts`: units of content by type."""

    id: int
    name: str
    content_type: str
    url: str
    download_policy: str
    counts: Mapping[str, int]

    @property
    def units(self) -> int:
        """How many units of content it holds, of all types."""
        return sum(self.counts.values())


class StillGoesOn(ClientError):
    """A task has not come to rest in the time that it was given."""

    def __init__(self, task: ForemanTask, seconds: float) -> None:
        super().__init__(
            f"{task.action} is still {task.state} after {seconds:g} s (task {task.id})."
        )


class Katello:
    """Foreman with Katello at the other end of a connection."""

    def __init__(self, connection: Connection, base_url: str, login: Login) -> None:
        """`base_url`: the server's, with or without the path of an API at its end."""
        path = urlsplit(base_url).path.rstrip("/")
        self._root = next((path.removesuffix(end) for end in ENDINGS if path.endswith(end)), path)
        self._connection = connection
        self._login = login
        self._session = ""

    def foreman_version(self) -> str:
        """Ask which Foreman this is, which needs a login. Raise ClientError."""
        answer = self._send("GET", "/api/v2/status", None, None, "")
        if answer.status in (401, 403) or answer.status >= 500:
            raise _refused(answer)
        if answer.status != 200:
            raise Strange(f"{answer}: this is no Foreman, or not its base URL. {answer.shown}")
        self._keep_session(answer)
        return _version(answer)

    def katello_version(self) -> str:
        """Ask which Katello this is. Raise ClientError."""
        answer = self._send("GET", "/katello/api/v2/status", None, None, "")
        if answer.status == 404:
            raise Strange(f"{answer}: this Foreman has no Katello. {answer.shown}")
        if answer.status in (401, 403) or answer.status >= 500:
            raise _refused(answer)
        if answer.status != 200:
            raise Strange(f"{answer}: this is no Katello, or not its base URL. {answer.shown}")
        return _version(answer)

    def date(self) -> str | None:
        """What clock the server shows, as its header Date tells; None where it tells nothing."""
        return self._send("GET", "/katello/api/v2/status", None, None, "").headers.get("Date")

    def ping(self) -> dict[str, str]:
        """Ask how the services are: “ok”, or what is wrong, by name."""
        services = self.get("/katello/api/v2/ping").get("services")
        if not isinstance(services, dict):
            raise Strange("Katello's ping names no services.")
        return {
            name: "ok" if said.get("status") == "ok" else str(said.get("message") or "FAIL")
            for name, said in services.items()
            if isinstance(said, dict)
        }

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Ask for one thing."""
        said = self._ask("GET", path, query=query).json()
        if not isinstance(said, dict):
            raise Strange(f"{path} gave no JSON object: {str(said)[:200]}")
        return said

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, mark: str = ""
    ) -> Any:
        """Ask for a change, and give what the answer says; None where it says nothing."""
        answer = self._ask(method, path, body=body, mark=mark)
        return answer.json() if answer.body.strip() else None

    def results(self, path: str, **query: Any) -> Iterator[Any]:
        """Ask for all things of a list, page by page."""
        got = 0
        for page in range(1, MOST_PAGES + 1):
            said = self.get(path, page=page, per_page=PAGE, **query)
            found = said.get("results")
            if not isinstance(found, list):
                raise Strange(f"{path} gave no list: {str(said)[:200]}")
            yield from found
            got += len(found)
            if not found or got >= int(said.get("subtotal") or 0):
                return

    def repository(self, pk: int) -> Repository:
        """Look at a repository."""
        said = self.get(f"/katello/api/v2/repositories/{pk}")
        try:
            counts = said.get("content_counts") or {}
            return Repository(
                id=int(said["id"]),
                name=str(said["name"]),
                content_type=str(said.get("content_type") or ""),
                url=str(said.get("url") or ""),
                download_policy=str(said.get("download_policy") or ""),
                counts={name: int(count or 0) for name, count in counts.items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Strange(f"Repository {pk} cannot be read ({error!r}).") from None

    def sync_repository(self, pk: int, body: Mapping[str, Any], mark: str) -> ForemanTask:
        """Ask for the sync of a repository; `mark` names the request."""
        return self._begin(f"/katello/api/v2/repositories/{pk}/sync", body, mark)

    def sync_proxy(self, pk: int, body: Mapping[str, Any], mark: str) -> ForemanTask:
        """Ask for the sync of a smart proxy."""
        return self._begin(f"/katello/api/v2/capsules/{pk}/content/sync", body, mark)

    def proxy_content(self, pk: int) -> dict[str, Any]:
        """Ask what a smart proxy syncs now, and what was counted on it."""
        return self.get(f"/katello/api/v2/capsules/{pk}/content/sync")

    def task(self, pk: str) -> ForemanTask:
        """Look at a task."""
        return read_task(self.get(f"{TASKS}/{pk}"))

    def details(self, pk: str) -> dict[str, Any]:
        """Ask for all that Foreman knows of a task, with steps that failed."""
        return self.get(f"{TASKS}/{pk}/details")

    def tasks(self, search: str) -> list[ForemanTask]:
        """Find tasks, each once: a search by resource may give one several times."""
        found = map(read_task, self.results(TASKS, search=search))
        return list({task.id: task for task in found}.values())

    def count_tasks(self, search: str) -> int:
        """Count the tasks that a search finds; -1 where Foreman does not tell."""
        said = self.get(TASKS, search=search, per_page=1).get("subtotal")
        return said if isinstance(said, int) else -1

    def cancel(self, tasks: Sequence[str]) -> None:
        """Ask for the end of tasks; those that cannot be cancelled are left alone."""
        self._ask("POST", f"{TASKS}/bulk_cancel", body={"task_ids": list(tasks)})

    def stop(self, tasks: Sequence[str]) -> None:
        """End tasks that are paused, which frees what they have locked."""
        self._ask("POST", f"{TASKS}/bulk_stop", body={"task_ids": list(tasks)})

    def wait_until_stopped(self, pk: str, seconds: float) -> ForemanTask:
        """Wait until a task has stopped, however. Raise StillGoesOn."""
        started = time.monotonic()
        while (task := self.task(pk)).state != "stopped":
            gone = time.monotonic() - started
            if gone > seconds:
                raise StillGoesOn(task, seconds)
            self.rest(gone)
        return task

    def rest(self, gone: float) -> None:
        """Wait before the next look at something that began `gone` seconds ago."""
        self._connection.rest(max(SHORTEST_WAIT, min(LONGEST_WAIT, WAIT_SHARE * gone)))

    def _begin(self, path: str, body: Mapping[str, Any], mark: str) -> ForemanTask:
        return read_task(self._ask("POST", path, body=body, mark=mark).json())

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        mark: str = "",
    ) -> Answer:
        """Ask, with a session; once more with the password, where the session has ended."""
        answer = self._send(method, path, query, body, mark)
        if answer.status == 401 and self._session:
            self._session = ""
            answer = self._send(method, path, query, body, mark)
        if answer.status >= 300:
            raise _refused(answer)
        self._keep_session(answer)
        return answer

    def _keep_session(self, answer: Answer) -> None:
        self._session = answer.cookies.get(SESSION, self._session)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
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
    said = answer.json()
    if not isinstance(said, dict) or not said.get("version"):
        raise Strange(f"{answer}, but names no version: {answer.shown}")
    return str(said["version"])


def _refused(answer: Answer) -> Answered:
    return refusal(answer, words_of(answer), "Katello", login_server="Foreman")


def words_of(answer: Answer) -> str:
    """Return what an answer says is wrong, in any form that Foreman and Katello have; a page says nothing."""
    try:
        said = answer.json()
    except Strange:
        return "" if "html" in answer.headers.get("Content-Type", "") else answer.shown
    if not isinstance(said, dict):
        return ""
    error = said.get("error")
    inner = error if isinstance(error, dict) else {"message": error}
    parts = [
        said.get("displayMessage") or said.get("message"),
        inner.get("message"),
        inner.get("details"),
        *_items(said.get("errors")),
        *_items(inner.get("full_messages")),
    ]
    texts = [" ".join(str(part).split()) for part in parts if part]
    return " ".join(dict.fromkeys(texts))


def _items(said: Any) -> list[Any]:
    return said if isinstance(said, list) else []
