"""Apache's mod_status: how many of its workers are busy."""

from collections.abc import Callable

from campaigns.targets.watches.base import Access, Frame, Key, Option, Sink, Source, WatchFailed
from campaigns.targets.watches.catalog import THREADS
from campaigns.targets.watches.polling import look_in_steps
from campaigns.targets.watches.queues import count_of, queue_values
from campaigns.targets.watches.web import Web, expect_ok, web_address, web_place

FACTS = {"ServerVersion": "apache.version", "ServerMPM": "apache.mpm"}


class Apache(Source):
    """Busy workers of Apache."""

    name = "apache"
    reads = ("queues",)
    label = "Apache"
    description = "Busy and idle workers of Apache, and its requests."
    needs = "mod_status, with a <Location> that lets the worker's machine read it (`Require ip …`)."
    address_help = "The URL of its status page, such as http://web.example/server-status"
    has_login = True
    steps = (1.0, 0.5)
    options = (
        Option(
            "max_workers",
            "MaxRequestWorkers",
            "Of its configuration, which the status page does not tell. 0: what Apache has started, which is the same once it is full.",
            type="integer",
            initial=0,
        ),
    )

    def check_address(self, address: str) -> str:
        """Return the URL of the status page, without `?auto`."""
        return web_address(address.strip().removesuffix("?auto"), "/server-status")

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where it listens."""
        return web_place(self.check_address(address))

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read the status page each step."""
        most = count_of(access.options.get("max_workers")) or 0.0
        facts: dict[str, str] = {}

        def look() -> None:
            got = web.get(f"{access.address}?auto")
            expect_ok(got, "Apache", "check the address of its status page, and who may read it")
            fields = fields_of(got.text)
            values = values_of(fields, most)
            for name, fact in FACTS.items():
                if name in fields and fact not in facts:
                    facts[fact] = fields[name][:100]
                    sink.fact(fact, facts[fact])
            sink.frame(Frame(got.read_clock(sink), got.answered, values))

        with Web(access) as web:
            look_in_steps(look, max(access.step_seconds, self.steps[1]), stopped)


source = Apache()


def fields_of(text: str) -> dict[str, str]:
    """Return the fields of the status page for programs."""
    parts = (line.partition(":") for line in text.splitlines()[:2000])
    return {name.strip(): value.strip() for name, colon, value in parts if colon}


def values_of(fields: dict[str, str], most: float) -> dict[Key, float]:
    """Return busy workers and their limit. Raise WatchFailed where the page is none of mod_status.

    Apache keeps idle workers in reserve until it may start no more, so what is started is its limit when it is full.
    """
    busy = count_of(fields.get("BusyWorkers", fields.get("BusyServers")))
    idle = count_of(fields.get("IdleWorkers", fields.get("IdleServers")))
    if busy is None or idle is None:
        raise WatchFailed(
            "The answer is no status page of Apache (no BusyWorkers): check the address; mod_status must be loaded."
        )
    return queue_values(
        THREADS,
        "apache",
        busy=busy,
        limit=most or busy + idle,
        requests=count_of(fields.get("Total Accesses")),
    )
