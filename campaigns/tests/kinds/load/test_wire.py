"""One connection: what it understands, and what each failure of a real server is called."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest
import uvloop

from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.wire import Answer, Wire, open_connection
from campaigns.kit.http.failures import NO_LENGTH
from campaigns.kit.network import parse_rules, parse_url
from campaigns.tests.kinds.load.servers import get, misbehaving

RULES = parse_rules("127.0.0.1:*")
Given = TypeVar("Given")
LONG, SHORT = 30.0, 0.2


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    with misbehaving() as found:
        yield found


def on(place: str, use: Callable[[Wire], Awaitable[Given]]) -> Given:
    """Open a connection, use it, close it."""

    async def main() -> Given:
        wire = await open_connection(parse_url(f"http://{place}/"), RULES, None, LONG, LONG)
        try:
            return await use(wire)
        finally:
            wire.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def ask(place: str, path: str, seconds: float = LONG) -> Answer:
    return on(place, lambda wire: wire.ask(get(path), seconds))


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
        ("html", 500, b"<h1>No!</h1>\n"),
        ("close", 200, b"ok"),
        ("until-close", 200, b"all that there is"),
        ("old", 200, b"all that there was"),
        ("large/300000", 200, b"x" * 300_000),
    ],
)
def test_an_answer_is_read_whole(place, path, status, body):
    answer = ask(place, path)

    assert (answer.status, answer.body) == (status, body)
    assert answer.sent_ns <= answer.first_byte_ns <= answer.done_ns


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
        ("large/5000000", "protocol"),
    ],
)
def test_a_broken_answer_fails_by_its_class(place, path, kind):
    with pytest.raises(LoadFailed) as failed:
        ask(place, path)

    assert failed.value.kind == kind
    assert failed.value.unanswered == (path in ("nothing", "reset"))


def test_a_length_of_23_digits_is_the_failure_that_it_is_in_every_engine(place):
    with pytest.raises(LoadFailed) as failed:
        ask(place, "length-of-23-digits")

    assert (failed.value.kind, str(failed.value)) == ("protocol", NO_LENGTH)


@pytest.mark.parametrize("path", ["slow/30", "slow-body/30", "trickle", "continues"])
def test_what_takes_too_long_times_out(place, path):
    with misbehaving() as own, pytest.raises(LoadFailed, match=r"waited 0\.2 s") as failed:
        ask(own, path.replace("30", "1"), SHORT)

    assert failed.value.kind == "timeout"


def test_names_of_headers_are_lower_case(place):
    answer = ask(place, "limited")

    assert answer.header(b"retry-after") == b"1"
    assert answer.header(b"location") == b""


def test_a_connection_is_used_again(place):
    async def use(wire: Wire) -> list[bytes]:
        bodies = [(await wire.ask(get(path), LONG)).body for path in ("ok", "chunked", "ok")]
        assert wire.open
        assert wire.request_count == 3
        assert wire.connect_ns > 0
        assert wire.tls_ns == 0
        return bodies

    assert on(place, use) == [b"ok", b"hello world", b"ok"]


def test_a_connection_that_the_server_ended_is_told_before_anything_is_sent(place):
    async def use(wire: Wire) -> bool:
        answer = await wire.ask(get("close"), LONG)
        assert not answer.keep_alive
        with pytest.raises(LoadFailed, match="closed") as failed:
            await wire.ask(get("ok"), LONG)
        return failed.value.unanswered

    assert on(place, use)


def test_after_a_failure_the_connection_is_closed(place):
    async def use(wire: Wire) -> None:
        with pytest.raises(LoadFailed):
            await wire.ask(get("garbage"), LONG)
        assert not wire.open

    on(place, use)


def test_a_closed_port_refuses(place):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(LoadFailed, match="refused") as failed:
            ask(f"127.0.0.1:{taken.getsockname()[1]}", "ok")

    assert failed.value.kind == "connect"
    assert not failed.value.unanswered


def test_an_address_that_the_rules_exclude_is_never_connected_to():
    with pytest.raises(LoadFailed, match="no rule allows it"):
        ask("127.0.0.2:80", "ok")


def test_a_name_is_resolved_and_checked():
    with misbehaving() as place, pytest.raises(LoadFailed, match="no rule allows it"):
        ask(f"127.0.0.3:{place.rpartition(':')[2]}", "ok")
    with misbehaving() as place:
        assert ask(f"localhost:{place.rpartition(':')[2]}", "ok").status == 200
