"""Requests keep to the rate and to the concurrency that the target's owner allows."""

import asyncio
import hashlib
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kinds.programs.health import HELD_BACK_SATURATES, judge
from campaigns.kit.http import pacing, task_pacing
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.programs.servers import asked, behaving

EMPTY = hashlib.sha256(b"").hexdigest()
RULES = parse_rules("127.0.0.1:*")


class Clock:
    """A clock that sleeping turns."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def begun_by_tasks(pacer: pacing.Pacer, count: int) -> list[float]:
    begun: list[float] = []

    async def main() -> None:
        tasks = task_pacing.Tasks(pacer)

        async def one() -> None:
            await tasks.turn()
            begun.append(pacer.clock())

        await asyncio.gather(*(one() for _ in range(count)))

    asyncio.run(main())
    return begun


def begun_by_threads(pacer: pacing.Pacer, count: int) -> list[float]:
    threads = pacing.Threads(pacer)
    begun: list[float] = []

    def one(_: int) -> None:
        threads.turn()
        begun.append(pacer.clock())

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(one, range(count)))
    return begun


@pytest.mark.parametrize("begin", [begun_by_tasks, begun_by_threads])
def test_whoever_sends_requests_begin_at_equal_distances(begin):
    pacer = pacing.Pacer(200)
    made_at = pacer.clock()

    begun = begin(pacer, 20)

    assert all(
        moment - made_at >= (number + 1) * pacer.distance_seconds
        for number, moment in enumerate(sorted(begun))
    )
    assert pacer.held_seconds > 0


def test_a_stall_is_not_made_up_for():
    clock = Clock()
    pacer = pacing.Pacer(10 / pacing.SHARE_USED, clock)

    clock.now += 5.0
    assert pacer.left() < 0
    pacer.begin(clock.now)

    assert pacer.left() == pytest.approx(0.1)


def test_nothing_is_held_where_there_is_no_limit():
    clock = Clock()
    pacer = pacing.Pacer(None, clock)

    for _ in range(2):
        assert pacer.left() == 0
        assert pacer.begin(clock.now) == 0


def test_an_engine_keeps_to_the_rate_that_the_owner_allows_redirects_included(
    sandbox, download, engine
):
    sender = f"perfdash rate/{engine}"
    place = sandbox.base_url.removeprefix("http://")
    url = sandbox.manifest(files=20, size=100, redirects=0.5, to=place)

    outcome = download(url, concurrency=15, most_per_second=40, sender=sender)

    seen = sandbox.stats()["senders"][sender]
    assert seen["requests"] == 30  # ten files are asked for twice
    assert outcome.result["seconds"] >= 29 / 40
    verdict = judge(outcome.result["figures"])
    assert verdict.word == "saturated"
    assert "the target's limit of 40 requests/s" in verdict.reasons[0]


def test_waiting_for_its_turn_is_no_part_of_a_files_time(sandbox, download):
    outcome = download(sandbox.manifest(files=8, size=100), concurrency=8, most_per_second=20)

    assert outcome.result["seconds"] > 0.35
    begun = sorted(outcome.samples["start_us"])
    assert all(start >= number * 1e6 / 20 for number, start in enumerate(begun))
    assert min(outcome.samples["first_byte_us"]) > 0


def test_a_limit_that_is_not_reached_leaves_the_run_as_it_is(sandbox, download):
    url = sandbox.manifest(files=4, size=100, latency=400)

    outcome = download(url, concurrency=2, most_per_second=10_000)

    figures = outcome.result["figures"]
    assert figures["requests_allowed_per_second"] == 10_000
    assert figures["held_back_share"] < HELD_BACK_SATURATES
    assert judge(figures).word != "saturated"


def test_no_more_requests_at_a_time_are_sent_than_the_owner_allows(sandbox, download, engine):
    sender = f"perfdash at-a-time/{engine}"

    outcome = download(
        sandbox.manifest(files=12, size=100, latency=30),
        concurrency=10,
        most_concurrent=3,
        sender=sender,
    )

    assert outcome.hello["concurrency"] == 3
    assert sandbox.stats()["senders"][sender]["in_flight_max"] == 3


@pytest.mark.system
def test_a_request_whose_connection_is_lost_is_not_sent_again(download, engine):
    moments: list[float] = []
    begun_at = time.monotonic()

    def once(connection: socket.socket) -> None:
        while name := asked(connection):
            moments.append(time.monotonic() - begun_at)
            if name == "lost" and len(moments) == 2:
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with behaving(once) as (place, _):
        outcome = download(
            f"http://{place}/",
            files=[["a", EMPTY, 0], ["lost", EMPTY, 0]],
            concurrency=1,
            most_per_second=4,
        )

    assert outcome.samples["failure"] == ["", "connect"]
    assert len(moments) == 2
    assert all(moment > number / 4 for number, moment in enumerate(moments, start=1))


def test_each_hop_of_a_fetch_is_paced(sandbox):
    place = sandbox.base_url.removeprefix("http://")
    sender = "perfdash fetch/paced"
    url = sandbox.manifest(files=1, manifest="redirect", to=place)

    answer = fetch(url, RULES, lambda: None, Limits(), sender=sender, most_per_second=4)

    assert answer.status == 200
    assert answer.seconds >= 0.25
    seen = sandbox.stats()["senders"][sender]
    assert seen["requests"] == 2


def test_a_fetch_that_waits_for_its_turn_can_be_stopped(sandbox):
    class Stop(Exception):
        pass

    def check() -> None:
        raise Stop

    sender = "perfdash fetch/stopped"
    with pytest.raises(Stop):
        fetch(sandbox.base_url, RULES, check, Limits(), sender=sender, most_per_second=0.01)

    assert sender not in sandbox.stats()["senders"]
    assert "fetch" not in {thread.name for thread in threading.enumerate()}
