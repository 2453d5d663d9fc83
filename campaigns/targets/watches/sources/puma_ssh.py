"""Puma's control server on the target, by SSH: where it listens, and its token, are read from Puma's state file.

As `pumactl -S` does it. The token stays in memory.
"""

import json
from collections.abc import Callable
from time import monotonic
from urllib.parse import quote, urlsplit

from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Frame,
    Option,
    Sink,
    Source,
    WatchFailed,
)
from campaigns.targets.watches.over_ssh import (
    Place,
    Tunnel,
    loopback,
    path_of,
    ssh_address,
    ssh_place,
    tunnel,
)
from campaigns.targets.watches.polling import Missed, look_in_steps, wall_clock
from campaigns.targets.watches.queues import puma_values

NO_TOKEN = "none"  # noqa: S105 - how Puma says that it wants none


class PumaBySsh(Source):
    """Threads and backlog of Puma, from a control server that only its machine reaches."""

    name = "puma_ssh"
    reads = ("queues",)
    label = "Puma by SSH"
    description = (
        "Busy threads, their limit, and the backlog of Puma. With several workers, Puma renews these figures every five "
        "seconds."
    )
    needs = (
        "sshd that forwards sockets, a user who may read Puma's state file and open its control socket, and in Puma's "
        "configuration `state_path` and `activate_control_app`."
    )
    address_help = (
        "Host name or address of the machine, and the port of its sshd where it is not 22."
    )
    uses_ssh = True
    steps = (1.0, 0.5)
    options = (
        Option(
            "state_file",
            "State file",
            "Its path, as `state_path` has it, such as /usr/share/foreman/tmp/puma.state.",
            required=True,
        ),
    )

    def check_address(self, address: str) -> str:
        """Return the address as host, or host:port."""
        return ssh_address(address)

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where sshd listens."""
        return ssh_place(address)

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the statistics each step."""
        path = path_of(access.options.get("state_file"), "The state file")
        with tunnel(access) as way:
            watch = _Watch(way, path, sink)
            look_in_steps(watch.look, max(access.step_seconds, self.steps[1]), stopped)


source = PumaBySsh()


class _Watch:
    """Where one Puma listens, as long as it does."""

    def __init__(self, way: Tunnel, path: str, sink: Sink) -> None:
        self._way, self._path, self._sink = way, path, sink
        self._control: tuple[Place, str] | None = None

    def look(self) -> None:
        """Read once; the state file anew after a failure, since a Puma that starts again has another token."""
        if self._control is None:
            self._control = control_of(self._way.read_file(self._path).decode(errors="replace"))
        place, token = self._control
        query = f"?token={quote(token, safe='')}" if token else ""
        question = f"GET /stats{query} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        asked, wall = monotonic(), wall_clock()
        try:
            answer = self._way.ask(place, question.encode())
        except Missed:
            self._control = None
            raise
        answered = monotonic()
        head, _, body = answer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            self._control = None
            raise Missed("Puma's control server refuses the token of its state file, or has no statistics.", hopeless=True)  # fmt: skip
        try:
            values = puma_values(json.loads(body))
        except (ValueError, RecursionError):
            raise WatchFailed(
                "The control server of the state file gives no statistics of Puma."
            ) from None
        at = wall + (answered - asked) / 2
        self._sink.clock(ClockReading(asked, answered, at))
        self._sink.frame(Frame(at, answered, values))


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
