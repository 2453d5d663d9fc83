"""What sources over HTTP share: their addresses, and requests with bounded time and bytes. Pure.

Every connection is checked by the network's rules. Credentials go into a header, and into no message.
"""

import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from campaigns.kit.http import guarded
from campaigns.kit.http.credentials import BadCertificate, Login, context_of
from campaigns.kit.http.failures import FAILURES, FileFailed, classified
from campaigns.kit.network import WEB_SCHEMES, BadUrl, NetworkError, check_url, parse_url
from campaigns.targets.watches.base import Access, ClockReading, Sink, WatchFailed
from campaigns.targets.watches.polling import Missed, wall_clock

SENDER = "perfdash watch"
LOOK_SECONDS = 2.0
MOST_BYTES = 8 * 1024 * 1024
SHOWN = 200
WHY = FAILURES | {
    "connect": "no connection, or it was lost before the answer was whole",
    "timeout": "no answer in time",
    "size": "the answer is too long",
}
"""The meaning of each class of failure, of an answer instead of a file."""


def web_address(address: str, path: str) -> str:
    """Return the URL of an address, with `path` where it has none. Raise BadUrl with a message for a form."""
    written = address.strip()
    if "://" not in written:
        written = f"http://{written}"
    endpoint = parse_url(written)
    parts = urlsplit(written)
    if parts.query or parts.fragment:
        raise BadUrl(
            f"The address {written!r} has a part after ? or #; leave it out: perfdash adds what the source needs."
        )
    place = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.scheme}://{place}:{endpoint.port}{parts.path.rstrip('/') or path}"


def web_place(address: str) -> tuple[str, int]:
    """Return host and port of a URL. Raise BadUrl."""
    endpoint = parse_url(address, WEB_SCHEMES)
    return endpoint.host, endpoint.port


@dataclass(frozen=True, slots=True)
class Got:
    """An answer: its body, and when it was asked for and had come, by the worker's monotonic clock.

    wall: seconds since the epoch in the middle between the two, by the worker's clock.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    asked: float
    answered: float
    wall: float

    @property
    def text(self) -> str:
        """The body as text; bytes that are no UTF-8 are replaced."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """Return the value of the body. Raise ValueError where it is not JSON."""
        try:
            return json.loads(self.body)
        except RecursionError:
            raise ValueError("too deep") from None

    def read_clock(self, sink: Sink, clock: float | None = None) -> float:
        """Tell the sink the source's clock, and return it.

        Without one: a gauge without an instant was read between question and answer, which is as good as the worker's own clock.
        """
        known = self.wall if clock is None else clock
        sink.clock(ClockReading(self.asked, self.answered, known))
        return known


def answer_of(ask: Callable[[], bytes]) -> Got:
    """Ask a socket, and return its answer."""
    asked, wall = monotonic(), wall_clock()
    body = ask()
    answered = monotonic()
    return Got(200, {}, body, asked, answered, wall + (answered - asked) / 2)


class Web:
    """A persistent connection to a source. Close it, or use it in a `with`."""

    def __init__(self, access: Access, *, seconds: float | None = None) -> None:
        """Raise WatchFailed where the rules exclude the address, or the CA bundle cannot be read.

        seconds: for connecting, and for the whole answer.
        """
        self._access, self._seconds = access, seconds or LOOK_SECONDS
        try:
            endpoint = check_url(access.address, access.rules)
            context = (
                context_of(access.tls)
                if endpoint.scheme == "https"
                else ssl.SSLContext(
                    ssl.PROTOCOL_TLS_CLIENT
                )  # without certificates, which take 50 ms to load
            )
        except (NetworkError, BadCertificate) as error:
            raise WatchFailed(str(error)) from None
        self._limit = guarded.Limit(self._seconds)
        self._session = guarded.checked_session(
            access.rules, context, sender=SENDER, limit=self._limit
        )

    def __enter__(self) -> "Web":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._session.close()

    def get(self, url: str, secret: str = "") -> Got:
        """Return the answer to GET, whatever its status. Raise Missed.

        secret: a part of the query that is no part of any message.
        """
        return self._ask("GET", url, MOST_BYTES, secret, None)

    def post(self, url: str, form: Mapping[str, str], most_bytes: int) -> Got:
        """Return the answer to a form sent by POST, whatever its status. Raise Missed."""
        return self._ask("POST", url, most_bytes, "", form)

    def _ask(
        self, method: str, url: str, most_bytes: int, secret: str, form: Mapping[str, str] | None
    ) -> Got:
        access = self._access
        headers = {} if secret else _login(access)
        sent = f"{url}{'&' if '?' in url else '?'}{secret}" if secret else url
        asked, wall = monotonic(), wall_clock()
        self._limit.begin()
        try:
            answer = guarded.exchange(
                self._session,
                method,
                sent,
                headers=headers,
                data=form,
                timeout=(self._seconds, self._seconds),
                most_bytes=most_bytes,
            )
        except (*guarded.EXPECTED, FileFailed) as error:
            failed = classified(error, guarded.FAILURE_CLASSES)
            self._session.close()
            raise Missed(
                f"{method} {_shown(url)} got no answer: {_reason(failed, self._seconds)}.",
                hopeless=failed.failure not in ("timeout", "generator"),
            ) from None
        answered = monotonic()
        middle = wall + (answered - asked) / 2
        return Got(answer.status, answer.headers, answer.body, asked, answered, middle)


def _login(access: Access) -> dict[str, str]:
    """Return the header of basic authentication; without a user name the password is a bearer token."""
    if not access.password and not access.username:
        return {}
    if access.username:
        return Login(access.username, access.password).header
    return {"Authorization": f"Bearer {access.password}"}


def _shown(url: str) -> str:
    return url.partition("?")[0]


def _reason(failed: FileFailed, seconds: float) -> str:
    match failed.failure:
        case "timeout":
            return f"it did not come within {seconds:g} s"
        case "address":
            return str(failed).rstrip(".")
        case "connect" if "refused" in str(failed):
            return "connection refused; check that it runs and listens there"
        case name:
            return WHY[name]


def expect_ok(got: Got, what: str, advice: str) -> None:
    """Raise Missed where the status is not 200. what: the name of the source; advice: what to check."""
    match got.status:
        case 200:
            return
        case 401 | 403:
            text = "it refuses the login: check user name and password"
        case 301 | 302 | 303 | 307 | 308:
            text = "it redirects elsewhere, which is not followed: give the address where it leads"
        case 404:
            text = f"there is no such page: {advice}"
        case _:
            text = advice
    raise Missed(f"{what} answered {got.status}; {text}.", hopeless=got.status < 500)
