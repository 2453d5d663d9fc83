"""A connection that keeps no body: what it counts, and what each failure of a real server is called."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from typing import TypeVar

import pytest
import uvloop

from campaigns.kinds.load.counting import CountingWire, Traffic
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.recorder import Recorder
from campaigns.kinds.load.wire import Answer, Awaited, Wire, opened
from campaigns.kit.network import parse_rules, parse_url
from campaigns.tests.kinds.load.servers import get, misbehaving
from campaigns.tests.kinds.programs.servers import asked_head, behaving

pytestmark = pytest.mark.unit

RULES = parse_rules("127.0.0.1:*")
Given = TypeVar("Given")
LONG, SHORT = 30.0, 0.2


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    with misbehaving() as found:
        yield found


def on(place: str, use: Callable[[CountingWire], Awaitable[Given]], seconds: float = LONG) -> Given:
    """Open a connection that is watched, use it, close it."""

    async def main() -> Given:
        traffic = Traffic(Recorder())
        wire = await opened(
            lambda: CountingWire(traffic), parse_url(f"http://{place}/"), RULES, None, LONG, LONG
        )
        watching = asyncio.create_task(traffic.watch(seconds))
        try:
            return await use(wire)
        finally:
            watching.cancel()
            wire.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def ask(
    place: str, path: str, seconds: float = LONG, size: int | None = None, *, hashed: bool = False
) -> Answer:
    async def use(wire: CountingWire) -> Answer:
        wire.expect(size, hashed=hashed)
        return await wire.ask(get(path), seconds)

    return on(place, use, seconds)


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("ok", 200, b"ok"),
        ("chunked", 200, b"hello world"),
        ("bytewise", 200, b"hello world"),
        ("interim", 200, b"ok"),
        ("empty", 204, b""),
        ("unchanged", 304, b""),
        ("moved", 302, b""),
        ("close", 200, b"ok"),
        ("until-close", 200, b"all that there is"),
        ("old", 200, b"all that there was"),
        ("large/3000000", 200, b"x" * 3_000_000),
    ],
)
def test_a_body_is_counted_and_hashed_and_not_kept(place, path, status, body):
    answer = ask(place, path, hashed=True)

    assert (answer.status, answer.size, answer.body) == (status, len(body), b"")
    assert answer.sha256 == sha256(body).hexdigest()
    assert answer.sent_ns <= answer.first_byte_ns <= answer.done_ns


def test_only_the_begin_of_an_error_is_kept(place):
    answer = ask(place, "html")

    assert (answer.status, answer.size, answer.body) == (500, 13, b"<h1>No!</h1>\n")


def test_a_body_that_nobody_asked_to_hash_is_not_hashed(place):
    assert ask(place, "ok").sha256 == ""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nothing", "connect"),
        ("reset", "connect"),
        ("reset-half", "connect"),
        ("half", "protocol"),
        ("half-chunk", "protocol"),
        ("half-head", "protocol"),
        ("garbage", "protocol"),
        ("twice", "protocol"),
        ("upgrade", "protocol"),
        ("endless-head", "protocol"),
        ("length-of-23-digits", "protocol"),
    ],
)
def test_a_broken_answer_fails_by_its_class(place, path, kind):
    with pytest.raises(LoadFailed) as failed:
        ask(place, path)

    assert failed.value.kind == kind
    assert failed.value.unanswered == (path in ("nothing", "reset"))


@pytest.mark.parametrize(
    ("path", "size", "words"),
    [
        ("ok", 3, "the server announces 2 bytes, and the metadata say 3"),
        ("chunked", 10, "the body has more than 10 bytes"),
        ("large/3000000", 2_999_999, "the server announces 3,000,000 bytes"),
    ],
)
def test_a_body_of_another_size_is_given_up_as_soon_as_it_is_known(place, path, size, words):
    with pytest.raises(LoadFailed, match=words) as failed:
        ask(place, path, size=size)

    assert failed.value.kind == "size"


def test_a_body_that_may_not_be_endless_is_given_up(place):
    async def use(wire: CountingWire) -> Answer:
        wire.expect(None, most=1000)
        return await wire.ask(get("large/100000"), LONG)

    with pytest.raises(LoadFailed, match="more than 1,000 bytes") as failed:
        on(place, use)
    assert failed.value.kind == "size"


@pytest.mark.parametrize("path", ["slow/1", "slow-body/1", "trickle", "continues"])
def test_a_transfer_that_is_slow_for_too_long_is_given_up(path):
    with misbehaving() as own, pytest.raises(LoadFailed, match=r"0\.2 s") as failed:
        ask(own, path, SHORT)

    assert failed.value.kind == "timeout"


def test_a_connection_is_used_again_whatever_stands_in_front(place):
    async def use(wire: CountingWire) -> list[int]:
        paths = ("ok", "chunked", "large/300000", "html", "ok", "interim", "ok")
        sizes = [(await wire.ask(get(path), LONG)).size for path in paths]
        assert wire.open
        assert wire.request_count == 7
        return sizes

    assert on(place, use) == [2, 11, 300_000, 13, 2, 2, 2]


HEADS = {
    "usual": b"Content-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
    "lower-case": b"content-length:2\r\n\r\nok",
    "closing": b"Content-Length: 2\r\nConnection: close\r\n\r\nok",
    "two-that-agree": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "two-that-differ": b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "chunks-and-length": b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "spaces-behind": b"Content-Length: 2 \r\n\r\nok",
    "signed": b"Content-Length: +2\r\n\r\nok",
    "list": b"Content-Length: 2, 2\r\n\r\nok",
    "nothing": b"Content-Length: 0\r\n\r\n",
    "folded": b"X: one\r\n Content-Length: 3\r\nContent-Length: 2\r\n\r\nok",
    "latin": b"X: \xe4\r\nContent-Length: 2\r\n\r\nok",
    "name-with-space": b"Content-Length : 2\r\n\r\nok",
    "upgrade": b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok",
    "more": b"Content-Length: 2\r\n\r\nokay",
    "other-name": b"X-Content-Length: 3\r\nContent-Length: 2\r\n\r\nok",
    "line-feeds": b"Content-Length: 2\n\nok",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_means_to_it_what_it_means_to_the_parser(name):
    def serve(connection: socket.socket) -> None:
        while asked_head(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n" + HEADS[name])
            if name == "closing":
                return

    def outcome(make: Callable[[], Awaited]) -> tuple[int, int, bool] | str:
        async def main() -> tuple[int, int, bool] | str:
            wire = await opened(make, parse_url(f"http://{place}/"), RULES, None, LONG, LONG)
            try:
                answer = await wire.ask(get("any"), LONG)
            except LoadFailed as failure:
                return failure.kind
            finally:
                wire.close()
            return answer.status, answer.size or len(answer.body), answer.keep_alive

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main())

    with behaving(serve) as (place, _):
        assert outcome(lambda: CountingWire(Traffic(Recorder()))) == outcome(Wire)


def test_requests_follow_one_another_without_the_caller(place):
    paths = ["chunked", "ok", "html"]
    sizes = []

    def following(answer: Answer) -> bytes | None:
        sizes.append(answer.size)
        return get(paths.pop(0)) if paths else None

    async def use(wire: CountingWire) -> Answer:
        return await wire.ask(get("large/70000"), LONG, following)

    last = on(place, use)

    assert sizes == [70_000, 11, 2, 13]
    assert (last.status, last.size) == (500, 13)


def test_a_bug_in_what_follows_is_not_taken_for_a_lost_connection(place):
    def following(answer: Answer) -> bytes | None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        on(place, lambda wire: wire.ask(get("ok"), LONG, following))
