"""One connection to a server's REST API, for somebody who must stay able to stop at once. No Django.

Each request runs in a thread that is left behind when `check` raises; its socket is broken off.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from campaigns.kit.network import Rules, check_url

REST_SLICE_SECONDS = 0.2
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
MOST_BYTES = 32 * 1024 * 1024
SHOWN = 300
MARKUP = re.compile(r"<(script|style)\b.*?(</\1>|\Z)|<[^>]*(>|\Z)", re.DOTALL | re.IGNORECASE)
REPEATABLE = "GET"
"""What is asked once more where a kept connection was lost: it changes nothing on the server."""


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
        """Give what the body says. Raise Strange where it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Strange(f"{self} instead of JSON: {self.shown}") from None

    @property
    def shown(self) -> str:
        """The begin of the body, for a message; of a web page what is to be read."""
        text = self.body[: 4 * SHOWN].decode(errors="replace")
        if "html" in self.headers.get("Content-Type", ""):
            text = MARKUP.sub(" ", text)
        text = " ".join(text.split())
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"

    def __str__(self) -> str:
        kind = self.headers.get("Content-Type", "no content type").partition(";")[0]
        return f"{self.method} {self.url} answered {self.status} with {kind}"


class Connection:
    """A kept connection to `base_url` and nowhere else; redirects are not followed."""

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
        """Raise BadCertificate. `check` ends a request by what it raises; it is called all the while."""
        parts = urlsplit(base_url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.check = check
        self._rules = rules
        self._pacer = Pacer(most_per_second)
        self._tls = context_of(tls or Tls())
        self._sender = sender
        self._opened = guarded.Opened()
        self._session = guarded.checked_session(rules, self._tls, self._opened, sender)

    def close(self) -> None:
        """Break off what is under way, and close the connection."""
        self._opened.break_off()
        self._session.close()

    def rest(self, seconds: float) -> None:
        """Wait, and stop at once where `check` says so."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, REST_SLICE_SECONDS))

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
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
            self._renew()  # a server may close a kept connection at any moment
            return self._ask(method, url, body, headers or {}, seconds)

    def _renew(self) -> None:
        """Let go of what is open, and connect anew at the next request."""
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

        try:
            came = guarded.watched(work, self.check, CONNECT_SECONDS + seconds)
        except guarded.TooLate:
            failed = FileFailed("timeout", f"no answer within {seconds:g} s")
        except guarded.EXPECTED as error:
            failed = classified(error, guarded.FAILURE_CLASSES)
        except FileFailed as error:
            failed = error
        except BaseException:
            self.close()
            raise
        else:
            if came.ends:
                self._renew()  # a server may wait for our side to close, and serve nobody meanwhile
            return Answer(
                method,
                url,
                came.status,
                came.headers,
                _cookies(came.cookies),
                came.body,
                came.seconds,
            )
        self._renew()
        raise NoAnswer(
            failed.failure,
            f"{method} {url} got no answer: {FAILURES[failed.failure]} ({failed}).",
        ) from failed

    def _wait_for_turn(self) -> None:
        asked_at = self._pacer.clock()
        while (left := self._pacer.left()) > 0 and self._pacer.per_second:
            self.check()
            time.sleep(min(left, guarded.LOOK_SECONDS))
        self.check()
        self._pacer.begin(asked_at)


def _cookies(lines: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        try:
            found |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        except CookieError:
            continue
    return found


def refusal(
    answer: Answer,
    words: str,
    server: str,
    *,
    door: str = "",
    fields: Mapping[str, Sequence[str]] | None = None,
) -> Answered:
    """Say what a status means, in the server's words where it has any.

    server, door: what answers, and what looks after logins where that is something else.
    fields: what is wrong, by the field of what was sent.
    """
    asked = f"{answer.method} {urlsplit(answer.url).path}"
    hint = f": {words}" if words else ""
    reason = words or "no reason given"
    said = f"{server} answered {answer.status} to {asked}{hint}."
    match answer.status:
        case 401:
            return LoginRefused(401, words, f"{door or server} refuses the login ({reason}).")
        case 403:
            return NotPermitted(403, words, f"The user may not {asked} ({reason}).")
        case status if status >= 500:
            return Unavailable(status, words, said)
        case status:
            return Answered(status, words, said, fields or {})
