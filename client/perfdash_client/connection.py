"""Asks the REST API. What is lost on the way is sent again, safely, for a bounded time.

Every POST carries an `Idempotency-Key`, which is the same when it is sent again: the server does it once.
"""

import gzip
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import certifi
import httpx

from perfdash_client import __version__
from perfdash_client.errors import ClientError, NoConnection
from perfdash_client.problems import Lines, is_passing, problem_of, refusal, silence, stranger
from perfdash_client.servers import Login

TIMEOUT = httpx.Timeout(60.0, connect=10.0)
PATIENCE_SECONDS = 60.0
COMPRESS_FROM = 10_000
"""Bytes of a body from which on it is sent compressed."""
BUSY = frozenset({429, 502, 503, 504})
LONGEST_REST = 15.0

Say = Callable[[str], None]


class Server:
    """A perfdash. Raises ClientError, whatever happens."""

    def __init__(
        self,
        login: Login,
        say: Say = lambda _: None,
        *,
        patience: float = PATIENCE_SECONDS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, self.say, self.patience = login.url, say, patience
        self.reached = False
        self._client = httpx.Client(
            base_url=f"{login.url}/api/v1/",
            headers={
                "Authorization": f"Bearer {login.token}",
                "Accept": "application/json",
                "User-Agent": f"perfdash-client/{__version__}",
            },
            timeout=TIMEOUT,
            transport=transport,
            verify=_authorities() if transport is None else True,
        )

    def get(self, path: str, **query: Any) -> Any:
        """Read something."""
        return self._json(self._ask("GET", path, query=query))

    def get_with_rest(self, path: str, **query: Any) -> tuple[dict[str, Any], float]:
        """Return the answer, and the seconds of Retry-After."""
        answer = self._ask("GET", path, query=query)
        return self._json(answer), retry_after(answer) or 0.0

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Read a list, page by page, by the links that the server gives."""
        page = self.get(path, **query)
        while True:
            yield from page["results"]
            following = page.get("next")
            if not following:
                return
            page = self._json(self._ask("GET", following))

    def post(
        self,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        lines: Lines | None = None,
        file: str = "",
    ) -> Any:
        """Send JSON. `lines` and `file`: where its fields are, for error messages."""
        content = b"" if body is None else json.dumps(body, allow_nan=False).encode()
        return self.send(
            path, content, "application/json", query=query or {}, lines=lines, file=file
        )

    def put(self, path: str, body: Any, *, lines: Lines | None = None, file: str = "") -> Any:
        """Replace something by JSON. `lines` and `file`: as for `post`."""
        content = json.dumps(body, allow_nan=False).encode()
        headers = {"Content-Type": "application/json"}
        return self._json(self._ask("PUT", path, content=content, headers=headers), lines, file)

    def delete(self, path: str) -> None:
        """Delete something."""
        answer = self._ask("DELETE", path)
        if not answer.is_success:
            raise refusal(answer)

    def send(
        self,
        path: str,
        content: bytes,
        media_type: str,
        *,
        query: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        compress: bool = False,
        lines: Lines | None = None,
        file: str = "",
    ) -> Any:
        """Send bytes of a media type; compressed where that is wanted and pays."""
        sent = {"Content-Type": media_type, "Idempotency-Key": str(uuid4()), **(headers or {})}
        if compress and len(content) >= COMPRESS_FROM:
            content, sent["Content-Encoding"] = gzip.compress(content, 6, mtime=0), "gzip"
        answer = self._ask("POST", path, query=query, content=content, headers=sent)
        return self._json(answer, lines, file)

    def read_bytes(self, path: str, accept: str = "*/*", **query: Any) -> httpx.Response:
        """Read a file. What is no 200 is refused."""
        answer = self._ask("GET", path, query=query, headers={"Accept": accept})
        if answer.is_success:
            return answer
        raise refusal(answer)

    def _json(self, answer: httpx.Response, lines: Lines | None = None, file: str = "") -> Any:
        if not answer.is_success:
            raise refusal(answer, lines, file)
        if "json" not in answer.headers.get("Content-Type", ""):
            raise stranger(answer)
        try:
            return answer.json()
        except ValueError:
            raise NoConnection(
                f"{self.url} sent what is called JSON and is none. Is there a proxy between?"
            ) from None

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Ask until there is an answer, or patience is at its end."""
        params = {name: value for name, value in (query or {}).items() if value is not None}
        end = monotonic() + self.patience
        tries = 0
        while True:
            try:
                answer = self._client.request(
                    method, path, params=params or None, content=content, headers=headers
                )
            except httpx.TransportError as error:
                problem: Exception = silence(error, self._client.base_url)
                wait = self._rest(tries) if self.reached and is_passing(error) else None
            except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
                raise NoConnection(f"{self.url} cannot be asked: {error}.") from None
            else:
                if answer.status_code not in BUSY:
                    self.reached = self.reached or problem_of(answer) is not None
                    return answer
                problem = refusal(answer)
                wanted = retry_after(answer)
                wait = self._rest(tries) if wanted is None else wanted
            tries += 1
            if wait is None:
                raise problem
            if monotonic() + wait > end:
                raise _impatient(problem, wait, self.patience)
            self.say(f"{_first(problem)} Trying again in {max(1, round(wait))} s.")
            sleep(wait)

    def _rest(self, tries: int) -> float:
        return float(min(LONGEST_REST, 2**tries))


def retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds of `Retry-After`, which is a number or an instant; None without it."""
    text = answer.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        instant = parsedate_to_datetime(text)
    except ValueError:
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return max(0.0, (instant - datetime.now(UTC)).total_seconds())


def _impatient(problem: Exception, wait: float, patience: float) -> Exception:
    """The last problem, and for how long it was borne."""
    problem.args = (
        f"{problem}\n  Given up: it would take {wait:.0f} s more, and --patience is {patience:.0f} s.",
    )
    return problem


def _first(problem: Exception) -> str:
    text = str(problem).partition("\n")[0]
    return text if isinstance(problem, ClientError) else repr(problem)


def _authorities() -> ssl.SSLContext:
    """Trust whom this machine trusts (also SSL_CERT_FILE), and the public authorities."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
