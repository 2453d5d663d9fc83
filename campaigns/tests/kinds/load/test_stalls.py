"""What a stall of the target does to requests of an open loop: the real loop, clients and recorder, on a clock turned by hand."""

import asyncio
import heapq
import itertools
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest

from campaigns.kinds.load import framing, loops, plain
from campaigns.kinds.load.loops import Closed, Open
from campaigns.kinds.load.plain import Client, Link
from campaigns.kinds.load.recorder import Recorder
from campaigns.kinds.load.schedule import Schedule

MS = 1_000_000
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SERVICE, STALLED = 1 * MS, (1500 * MS, 2000 * MS)


class Time:
    """A clock that goes to the next thing that is due, at once; it is an alarm, too."""

    def __init__(self):
        self.now = 0
        self._due = []
        self._order = itertools.count()

    def at(self, instant, call):
        heapq.heappush(self._due, (max(instant, self.now), next(self._order), call))

    def timer(self, call):
        return Repeated(self, call)

    def run(self, until=1 << 62):
        while self._due and self._due[0][0] <= until:
            self.now, _, call = heapq.heappop(self._due)
            call()


class Repeated:
    """A timer of the clock."""

    def __init__(self, time, call):
        self._time, self._call = time, call
        self._settings = 0

    def set(self, instant, every):
        self._settings += 1
        self._time.at(instant, partial(self._ring, self._settings, instant, every))

    def close(self):
        self._settings += 1

    def _ring(self, settings, instant, every):
        if settings != self._settings:
            return
        if every:
            following = instant + every
            self._time.at(following, partial(self._ring, settings, following, every))
        self._call()


class Target(asyncio.Transport):
    """The other end of a connection: it answers after SERVICE, and nobody while it stands still."""

    def __init__(self, time, line):
        super().__init__()
        self._time, self._line = time, line

    def get_extra_info(self, name, default=None):
        return object()

    def write(self, data):
        free = STALLED[1] if STALLED[0] <= self._time.now < STALLED[1] else self._time.now
        self._time.at(free + SERVICE, lambda: self._line.data_received(OK))


def loaded(monkeypatch, **schedule):
    """Run a schedule against the target; give the milliseconds of each series, sorted, and the loop."""
    time = Time()
    for module in (framing, loops, plain):
        monkeypatch.setattr(module, "perf_counter_ns", lambda: time.now)
    of = Schedule(hosts=4, duration_seconds=3, **schedule)
    part = Mock(alarm=time, origin_ns=0, from_ns=0)
    part.job.schedule = of
    crew = Mock(recorder=Recorder(), chained_until_ns=0, usual_head=b"", usual_bytes=0, parsed=0)

    async def main():
        crew_clients = [Client(crew, number, b"GET", 1 << 62) for number in of.numbers]
        for client in crew_clients:
            client.link = Link(client)
            client.link.connection_made(Target(time, client.link))
        crew.loop = (Open if of.loop == "open" else Closed)(part, crew_clients, None)
        running = asyncio.create_task(crew.loop.run())
        await asyncio.sleep(0)
        time.run()
        await running

    asyncio.run(main())
    series, _ = crew.recorder.instants.take(0)
    assert not crew.unusual.called
    assert not crew.failed.called
    return {name: np.sort(values) / MS for name, values in series.items()}, crew.loop


def test_a_stall_shows_in_full_from_the_intended_start(monkeypatch):
    ms, loop = loaded(monkeypatch, loop="open", rate_per_second=200)

    assert len(ms["response"]) == len(ms["service"]) == loop.offered == 600
    # At 1500, 1505, 1510 and 1515 each of the four connections got stuck.
    assert ms["service"][-5:] == pytest.approx([1, 486, 491, 496, 501])
    # They, and the 60 behind them that should have begun up to 1815, took more than 200 ms: what waits is
    # served from 2001 on, four in a millisecond.
    assert np.count_nonzero(ms["response"] > 200) == 4 + 60
    assert ms["response"][-1] == pytest.approx(501)


def test_what_waits_for_a_free_connection_is_served_in_the_order_of_its_arrival(monkeypatch):
    ms, _ = loaded(monkeypatch, loop="open", rate_per_second=200)

    late = ms["lag"][ms["lag"] > 0]
    # From 1520 to 2025 all connections were busy when one arrived.
    assert late[-1] == pytest.approx(2001 - 1520)
    assert len(late) == (2025 - 1520) / 5 + 1
    assert len(ms["lag"]) == 600


def test_a_closed_loop_sees_a_stall_once_for_each_connection(monkeypatch):
    ms, _ = loaded(monkeypatch, loop="closed")

    assert np.count_nonzero(ms["response"] > 200) == 4
    assert ms["lag"][-1] == 0
