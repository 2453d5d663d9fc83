"""Puma's control server over HTTP: busy threads and the backlog."""

from collections.abc import Callable
from urllib.parse import urlencode

from campaigns.targets.watches.base import Access, Frame, Sink, Source, WatchFailed
from campaigns.targets.watches.polling import Missed, look_in_steps
from campaigns.targets.watches.queues import puma_values
from campaigns.targets.watches.web import Web, expect_ok, web_address, web_place


class Puma(Source):
    """Threads and backlog of Puma."""

    name = "puma"
    reads = ("queues",)
    label = "Puma"
    description = (
        "Busy threads, their limit, and the backlog of Puma. With several workers, Puma renews these figures every five "
        "seconds."
    )
    needs = "Puma's control server on a TCP port (`activate_control_app 'tcp://0.0.0.0:9293'`)."
    address_help = (
        "http://host:port of the control server. Its token, if it has one: as the password. A socket of files, or "
        "a control server on loopback: choose “Puma by SSH”."
    )
    has_login = True
    steps = (1.0, 0.5)

    def check_address(self, address: str) -> str:
        """Return the URL of the control server's statistics."""
        return web_address(address, "/stats")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the statistics each step."""
        secret = urlencode({"token": access.password}) if access.password else ""

        def look() -> None:
            got = web.get(access.address, secret=secret)
            if got.status == 403:
                raise Missed(
                    "Puma refuses the control token: give it as the watch's password.",
                    hopeless=True,
                )
            expect_ok(got, "Puma", "check the address of its control server")
            try:
                values = puma_values(got.json())
            except ValueError:
                raise WatchFailed(
                    "The answer is no statistics of Puma: check the address."
                ) from None
            sink.frame(Frame(got.read_clock(sink), got.answered, values))

        with Web(access) as web:
            look_in_steps(look, max(access.step_seconds, self.steps[1]), stopped)


source = Puma()
