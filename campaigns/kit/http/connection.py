"""One connection to a server's REST API, of which each request can be aborted. No Django.

A request runs in a thread of its own. Where `check` raises, its socket is closed and the thread is left behind.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

from campaigns.kit.http import guarded
from campaigns.kit.http.credentials import Tls, context_of
from campaigns.kit.http.errors import (
    Answered,
    LoginRefused,
    NoAnswer,
    NotPermitted,
    Strange,
    Unavailable,
)
from campaigns.kit.http.failures import FAILURES, FileFailed, classified
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.mappings import Json
from campaigns.kit.network import Rules, check_url
from campaigns.kit.redaction import begin_of, redact

REST_SLICE_SECONDS = 0.2
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
MOST_BYTES = 32 * 1024 * 1024
SHOWN = 300
MARKUP = re.compile(r"<(script|style)\b.*?(</\1>|\Z)|<[^>]*(>|\Z)", re.DOTALL | re.IGNORECASE)
TITLE = re.compile(r"<title\b.*?(</title>|\Z)", re.DOTALL | re.IGNORECASE)
"""The body of a page about an error often says it once more."""
HARMLESS = ("GET", "HEAD")
"""Methods that change nothing on the server."""
REPEATABLE = "GET"
"""The method that is sent once more where the connection was lost: it changes nothing on the server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whatever its status; `sent_at` and `seconds` by the monotonic clock."""

    method: str
    url: str
    status: int
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    body: bytes
    seconds: float

    def json(self) -> Any:
        """Return the value of the body. Raise Strange where it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise Strange(f"{self} instead of JSON: {self.shown}") from None

    @property
    def shown(self) -> str:
        """The beginning of the body, for a message; of a web page its text only."""
        return shown_begin(self.body, self.headers)

    def __str__(self) -> str:
        kind = self.headers.get("Content-Type", "no content type").partition(";")[0]
        return f"{self.method} {self.url} answered {self.status} with {kind}"


def shown_begin(body: bytes, headers: Mapping[str, str]) -> str:
    """Return the beginning of a body, for a message; of a web page its text only."""
    # Markup is read of a bounded part alone; what is left of it may be short enough to be shown to its end.
    text = begin_of(body[: 8 * SHOWN].decode(errors="replace"), 4 * SHOWN)
    if "html" in headers.get("Content-Type", ""):
        text = _words_of(text)
    text = " ".join(text.split())
    return redact(text) if len(text) <= SHOWN else f"{begin_of(text, SHOWN)}…"


def _words_of(page: str) -> str:
    """Return the text of a web page; what its body says once more of its title is left out."""
    title = " ".join(MARKUP.sub(" ", "".join(found[0] for found in TITLE.finditer(page))).split())
    body = " ".join(MARKUP.sub(" ", TITLE.sub(" ", page)).split())
    number, _, words = title.partition(" ")
    for said in (title, words if number.isdecimal() else ""):
        body = body.replace(said, "") if said else body
    return f"{title} {body}"


