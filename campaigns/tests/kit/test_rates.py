"""Buckets in Redis, and a Redis that is away."""

import math
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from redis import Redis

from campaigns.kit import rates
from campaigns.kit.broker import RedisLink
from campaigns.kit.rates import Rate


def take(who, rate):
    """What Redis says, which is there."""
    taken = rates.take(who, rate)
    assert taken is not None
    return taken


@pytest.fixture
def who():
    return f"test:{uuid4()}"


def test_as_many_as_the_rate_says_may_and_no_more(who):
    taken = [take(who, Rate(3, 3600)) for _ in range(5)]

    assert [each.allowed for each in taken] == [True, True, True, False, False]
    assert [each.left for each in taken] == [2, 1, 0, 0, 0]
    assert [math.ceil(each.full_seconds) for each in taken] == [1200, 2400, 3600, 3600, 3600]
    assert 1190 < taken[-1].wait_seconds <= 1200


def test_what_was_refused_takes_nothing(who):
    rate = Rate(1, 3600)
    assert take(who, rate).allowed

    waits = [take(who, rate).wait_seconds for _ in range(10)]

    assert waits == sorted(waits, reverse=True)
    assert waits[0] <= 3600


def test_a_bucket_fills_again_by_and_by(who):
    rate = Rate(10, 1)
    while take(who, rate).allowed:
        continue

    while not take(who, rate).allowed:
        time.sleep(0.01)


def test_everybody_has_a_bucket_of_their_own(who):
    rate = Rate(1, 3600)

    assert take(who, rate).allowed
    assert take(f"{who}:other", rate).allowed


def test_many_at_once_get_exactly_what_there_is(who):
    rate = Rate(1000, 3600)

    with ThreadPoolExecutor(16) as pool:
        taken = list(pool.map(lambda _: take(who, rate), range(1200)))

    assert sum(each.allowed for each in taken) == 1000


def test_a_smaller_rate_holds_at_once(who):
    for _ in range(50):
        take(who, Rate(100, 36_000))

    taken = take(who, Rate(2, 60))

    assert not taken.allowed
    assert taken.wait_seconds <= 30


def test_a_full_bucket_is_not_kept(who, settings):
    take(who, Rate(100, 1))

    with Redis.from_url(settings.PROGRESS_URL) as redis:
        left = redis.pttl(rates.PREFIX + who)  # -1: it is kept for ever; -2: it is gone already
        assert left != -1
        assert left <= 10


def test_a_redis_that_has_forgotten_the_script_is_told_it_again(who, settings):
    take(who, Rate(2, 60))
    with Redis.from_url(settings.PROGRESS_URL) as redis:
        redis.script_flush()

    assert take(who, Rate(2, 60)).left == 0


def test_a_connection_that_redis_has_closed_is_made_anew(who, settings):
    take(who, Rate(2, 60))
    with Redis.from_url(settings.PROGRESS_URL) as redis:
        redis.client_kill_filter(_type="normal", skipme=True)

    assert take(who, Rate(2, 60)).left == 0


def test_nobody_can_tell_while_redis_is_away(who, settings, monkeypatch):
    settings.PROGRESS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(rates, "_link", RedisLink("test"))

    assert rates.take(who, Rate(1, 60)) is None


def test_a_redis_that_hangs_is_waited_for_once(who, settings, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        settings.PROGRESS_URL = f"redis://127.0.0.1:{hanging.getsockname()[1]}/0"
        monkeypatch.setattr(rates, "_link", RedisLink("test", seconds=0.05))

        assert [rates.take(who, Rate(1, 60)) for _ in range(100)] == [None] * 100

        hanging.setblocking(False)
        knocks = 0
        while True:
            try:
                hanging.accept()[0].close()
            except BlockingIOError:
                break
            knocks += 1
    assert knocks == 1
