"""Fetch one document under the network rules, with redirects to the same server. No Django."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from campaigns.kinds.programs.downloading import MOST_REDIRECTS, REDIRECTS, next_url
from campaigns.kit.http.failures import ANONYMOUS, FileFailed
from campaigns.kit.http.guarded import LOOK_SECONDS, Answer, TooLate, ask, location_of
from campaigns.kit.http.pacing import Pacer
from campaigns.kit.network import Rules, check_url, origin_of

__all__ = ["Answer", "Limits", "fetch"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The longest times of a fetch in seconds, its largest size, and whether it follows redirects."""

    connect_timeout_seconds: float = 5.0
    read_timeout_seconds: float = 10.0
    total_seconds: float = 30.0
    most_bytes: int = 1024 * 1024
    follow: bool = True


def fetch(
    url: str,
    rules: Rules,
    check: Callable[[], None],
    limits: Limits,
    method: str = "GET",
    sender: str = ANONYMOUS,
    most_per_second: float | None = None,
    read: Callable[[Iterator[bytes]], None] | None = None,
    tls: ssl.SSLContext | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Fetch a document. `check` is called all the while, and ends the fetch by what it raises.

    read: takes the body of an answer of 200 piece by piece, in another thread; it is not kept then.
    tls, headers: of each request at scheme, host and port of the URL; a redirect leads to no other server, and not with them to another scheme.

    Raise Refused or BadUrl for a URL that the rules exclude, FileFailed where no answer came, the
    time was over (class `timeout`), or the body is longer than `limits.most_bytes` (class `size`).
    Waiting for `most_per_second` does not count as its time.
    """
    check_url(url, rules)
    origin = origin_of(url)
    pacer = Pacer(most_per_second)
    _wait_for_turn(pacer, check)
    longest = limits.total_seconds + MOST_REDIRECTS * pacer.distance_seconds
    end = time.monotonic() + longest
    started, hops = time.perf_counter(), 0
    while True:
        pacer.begin(pacer.clock())
        try:
            answer = ask(
                method,
                url,
                rules,
                seconds=end - time.monotonic(),
                check=check,
                sender=sender,
                timeout=(limits.connect_timeout_seconds, limits.read_timeout_seconds),
                most_bytes=limits.most_bytes,
                unread=REDIRECTS if limits.follow else (),
                read=read,
                tls=tls if origin_of(url) == origin else None,
                headers=dict(headers or {}) if origin_of(url) == origin else {},
            )
        except TooLate:
            raise FileFailed(
                "timeout", f"{url} took more than {limits.total_seconds:g} s"
            ) from None
        if not (limits.follow and answer.status in REDIRECTS):
            return replace(answer, seconds=time.perf_counter() - started)
        url = next_url(url, location_of(answer.headers), rules, hops)
        hops += 1
        _wait_for_turn(pacer, check)


def _wait_for_turn(pacer: Pacer, check: Callable[[], None]) -> None:
    while (left := pacer.left()) > 0:
        check()
        time.sleep(min(left, LOOK_SECONDS))
    check()
