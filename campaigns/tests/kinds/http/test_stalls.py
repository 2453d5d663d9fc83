"""A target that stands still for 200 ms in the middle of a scenario: real hosts, loops and recorder, on a clock turned by hand."""

import asyncio
from unittest.mock import Mock

import numpy as np
import pytest

from campaigns.kinds.http.program import playing
from campaigns.kinds.http.program.playing import Cast, Link
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kinds.load import framing, loops, plain
from campaigns.kinds.load.recorder import Recorder
from campaigns.kinds.load.schedule import Schedule
from campaigns.tests.kinds.load import test_stalls
from campaigns.tests.kinds.load.test_stalls import MS, Target, Time

STALLED = (2000 * MS, 2200 * MS)
TWO = "steps: [{name: first, get: /a%s}, {name: second, get: '/b/{host}'}]"
ONE = "steps: [{name: only, get: '/{host}/{round}'%s}]"


def played(monkeypatch, scenario, **schedule):
    """Play a scenario for 6 s; give the milliseconds from the intended start by step, sorted, and the cast."""
    time = Time()
    for module in (framing, loops, plain, playing):
        monkeypatch.setattr(module, "perf_counter_ns", lambda: time.now)
    monkeypatch.setattr(test_stalls, "STALLED", STALLED)
    part = Mock(alarm=time, origin_ns=0, from_ns=0, recorder=Recorder())
    part.job.schedule = Schedule(duration_seconds=6, **schedule)
    part.job.most_per_second = None
    part.job.pinned.return_value = Mock(scheme="http", host_header="target")
    cast = Cast(part, {}, read_scenario(scenario))

    async def main():
        for player in cast.players:
            player.link = Link(player)
            player.link.connection_made(Target(time, player.link))
        running = asyncio.create_task(cast.loop.run())
        await asyncio.sleep(0)
        time.run()
        await running

    asyncio.run(main())
    assert not part.failed.called
    return {
        name: np.sort(instants.take(0)[0]["response"]) / MS
        for name, instants in part.recorder.steps.items()
    }, cast


def test_a_rate_shows_the_stall_at_the_99th_percentile_and_a_closed_loop_does_not(monkeypatch):
    ms, cast = played(monkeypatch, ONE % "", hosts=50, loop="open", rate_per_second=1000)
    assert len(ms["only"]) == cast.rounds == 6000
    assert np.quantile(ms["only"], 0.99) == pytest.approx(150, abs=15)

    thinks = ONE % ", think: {seconds: 0.049}"
    ms, _ = played(monkeypatch, thinks, hosts=50)
    assert len(ms["only"]) == pytest.approx(
        5850, rel=0.01
    )  # as many in a second, but for the stall
    assert np.quantile(ms["only"], 0.99) == pytest.approx(1)


def test_only_the_first_step_waits_for_a_free_host(monkeypatch):
    ms, cast = played(monkeypatch, TWO % "", hosts=4, loop="open", rate_per_second=200)

    assert len(ms["first"]) == len(ms["second"]) == cast.rounds == 1200
    assert np.count_nonzero(ms["first"] > 2) > 30
    assert np.count_nonzero(ms["second"] > 2) <= 4


def test_think_time_is_no_part_of_a_response(monkeypatch):
    ms, cast = played(
        monkeypatch,
        TWO.replace("{name: second,", "{name: second, think: {seconds: 1},") % "",
        hosts=2,
    )

    assert ms["second"][:5] == pytest.approx([1] * 5)
    assert cast.rounds == 2 * 6
