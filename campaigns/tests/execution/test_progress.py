"""What a run says while it runs, and a Redis that does not listen."""

import socket

import pytest

from campaigns.execution import progress
from campaigns.kit.broker import RedisLink


@pytest.fixture
def redis_at(settings, monkeypatch):
    """Look for Redis somewhere else, with nothing known of its health."""

    def redis_at(url):
        settings.PROGRESS_URL = url
        monkeypatch.setattr(progress, "_link", RedisLink("test", decode_responses=True))

    return redis_at


def test_what_was_said_last_is_read_until_it_is_forgotten(settings, redis_at):
    redis_at(settings.PROGRESS_URL)

    progress.write(10**9, {"phase": "reset"})
    progress.write(10**9, {"phase": "measure", "seconds": 1.5})
    assert progress.read(10**9) == {"phase": "measure", "seconds": 1.5}

    progress.forget(10**9)
    assert progress.read(10**9) is None


def test_a_redis_that_hangs_is_waited_for_once(redis_at):
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        redis_at(f"redis://127.0.0.1:{hanging.getsockname()[1]}/0")

        for number in range(5):
            progress.write(number, {})
        assert progress.read(1) is None

        hanging.setblocking(False)
        hanging.accept()[0].close()
        with pytest.raises(BlockingIOError):
            hanging.accept()  # nobody knocked a second time


def test_a_redis_that_is_back_is_asked_again(settings, redis_at, monkeypatch):
    working = settings.PROGRESS_URL
    redis_at("redis://127.0.0.1:1/0")
    progress.write(10**9, {"phase": "reset"})
    assert progress.read(10**9) is None

    redis_at(working)
    progress.write(10**9, {"phase": "reset"})

    assert progress.read(10**9) == {"phase": "reset"}
    progress.forget(10**9)
