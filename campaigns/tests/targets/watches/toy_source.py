"""A source that needs nothing: it shows the frames that a test gives it."""

from time import monotonic

import pytest

from campaigns.targets.api import watches as api
from campaigns.targets.pages import targets as pages
from campaigns.targets.watches import registry
from campaigns.targets.watches.base import (
    ClockReading,
    Event,
    Frame,
    Key,
    Option,
    Source,
    WatchFailed,
)


class ToySource(Source):
    """Two counters and a gauge, as the class variables say."""

    name = "toy"
    label = "Toy"
    description = "Shows what a test gives it."
    needs = "nothing"
    address_help = "host:port"
    has_login = True
    steps = (0.5, 0.2)
    options = (
        Option("database", "Database", required=True),
        Option("deep", "Deep", type="boolean"),
    )
    failure: Exception | None = None

    def check_address(self, address: str) -> str:
        """Return the address in small letters."""
        host, colon, port = address.strip().lower().rpartition(":")
        if not (host and colon and port.isdecimal()):
            raise ValueError(f"“{address:.40}” is no address: write host:port.")
        return f"{host}:{port}"

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return both."""
        host, _, port = address.rpartition(":")
        return host, int(port)

    def sample(self, access, sink, stopped):
        """Show three frames, a second apart by its own clock."""
        if self.failure:
            raise self.failure
        sink.fact("cores", 2)
        sink.clock(ClockReading(monotonic(), monotonic() + 0.002, 1000.0))
        for number in range(3):
            values = {
                Key("group.cpu", "web"): 0.5 * number,
                Key("group.memory", "web"): 2e9,
                Key("memory.available"): 4e9,
                Key("pressure.cpu.some"): 0.1 * number,
            }
            sink.frame(Frame(1000.0 + number, monotonic(), values))
            sink.cost(0.01 * number)


class ToySsh(ToySource):
    """The same behind SSH."""

    name = "toy_ssh"
    label = "Toy by SSH"
    uses_ssh = True
    has_login = False
    options = ()  # type: ignore[assignment]

    def expected_events(self, access, span):
        """Return a timer in a minute, and one long afterwards."""
        if self.failure:
            raise self.failure
        return [
            Event("timer", "dnf-makecache.timer", span.begin + 60),
            Event("timer", "fstrim.timer", span.begin + 1e9),
        ]


@pytest.fixture
def toy_sources(monkeypatch):
    """Return the toy sources by name, which are the only ones while a test runs."""
    sources = {"toy": ToySource(), "toy_ssh": ToySsh()}
    for module in (registry, api, pages):
        monkeypatch.setattr(module, "all_sources", lambda: sources)
    return sources


__all__ = ["ToySource", "ToySsh", "WatchFailed", "toy_sources"]
