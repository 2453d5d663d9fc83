"""A target that stops answering when it is told to, and a whole run against it, on a clock turned by hand: real work, part and recorder."""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

from campaigns.kinds.http.program import playing
from campaigns.kinds.http.program.__main__ import PlainCrew
from campaigns.kinds.http.program.playing import Cast, compiled_of
from campaigns.kinds.http.program.reading import Loaded, read_scenario
from campaigns.kinds.http.summary import Played
from campaigns.kinds.load import framing, loops, part, plain
from campaigns.kinds.load.job import Job
from campaigns.kinds.load.merging import merge
from campaigns.kinds.load.part import Part
from campaigns.kinds.load.schedule import Schedule
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.load.test_stalls import MS, OK, Time

SECOND = 1000 * MS
PLAIN = "steps: [{name: one, get: /}]"
CHECKED = "steps: [{name: one, get: '/{round}'}]"
THREE = "steps: [{name: one, get: /1}, {name: two, get: /2}, {name: three, get: '/3/{round}'}]"


@dataclass
class Server:
    """Answers after a millisecond, but not what comes in `silent` (seconds from, to). sent: the instants at which requests came."""

    silent: tuple[float, float] = (0.0, 0.0)
    sent: list[float] = field(default_factory=list)


class End(asyncio.Transport):
    """The server's end of a connection."""

    def __init__(self, time: Time, line: framing.Framing, server: Server) -> None:
        super().__init__()
        self._time, self._line, self._server = time, line, server

    def get_extra_info(self, name: str, default: Any = None) -> object:
        return object()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        now = self._time.now / SECOND
        self._server.sent.append(now)
        if not self._server.silent[0] <= now < self._server.silent[1]:
            self._time.at(self._time.now + MS, lambda: self._line.data_received(OK))

    def abort(self) -> None:
        """Close nothing."""


def run_at(
    monkeypatch: Any, scenario: str, server: Server, limit: float = 1e6, **given: Any
) -> Played:
    """Do a run with a timeout of 200 ms in as many processes as `shards`, one after the other; give what comes of all.

    limit: the time limit of the run in seconds. Other keywords are parameters of the kind.
    """
    parameters = {
        "loop": "closed", "rate": None, "hosts": 4, "duration_seconds": 4.0, "warm_up_seconds": 1.0, "iterations": None,
        "timeout_seconds": 0.2, "success_limit_ms": None, "shards": 1,
    } | given  # fmt: skip
    loaded = read_scenario(scenario)
    results = [
        _process(monkeypatch, loaded, server, parameters, limit, shard)
        for shard in range(parameters["shards"])
    ]
    return Played(loaded, parameters, {}, merge(results), limit)


def _process(
    monkeypatch: Any,
    loaded: Loaded,
    server: Server,
    parameters: dict[str, Any],
    limit: float,
    shard: int,
) -> dict[str, Any]:
    time = Time()
    for module in (framing, loops, part, plain, playing):
        monkeypatch.setattr(module, "perf_counter_ns", lambda: time.now)
    schedule = Schedule(
        hosts=parameters["hosts"],
        loop=parameters["loop"],
        rate_per_second=parameters["rate"],
        iterations=parameters["iterations"],
        duration_seconds=parameters["duration_seconds"],
        warm_up_seconds=parameters["warm_up_seconds"] if parameters["duration_seconds"] else 0.0,
        shard=shard,
        shards=parameters["shards"],
    )
    job = Job(
        "http://127.0.0.1:1/",
        parse_rules("127.0.0.1:*"),
        schedule,
        timeout_seconds=parameters["timeout_seconds"],
    )

    async def main() -> dict[str, Any]:
        own = Part(Mock(), job)
        own.alarm = time  # type: ignore[assignment]
        own.from_ns = schedule.warm_up_ns
        work: Any = _work(own, loaded, {"may_be_overloaded": bool(parameters["success_limit_ms"])})
        _connect_at_once(work, time, server)

        def sweep() -> None:
            if not work.loop.over:
                work.sweep(time.now)
                time.at(time.now + 50 * MS, sweep)

        sweep()
        loading = asyncio.create_task(work.load())
        await asyncio.sleep(0)
        time.run(int(limit * SECOND))
        complete = work.loop.over
        if not complete:  # as Part does at the time limit
            loading.cancel()
        await asyncio.wait([loading])
        if not complete:
            work.late()
        own.recorder.fold(int(time.now // SECOND))
        return {
            "complete": complete,
            "seconds": time.now / SECOND,
            "window": [0.0, own.last_ns / SECOND],
            "examples": own.examples,
            "cpu_seconds": 0.0,
            "processes": [],
            "figures": dict(work.figures()),
            **own.recorder.result(),
            **work.result(),
        }

    return asyncio.run(main())


def _work(own: Part, loaded: Loaded, request: dict[str, Any]) -> Cast | PlainCrew:
    steps = compiled_of(loaded, {}, "target", "http")
    if len(steps) == 1 and not steps[0].named:
        return PlainCrew(own, request, loaded, steps[0])
    return Cast(own, request, loaded)


def _connect_at_once(work: Any, time: Time, server: Server) -> None:
    """Let connections be there at once."""
    module = plain if isinstance(work, PlainCrew) else playing

    def connect(client: Any, *data: bytes) -> None:
        link = module.Link(client)
        link.connection_made(End(time, link, server))
        if data:
            client.connected(link, *data)
        else:
            client.link = link
            client.go(client.intended_ns)

    work.connect = connect
