"""A client of the REST API of a Candlepin without Katello. No Django.

The status needs no login; organizations are called owners; errors have `displayMessage`; lists are JSON
arrays, with `page` and `per_page` in the query.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from campaigns.kinds.servers.katello import error_text
from campaigns.kit.http.connection import Answer, Connection, refusal
from campaigns.kit.http.credentials import Login
from campaigns.kit.http.errors import Strange
from campaigns.kit.mappings import JsonObject

PLACE = "/candlepin"
PAGE = 100
SHORTEST_WAIT, LONGEST_WAIT, WAIT_SHARE = 0.2, 2.0, 0.1
MOST_PAGES = 200
GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class Consumer:
    """A host that is registered at Candlepin."""

    uuid: str
    name: str


def place_of(base_url: str) -> str:
    """Return the path of Candlepin's API: that of the base URL, or the usual one."""
    return urlsplit(base_url).path.rstrip("/") or PLACE


class Candlepin:
    """Candlepin at the other end of a connection."""

    def __init__(self, connection: Connection, base_url: str, login: Login) -> None:
        self._connection = connection
        self._login = login
        self._root = place_of(base_url)

    def status(self) -> JsonObject:
        """Return the status. Raise ClientError."""
        data = self._ask("GET", "/status").json()
        if not isinstance(data, dict) or "version" not in data:
            raise Strange("What answers is no Candlepin: its status names no version.")
        return data

    def date(self) -> str | None:
        """Return the header Date of the server; None where there is none."""
        return self._ask("GET", "/status").headers.get("Date")

    def has_owner(self, key: str) -> bool:
        """Return whether there is an organization with this key; it needs a login."""
        return self._ask("GET", f"/owners/{quote(key, safe='')}", but=GONE).status not in GONE

    def activation_keys(self, owner: str) -> list[str]:
        """Return the names of an organization's activation keys."""
        data = self._ask("GET", f"/owners/{quote(owner, safe='')}/activation_keys").json()
        return [str(each.get("name")) for each in _list(data) if isinstance(each, dict)]

    def consumers(self, owner: str, prefix: str) -> Iterator[Consumer]:
        """Yield the consumers of an organization whose names begin with `prefix`."""
        for page in range(1, MOST_PAGES + 1):
            path = f"/owners/{quote(owner, safe='')}/consumers"
            rows = _list(self._ask("GET", path, {"page": page, "per_page": PAGE}).json())
            for each in rows:
                if isinstance(each, dict) and str(each.get("name", "")).startswith(prefix):
                    yield Consumer(str(each["uuid"]), str(each["name"]))
            if len(rows) < PAGE:
                return

    def rest(self, gone: float) -> None:
        """Wait before the next look for something that was expected `gone` seconds ago."""
        self._connection.rest(max(SHORTEST_WAIT, min(LONGEST_WAIT, WAIT_SHARE * gone)))

    def delete(self, uuid: str) -> None:
        """Delete a consumer; one that is gone already is no error."""
        self._ask("DELETE", f"/consumers/{quote(uuid, safe='')}", but=GONE)

    def _ask(
        self, method: str, path: str, query: JsonObject | None = None, but: tuple[int, ...] = ()
    ) -> Answer:
        headers = {"Accept": "application/json"}
        if self._login.username:
            headers |= self._login.header
        answer = self._connection.ask(method, f"{self._root}{path}", query=query, headers=headers)
        if answer.status >= 300 and answer.status not in but:
            raise refusal(answer, error_text(answer), "Candlepin")
        return answer


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise Strange(f"Candlepin gave no list: {str(data)[:200]}")
    return data
