"""One request under the rules: one limit of time, one of bytes, no redirects, no second look at a name."""

import socket
import time
from typing import Any

import pytest

from campaigns.kit.http.failures import FileFailed
from campaigns.kit.http.guarded import NOTHING_READ, TooLate, ask
from campaigns.kit.network import BadUrl, Refused, parse_rules
from campaigns.tests.kinds.programs.servers import behaving

RULES = parse_rules("127.0.0.1:*")
LIMITS: dict[str, Any] = {"seconds": 5.0, "timeout": (1.0, 1.0), "most_bytes": 1000}


def answering(*pieces: bytes, pause: float = 0.0):
    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)

    return serve


def got(serve, method="GET", **named):
    with behaving(serve) as (place, _):
        return ask(method, f"http://{place}/", RULES, **LIMITS | named)


def test_an_answer_has_status_headers_cookies_and_body():
    answer = got(
        answering(
            b"HTTP/1.1 201 Created\r\ncontent-type: text/x\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
            b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
        )
    )

    assert (answer.status, answer.body, answer.cookies) == (201, b"ok", ("a=1", "b=2"))
    assert answer.headers["Content-Type"] == "text/x"
    assert answer.ends


def test_a_redirect_is_an_answer():
    answer = got(
        answering(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n")
    )

    assert (answer.status, answer.headers["Location"]) == (302, "http://127.0.0.2/")


@pytest.mark.parametrize(
    ("serve", "failure"),
    [
        (answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000), "size"),
        (answering(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "protocol"),
        (answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), "connect"),
        (answering(b"nonsense\r\n\r\n"), "protocol"),
    ],
    ids=["too long", "no length", "cut off", "no HTTP"],
)
def test_what_is_no_good_answer_is_told_by_class(serve, failure):
    with pytest.raises(FileFailed) as caught:
        got(serve)

    assert caught.value.failure == failure


def test_a_body_that_nobody_wants_is_not_read():
    endless = answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000, pause=0.1)

    assert got(endless, most_bytes=0, unread=NOTHING_READ).body == b""


def test_an_answer_that_drips_ends_with_the_time():
    drips = answering(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 50, pause=0.1)
    started = time.monotonic()

    with pytest.raises(TooLate):
        got(drips, seconds=0.3)

    assert time.monotonic() - started < 4


def test_what_the_rules_exclude_is_not_asked():
    with pytest.raises(Refused):
        ask("GET", "http://127.0.0.2/", RULES, **LIMITS)
    with pytest.raises(BadUrl):
        ask("GET", "file:///etc/passwd", RULES, **LIMITS)


def test_a_name_leads_only_to_addresses_that_the_rules_allow():
    rules = parse_rules("10.0.0.0/8:80")

    assert rules.allowed_of(["192.0.2.1", "10.0.0.1", "10.0.0.2"], 80, "a.example") == [
        "10.0.0.1",
        "10.0.0.2",
    ]
    with pytest.raises(Refused, match="no rule allows it"):
        rules.allowed_of(["192.0.2.1"], 80, "a.example")
    with pytest.raises(Refused, match="has no address"):
        rules.allowed_of([], 80, "a.example")
