"""HAProxy's statistics as CSV: over HTTP, or from its runtime socket, on a TCP port or by SSH."""

import socket
from collections.abc import Callable
from time import monotonic
from urllib.parse import urlsplit

from campaigns.kit.checked_addresses import allowed_addresses
from campaigns.kit.network import NetworkError, parse_url
from campaigns.targets.watches.base import SSH, Access, Frame, Option, Sink, Source, WatchFailed
from campaigns.targets.watches.over_ssh import path_of, ssh_address, ssh_place, tunnel
from campaigns.targets.watches.polling import Missed, look_in_steps
from campaigns.targets.watches.queues import haproxy_values
from campaigns.targets.watches.web import (
    LOOK_SECONDS,
    MOST_BYTES,
    Got,
    Web,
    answer_of,
    expect_ok,
    web_address,
    web_place,
)

RUNTIME = "tcp://"
SHOW_STAT = b"show stat\n"


class HAProxy(Source):
    """Sessions, limits and queues of HAProxy."""

    name = "haproxy"
    reads = ("queues",)
    label = "HAProxy"
    description = (
        "Sessions in use, their limits, and who waits in the queues of HAProxy's backends."
    )
    needs = (
        "A `stats` page in HAProxy's configuration (`stats enable`), or a runtime socket, whose level `user` suffices: on a TCP "
        "port, or by SSH with sshd that forwards sockets and a user who may open it."
    )
    address_help = (
        "The URL of its statistics, such as http://proxy.example:8404/stats; tcp://host:port of its runtime socket; "
        "or ssh://host of its machine, where that socket is opened by SSH."
    )
    has_login = True
    may_use_ssh = True
    steps = (1.0, 0.5)
    options = (
        Option(
            "socket",
            "Runtime socket",
            "With ssh://: its path, as `stats socket` has it.",
            initial="/run/haproxy/admin.sock",
            required_by_ssh=True,
        ),
    )

    def check_address(self, address: str) -> str:
        """Return the URL of the statistics, without `;csv`; or tcp://host:port, or ssh://host."""
        written = address.strip().removesuffix(";csv")
        if written.startswith(SSH):
            return f"{SSH}{ssh_address(written)}"
        if not written.startswith(RUNTIME):
            return web_address(written, "/stats")
        host, port = _runtime_place(written)
        return f"{RUNTIME}{f'[{host}]' if ':' in host else host}:{port}"

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it, or sshd, listens."""
        form = self.check_address(address)
        if form.startswith(SSH):
            return ssh_place(form)
        return _runtime_place(form) if form.startswith(RUNTIME) else web_place(form)

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the statistics each step."""
        step = max(access.step_seconds, self.steps[1])

        def look_in_steps_at(ask: Callable[[], Got]) -> None:
            look_in_steps(lambda: _look(ask(), sink), step, stopped)

        if access.address.startswith(RUNTIME):
            look_in_steps_at(lambda: answer_of(lambda: _show_stat(access)))
        elif self.is_by_ssh(access.address):
            path = path_of(access.options.get("socket"), "The runtime socket")
            with tunnel(access) as way:
                look_in_steps_at(lambda: answer_of(lambda: way.ask(path, SHOW_STAT)))
        else:
            with Web(access) as web:
                look_in_steps_at(lambda: web.get(f"{access.address};csv"))


source = HAProxy()


def _runtime_place(address: str) -> tuple[str, int]:
    """Return host and port of tcp://host:port. Raise BadUrl."""
    endpoint = parse_url(f"http://{address.removeprefix(RUNTIME)}")
    if urlsplit(address).port is None:
        raise ValueError(f"The address {address!r} has no port; write tcp://host:port.")
    return endpoint.host, endpoint.port


def _look(got: Got, sink: Sink) -> None:
    expect_ok(got, "HAProxy", "check the address of its statistics page (`stats uri`)")
    try:
        values = haproxy_values(got.text.lstrip())
    except ValueError:
        raise WatchFailed(
            "The answer is no statistics of HAProxy: check the address, or the path of its socket."
        ) from None
    sink.frame(Frame(got.read_clock(sink), got.answered, values))


def _show_stat(access: Access) -> bytes:
    """Return the answer to `show stat`, after which HAProxy closes the connection. Raise Missed, WatchFailed."""
    host, port = _runtime_place(access.address)
    ends = monotonic() + LOOK_SECONDS
    answer = bytearray()
    try:
        place = allowed_addresses(host, port, access.rules)[0]
        with socket.create_connection((place, port), timeout=LOOK_SECONDS) as made:
            made.sendall(SHOW_STAT)
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
    return bytes(answer)
