"""Puma's control server: busy threads and the backlog.

By SSH, where it listens, and its token, are read from Puma's state file, as `pumactl -S` does it. The token stays in memory.
"""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote, urlencode, urlsplit

from campaigns.targets.watches.base import SSH, Access, Frame, Option, Sink, Source, WatchFailed
from campaigns.targets.watches.over_ssh import (
    Place,
    Tunnel,
    loopback,
    path_of,
    ssh_address,
    ssh_place,
    tunnel,
)
from campaigns.targets.watches.polling import Missed, look_in_steps
from campaigns.targets.watches.queues import puma_values
from campaigns.targets.watches.web import (
    Got,
    Web,
    answer_of,
    expect_ok,
    web_address,
    web_place,
)

NO_TOKEN = "none"  # noqa: S105 - how Puma says that it wants none


class Puma(Source):
    """Threads and backlog of Puma."""

    name = "puma"
    reads = ("queues",)
    label = "Puma"
    description = (
        "Busy threads, their limit, and the backlog of Puma. With several workers, Puma renews these figures every five "
        "seconds."
    )
    needs = (
        "Puma's control server on a TCP port (`activate_control_app 'tcp://0.0.0.0:9293'`); or, by SSH, `activate_control_app` "
        "and `state_path`, sshd that forwards sockets, and a user who may read the state file and open the control socket."
    )
    address_help = (
        "http://host:port of the control server, and its token, if it has one, as the password. A socket of files, or "
        "a control server on loopback: ssh://host of its machine."
    )
    has_login = True
    may_use_ssh = True
    steps = (1.0, 0.5)
    options = (
        Option(
            "state_file",
            "State file",
            "With ssh://: its path, as `state_path` has it, such as /usr/share/foreman/tmp/puma.state.",
            required_by_ssh=True,
        ),
    )

    def check_address(self, address: str) -> str:
        """Return the URL of the control server's statistics, or ssh://host."""
        written = address.strip()
        if written.startswith(SSH):
            return f"{SSH}{ssh_address(written)}"
        return web_address(written, "/stats")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it, or sshd, listens."""
        form = self.check_address(address)
        return ssh_place(form) if form.startswith(SSH) else web_place(form)

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the statistics each step."""
        step = max(access.step_seconds, self.steps[1])

        def look_in_steps_at(ask: Callable[[], Got]) -> None:
            look_in_steps(lambda: _look(ask(), sink), step, stopped)

        if self.is_by_ssh(access.address):
            path = path_of(access.options.get("state_file"), "The state file")
            with tunnel(access) as way:
                look_in_steps_at(_Control(way, path).ask)
            return
        secret = urlencode({"token": access.password}) if access.password else ""
        with Web(access) as web:
            look_in_steps_at(lambda: web.get(access.address, secret=secret))


source = Puma()


def _look(got: Got, sink: Sink) -> None:
    if got.status == 403:
        raise Missed(
            "Puma refuses the control token: give it as the watch's password.", hopeless=True
        )
    expect_ok(got, "Puma", "check the address of its control server")
    try:
        values = puma_values(got.json())
    except ValueError:
        raise WatchFailed(
            "The answer is no statistics of Puma: check the address, or the path of its state file."
        ) from None
    sink.frame(Frame(got.read_clock(sink), got.answered, values))


class _Control:
    """The control server that a state file names, as long as it listens there."""

    def __init__(self, way: Tunnel, state_file: str) -> None:
        self._way, self._state_file = way, state_file
        self._known: tuple[Place, str] | None = None

    def ask(self) -> Got:
        """Return its statistics. After a failure the state file is read anew: a Puma that starts again has another token."""
        if self._known is None:
            state = self._way.read_file(self._state_file).decode(errors="replace")
            self._known = control_of(state)
        place, token = self._known
        query = f"?token={quote(token, safe='')}" if token else ""
        question = f"GET /stats{query} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        try:
            got = answer_of(lambda: self._way.ask(place, question.encode()))
        except Missed:
            self._known = None
            raise
        head, _, body = got.body.partition(b"\r\n\r\n")
        if head.split(b" ", 2)[1:2] != [b"200"]:
            self._known = None
            raise Missed("Puma's control server refuses the token of its state file, or has no statistics.", hopeless=True)  # fmt: skip
        return replace(got, body=body)


def control_of(state: str) -> tuple[Place, str]:
    """Return where the control server of a state file listens, and its token. Raise WatchFailed."""
    fields = {}
    for line in state.splitlines()[:100]:
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip()] = value.strip().strip("\"'")
    token = fields.get("control_auth_token", "")
    try:
        url = urlsplit(fields.get("control_url", ""))
        port = url.port
    except ValueError:
        url, port = urlsplit(""), None
    match url.scheme:
        case "unix" if url.path:
            place: Place = path_of(f"/{url.netloc}{url.path}" if url.netloc else url.path, "The control socket")  # fmt: skip
        case "tcp" if url.hostname and port:
            place = loopback(url.hostname, port)
        case _:
            raise WatchFailed(
                "The state file names no control server of Puma: `activate_control_app` has to be in its configuration."
            )
    return place, "" if token == NO_TOKEN else token