class Connection:
    """A persistent connection to `base_url` only. Redirects are not followed.

    longest_seconds: how long the longest answer took. unanswered: how many seconds each change was waited for that the server may
    make although no answer came.
    """

    def __init__(
        self,
        base_url: str,
        rules: Rules,
        *,
        tls: Tls | None = None,
        check: Callable[[], None] = lambda: None,
        sender: str = "perfdash",
        most_per_second: float | None = None,
    ) -> None:
        """Raise BadCertificate. `check` is called again and again during a request; what it raises ends the request."""
        parts = urlsplit(base_url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.check = check
        self._rules = rules
        self._pacer = Pacer(most_per_second)
        self._tls = context_of(tls or Tls())
        self._sender = sender
        self.longest_seconds = 0.0
        self.unanswered: list[float] = []
        self._opened = guarded.Opened()
        self._session = guarded.checked_session(rules, self._tls, self._opened, sender)

    def close(self) -> None:
        """Abort the request that is running, and close the connection."""
        self._opened.break_off()
        self._session.close()

    def rest(self, seconds: float) -> None:
        """Sleep, and end at once where `check` raises."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, REST_SLICE_SECONDS))

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Json | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Answer:
        """Send a request to a path of the server; `body` goes as JSON.

        Raise Refused or BadUrl where the rules exclude the server, NoAnswer where none came.
        """
        url = f"{self.origin}{path}" + (f"?{urlencode(query)}" if query else "")
        check_url(url, self._rules)
        try:
            return self._ask(method, url, body, headers or {}, seconds)
        except NoAnswer as error:
            if error.failure != "connect" or method != REPEATABLE:
                raise
            self._renew()  # a server may close a persistent connection at any moment
            return self._ask(method, url, body, headers or {}, seconds)

    def _renew(self) -> None:
        """Close the connection; the next request opens another."""
        self.close()
        self._opened = guarded.Opened()
        self._session = guarded.checked_session(self._rules, self._tls, self._opened, self._sender)

    def _ask(
        self, method: str, url: str, body: Any, headers: Mapping[str, str], seconds: float
    ) -> Answer:
        self._wait_for_turn()
        data = None if body is None else json.dumps(body).encode()
        sent = dict(headers) | ({"Content-Type": "application/json"} if data is not None else {})

        def work() -> guarded.Answer:
            return guarded.exchange(
                self._session,
                method,
                url,
                data=data,
                headers=sent,
                timeout=(CONNECT_SECONDS, seconds),
                most_bytes=MOST_BYTES,
            )

        sent_at = time.monotonic()
        try:
            answer = guarded.watched(work, self.check, CONNECT_SECONDS + seconds)
        except guarded.TooLate:
            failed = FileFailed("timeout", f"no answer within {seconds:g} s")
        except guarded.EXPECTED as error:
            failed = classified(error, guarded.FAILURE_CLASSES)
        except FileFailed as error:
            failed = error
        except BaseException:
            self._leave_unanswered(method, sent_at)
            self.close()
            raise
        else:
            self.longest_seconds = max(self.longest_seconds, answer.seconds)
            if answer.ends:
                self._renew()  # a server may wait for our side to close, and serve nobody meanwhile
            cookies = _cookies(answer.cookies)
            return Answer(
                method, url, answer.status, answer.headers, cookies, answer.body, answer.seconds
            )
        self._leave_unanswered(method, sent_at)
        self._renew()
        raise NoAnswer(
            failed.failure,
            f"{method} {url} got no answer: {FAILURES[failed.failure]} ({failed}).",
        ) from failed

    def _leave_unanswered(self, method: str, sent_at: float) -> None:
        if method not in HARMLESS:
            self.unanswered.append(time.monotonic() - sent_at)

    def _wait_for_turn(self) -> None:
        requested_at = self._pacer.clock()
        while (left := self._pacer.left()) > 0 and self._pacer.per_second:
            self.check()
            time.sleep(min(left, guarded.LOOK_SECONDS))
        self.check()
        self._pacer.begin(requested_at)


def _cookies(lines: Iterable[str]) -> dict[str, str]:
    cookies: dict[str, str] = {}
    for line in lines:
        with suppress(CookieError):
            cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
    return cookies


def refusal(
    answer: Answer,
    server_message: str,
    server: str,
    *,
    login_server: str = "",
    fields: Mapping[str, Sequence[str]] | None = None,
) -> Answered:
    """Return the error that the status of an answer means.

    server: the name of what answers; login_server: of what checks logins, where that is another.
    fields: the server's messages by field.
    """
    request = f"{answer.method} {urlsplit(answer.url).path}"
    hint = f": {server_message}" if server_message else ""
    reason = server_message or "no reason given"
    message = f"{server} answered {answer.status} to {request}{hint}."
    match answer.status:
        case 401:
            text = f"{login_server or server} refuses the login ({reason})."
            return LoginRefused(401, server_message, text)
        case 403:
            return NotPermitted(403, server_message, f"The user may not {request} ({reason}).")
        case status if status >= 500:
            return Unavailable(status, server_message, message)
        case status:
            return Answered(status, server_message, message, fields)
