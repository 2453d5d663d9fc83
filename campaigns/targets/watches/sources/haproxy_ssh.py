"""HAProxy's runtime socket on the target, by SSH."""

from collections.abc import Callable
from time import monotonic

from campaigns.targets.watches.base import (
    Access,
    ClockReading,
    Frame,
    Option,
    Sink,
    Source,
    WatchFailed,
)
from campaigns.targets.watches.over_ssh import path_of, ssh_address, ssh_place, tunnel
from campaigns.targets.watches.polling import look_in_steps, wall_clock
from campaigns.targets.watches.queues import haproxy_values


class HAProxyBySsh(Source):
    """Sessions, limits and queues of HAProxy, from its socket of files."""

    name = "haproxy_ssh"
    reads = ("queues",)
    label = "HAProxy by SSH"
    description = "Sessions in use, their limits, and who waits in the queues of HAProxy's backends, from its runtime socket."
    needs = "sshd that forwards sockets, and a user who may open HAProxy's runtime socket; its level `user` suffices."
    address_help = (
        "Host name or address of the machine, and the port of its sshd where it is not 22."
    )
    uses_ssh = True
    steps = (1.0, 0.5)
    options = (
        Option(
            "socket",
            "Runtime socket",
            "Its path, as `stats socket` has it.",
            initial="/run/haproxy/admin.sock",
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
        path = path_of(access.options.get("socket"), "The runtime socket")

        def look() -> None:
            asked, wall = monotonic(), wall_clock()
            answer = way.ask(path, b"show stat\n")
            answered = monotonic()
            try:
                values = haproxy_values(answer.decode(errors="replace").lstrip())
            except ValueError:
                raise WatchFailed(
                    f"{path} gives no statistics of HAProxy: check the path."
                ) from None
            at = wall + (answered - asked) / 2
            sink.clock(ClockReading(asked, answered, at))
            sink.frame(Frame(at, answered, values))

        with tunnel(access) as way:
            look_in_steps(look, max(access.step_seconds, self.steps[1]), stopped)


source = HAProxyBySsh()
