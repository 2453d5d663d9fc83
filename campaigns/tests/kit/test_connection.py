"""One connection to a server: what it sends, what ends it, and what it says of bad answers."""

import socket
import ssl
import threading
import time

import pytest

from campaigns.kit.http.connection import Connection, shown_begin
from campaigns.kit.http.credentials import BadCertificate, Tls, context_of
from campaigns.kit.http.errors import NoAnswer, Strange
from campaigns.kit.network import Refused, parse_rules
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.servers import behaving

RULES = parse_rules("127.0.0.1:*")
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n"


@pytest.fixture
def connect():
    """Make connections that are closed at the end."""
    made = []

    def begin(*arguments, **named):
        made.append(Connection(*arguments, **named))
        return made[-1]

    yield begin
    for connection in made:
        connection.close()


def head(connection):
    """What was asked, up to the blank line; empty where the other side is gone."""
    asked = b""
    while b"\r\n\r\n" not in asked:
        if not (more := connection.recv(65536)):
            return b""
        asked += more
    return asked


def answering(answer):
    def serve(connection: socket.socket) -> None:
        while head(connection):
            connection.sendall(answer)

    return serve


def test_json_is_read_and_the_connection_kept(connect):
    with behaving(answering(JSON + b'\r\n{"a": 1}')) as (place, accepted):
        connection = connect(f"http://{place}/pulp/", RULES)

        assert [connection.ask("GET", "/x").json() for _ in range(3)] == [{"a": 1}] * 3
        assert len(accepted) == 1


def test_a_server_that_waits_for_our_end_is_not_kept_waiting(connect):
    """It serves nobody else meanwhile, as a worker of a simple server does."""
    closed = threading.Event()

    def serve(connection: socket.socket) -> None:
        head(connection)
        connection.sendall(JSON + b'Connection: close\r\n\r\n{"a": 1}')
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(5)
        if connection.recv(1) == b"":
            closed.set()

    with behaving(serve) as (place, _):
        connect(f"http://{place}", RULES).ask("GET", "/x")

        assert closed.wait(3)


def test_a_kept_connection_that_was_closed_is_made_anew_for_what_changes_nothing(connect):
    def serve(connection: socket.socket) -> None:
        head(connection)
        connection.sendall(JSON + b'\r\n{"a": 1}')
        head(connection)  # and hangs up on the second request

    with behaving(serve) as (place, accepted):
        connection = connect(f"http://{place}", RULES)
        connection.ask("GET", "/x")

        assert connection.ask("GET", "/x").status == 200
        assert len(accepted) == 2
        with pytest.raises(NoAnswer, match=r"POST .* got no answer"):
            connection.ask("POST", "/x", body={})
        assert len(accepted) == 2


def test_an_answer_that_is_no_json_is_shown(connect):
    page = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<h1>Oh</h1>\n"
    with behaving(answering(page)) as (place, _):
        answer = connect(f"http://{place}", RULES).ask("GET", "/x")

    assert answer.status == 404
    with pytest.raises(Strange, match=r"answered 404 with text/html instead of JSON: Oh"):
        answer.json()


def test_an_answer_that_is_nested_too_deeply_is_no_json(connect):
    deep = b"[" * 100_000
    page = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
    with behaving(answering(page % (len(deep), deep))) as (place, _):
        answer = connect(f"http://{place}", RULES).ask("GET", "/x")

    with pytest.raises(Strange, match=r"answered 200 with application/json instead of JSON"):
        answer.json()


def test_whoever_asks_can_stop_at_once(connect):
    class Enough(Exception):
        pass

    def hang(connection: socket.socket) -> None:
        head(connection)
        connection.recv(1)

    began_at = time.monotonic()

    def check() -> None:
        if time.monotonic() > began_at + 0.3:
            raise Enough

    with behaving(hang) as (place, _), pytest.raises(Enough):
        connect(f"http://{place}", RULES, check=check).ask("GET", "/x")

    assert time.monotonic() - began_at < 2


def test_nothing_is_asked_of_a_server_that_is_not_allowed(connect):
    with pytest.raises(Refused):
        connect("http://127.0.0.1:9", parse_rules("127.0.0.2:*")).ask("GET", "/x")


def test_a_redirect_is_an_answer_and_not_followed(connect):
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
    with behaving(answering(moved)) as (place, accepted):
        assert connect(f"http://{place}", RULES).ask("GET", "/x").status == 302
        assert len(accepted) == 1


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


def encrypted(authority):
    context = authority.context()

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as inner:
            while head(inner):
                inner.sendall(JSON + b'\r\n{"a": 1}')

    return behaving(serve)


def test_a_certificate_is_trusted_by_its_bundle_or_not_verified_at_all(authority, connect):
    with encrypted(authority) as (place, _):
        url = f"https://{place}"
        made = [
            connect(url, RULES, tls=tls)
            for tls in (Tls(ca_bundle=authority.file.read_text()), Tls(verify=False))
        ]
        assert [each.ask("GET", "/x").json() for each in made] == [{"a": 1}] * 2
        with pytest.raises(NoAnswer) as caught:
            connect(url, RULES).ask("GET", "/x")
        for each in made:
            each.close()

    assert caught.value.failure == "tls"


def test_a_client_certificate_is_taken_and_leaves_no_file(authority, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "secret"))
    (tmp_path / "secret").mkdir()
    both = authority.server().read_text()
    begin = both.index("-----BEGIN CERTIFICATE")

    context = context_of(Tls(certificate=both[begin:], key=both[:begin]))

    assert isinstance(context, ssl.SSLContext)
    assert not list((tmp_path / "secret").iterdir())


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        (Tls(ca_bundle="junk"), "CA bundle holds no certificate"),
        (Tls(certificate="junk", key="junk"), "cannot be used"),
    ],
)
def test_what_is_no_certificate_is_told(tls, message):
    with pytest.raises(BadCertificate, match=message):
        context_of(tls)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        pytest.param(
            "<title>401 Authorization Required</title><h1>401 Authorization Required</h1><hr>nginx",
            "401 Authorization Required nginx",
            id="said_twice",
        ),
        pytest.param(
            "<title>400 No certificate was sent</title><h1>400 Bad Request</h1><p>No certificate was sent</p>nginx",
            "400 No certificate was sent 400 Bad Request nginx",
            id="without_its_number",
        ),
        pytest.param(
            "<head><title>Sign in</title></head><body></body>", "Sign in", id="only_title"
        ),
    ],
)
def test_words_of_a_page_are_shown_once(page, shown):
    assert shown_begin(page.encode(), {"Content-Type": "text/html"}) == shown
