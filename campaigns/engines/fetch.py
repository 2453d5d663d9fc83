"""Fetch one small document under the rules, for a keeper that must stay able to stop at once.

No Django. Not a program: the request runs in a thread that is left behind when somebody cancels;
its connections are broken off, and its timeouts end it at the latest.
"""

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass

from campaigns.engines.checked_requests import (
    EXPECTED,
    FAILURE_CLASSES,
    Opened,
    checked_session,
    location_of,
)
from campaigns.engines.downloading import (
    ANONYMOUS,
    CHUNK_BYTES,
    MOST_REDIRECTS,
    REDIRECTS,
    classified,
    next_url,
)
from campaigns.engines.pacing import Pacer
from campaigns.engines.transfers import FileFailed, refuse_length
from campaigns.network import Rules, check_url

LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a fetch may take (seconds), how much it may bring, and whether it is led further."""

    connect_timeout_seconds: float = 5.0
    read_timeout_seconds: float = 10.0
    total_seconds: float = 30.0
    most_bytes: int = 1024 * 1024
    follow: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whatever its status. `url` is where redirects have led."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


def fetch(
    url: str,
    rules: Rules,
    check: Callable[[], None],
    limits: Limits,
    method: str = "GET",
    sender: str = ANONYMOUS,
    most_per_second: float | None = None,
) -> Answer:
    """Fetch a document. `check` ends it by what it raises; it is called all the while.

    Raise Refused or BadUrl for a URL that the rules exclude, FileFailed where no answer came, the
    time was over (class `timeout`), or the body is longer than `limits.most_bytes` (class `size`).
    Waiting for `most_per_second` does not count as its time.
    """
    check_url(url, rules)
    pacer = Pacer(most_per_second)
    while (left := pacer.left()) > 0:
        check()
        time.sleep(min(left, LOOK_SECONDS))
    longest = limits.total_seconds + MOST_REDIRECTS * pacer.distance_seconds
    work = _Fetch(url, rules, check, limits, method, sender, pacer)
    started = time.monotonic()
    try:
        while wait((work.answer,), LOOK_SECONDS).not_done:
            check()
            if time.monotonic() - started > longest:
                raise FileFailed("timeout", f"{url} took more than {limits.total_seconds:g} s")
        return work.answer.result()
    except EXPECTED as error:
        raise classified(error, FAILURE_CLASSES) from error
    finally:
        work.opened.break_off()


class _Fetch:
    """The thread that waits for the network."""

    def __init__(
        self,
        url: str,
        rules: Rules,
        check: Callable[[], None],
        limits: Limits,
        method: str,
        sender: str,
        pacer: Pacer,
    ) -> None:
        self.answer: Future[Answer] = Future()
        self.opened = Opened(check)
        self._pacer = pacer
        self._given = (url, rules, limits, method, sender)
        self._check = check
        threading.Thread(target=self._run, name="fetch", daemon=True).start()

    def _run(self) -> None:
        try:
            self.answer.set_result(self._fetch(*self._given))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.answer.set_exception(error)

    def _fetch(self, url: str, rules: Rules, limits: Limits, method: str, sender: str) -> Answer:
        started = time.perf_counter()
        timeout = (limits.connect_timeout_seconds, limits.read_timeout_seconds)
        hops = 0
        with checked_session(rules, _tls(url), self.opened, sender) as session:
            while True:
                self._wait_for_turn()
                with session.request(
                    method, url, stream=True, allow_redirects=False, timeout=timeout
                ) as response:
                    if limits.follow and response.status_code in REDIRECTS:
                        url = next_url(url, location_of(response), rules, hops)
                        hops += 1
                        continue
                    refuse_length(response.headers.get("Content-Length", ""))
                    body = bytearray()
                    for chunk in response.raw.stream(CHUNK_BYTES, decode_content=False):
                        body += chunk
                        if len(body) > limits.most_bytes:
                            raise FileFailed("size", f"more than {limits.most_bytes} bytes")
                    return Answer(
                        url,
                        response.status_code,
                        dict(response.headers),
                        bytes(body),
                        time.perf_counter() - started,
                    )

    def _wait_for_turn(self) -> None:
        """Wait until the rate allows one more request. Raise BrokenOff, or what `check` raises."""
        while (left := self._pacer.left()) > 0:
            self.opened.pause(left)
        self._check()
        self._pacer.begin(self._pacer.clock())


def _tls(url: str) -> ssl.SSLContext:
    """Give what trusts the usual certificates; nobody's, and 50 ms sooner, where no TLS is asked."""
    if url.lower().startswith("https:"):
        return ssl.create_default_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
