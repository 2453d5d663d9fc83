"""HAProxy's statistics as CSV: over HTTP, or from its runtime socket where that listens on a TCP port."""

import socket
from collections.abc import Callable
from time import monotonic
from urllib.parse import urlsplit

from campaigns.kit import name_service
from campaigns.kit.network import NetworkError, parse_url
from campaigns.targets.watches.base import Access, ClockReading, Frame, Sink, Source, WatchFailed
from campaigns.targets.watches.polling import Missed, look_in_steps, wall_clock
from campaigns.targets.watches.queues import haproxy_values
from campaigns.targets.watches.web import (
    LOOK_SECONDS,
    MOST_BYTES,
    Web,
    expect_ok,
    web_address,
    web_place,
)

RUNTIME = "tcp://"
NO_STATISTICS = "The answer is no statistics of HAProxy: check the address."


class HAProxy(Source):
    """Sessions, limits and queues of HAProxy."""

    name = "haproxy"
    reads = ("queues",)
    label = "HAProxy"
    description = (
        "Sessions in use, their limits, and who waits in the queues of HAProxy's backends."
    )
    needs = "A `stats` page in HAProxy's configuration (`stats enable`), or a runtime socket on a TCP port."
    address_help = (
        "The URL of its statistics, such as http://proxy.example:8404/stats; or tcp://host:port of its runtime "
        "socket. A socket of files: choose “HAProxy by SSH”."
    )
    has_login = True
    steps = (1.0, 0.5)

    def check_address(self, address: str) -> str:
        """Return the URL of the statistics, without `;csv`; or tcp://host:port."""
        written = address.strip().removesuffix(";csv")
        if not written.startswith(RUNTIME):
            return web_address(written, "/stats")
        host, port = _runtime_place(written)
        return f"{RUNTIME}{f'[{host}]' if ':' in host else host}:{port}"

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        form = self.check_address(address)
        return _runtime_place(form) if form.startswith(RUNTIME) else web_place(form)

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the statistics each step."""
        step = max(access.step_seconds, self.steps[1])
        if access.address.startswith(RUNTIME):
            look_in_steps(lambda: _look_at_socket(access, sink), step, stopped)
            return
        with Web(access) as web:
            look_in_steps(lambda: _look(web, access.address, sink), step, stopped)


source = HAProxy()


def _runtime_place(address: str) -> tuple[str, int]:
    """Return host and port of tcp://host:port. Raise BadUrl."""
    endpoint = parse_url(f"http://{address.removeprefix(RUNTIME)}")
    if urlsplit(address).port is None:
        raise ValueError(f"The address {address!r} has no port; write tcp://host:port.")
    return endpoint.host, endpoint.port


def _look(web: Web, url: str, sink: Sink) -> None:
    got = web.get(f"{url};csv")
    expect_ok(got, "HAProxy", "check the address of its statistics page (`stats uri`)")
    try:
        values = haproxy_values(got.text)
    except ValueError:
        raise WatchFailed(NO_STATISTICS) from None
    sink.frame(Frame(got.read_clock(sink), got.answered, values))


def _look_at_socket(access: Access, sink: Sink) -> None:
    asked, wall = monotonic(), wall_clock()
    text = _show_stat(access)
    answered = monotonic()
    try:
        values = haproxy_values(text)
    except ValueError:
        raise WatchFailed(NO_STATISTICS) from None
    at = wall + (answered - asked) / 2
    sink.clock(ClockReading(asked, answered, at))
    sink.frame(Frame(at, answered, values))


def _show_stat(access: Access) -> str:
    """Return the answer to `show stat`, after which HAProxy closes the connection. Raise Missed, WatchFailed."""
    host, port = _runtime_place(access.address)
    ends = monotonic() + LOOK_SECONDS
    answer = bytearray()
    try:
        found = name_service.resolve(host, port)
        place = access.rules.allowed_of(found, port, host)[0]
        with socket.create_connection((place, port), timeout=LOOK_SECONDS) as made:
            made.sendall(b"show stat\n")
            while part := made.recv(65536):
                answer += part
                if len(answer) > MOST_BYTES:
                    raise WatchFailed("HAProxy's answer is too long.")
                made.settimeout(max(0.001, ends - monotonic()))
    except NetworkError as error:
        raise WatchFailed(str(error)) from None
    except TimeoutError:
        raise Missed(f"HAProxy gave no answer within {LOOK_SECONDS:g} s.") from None
    except OSError as error:
        raise Missed(
            f"HAProxy at {access.address} gave no answer: {error}.", hopeless=True
        ) from None
    return answer.decode(errors="replace").lstrip()
