"""Requests as they come over the network: bodies that are slow, endless, chunked or cut off keep no thread."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from campaigns.kit import kernel
from perfdash.tests.conftest import wait_until
from perfdash.tests.received import MOST

pytestmark = pytest.mark.system

SLOW = 40
"""Senders at a time: many more than the server has threads."""


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def started(name):
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    command = [
        *(sys.executable, "-m", "granian", "--interface", "rsgi", "--http", "1", "--no-ws"),
        *("--workers", "1", "--log-level", "warning", "--port", str(port)),
        f"perfdash.tests.received:{name}",
    ]
    process = subprocess.Popen(
        command, preexec_fn=partial(kernel.die_with_parent, os.getpid(), signal.SIGTERM)
    )

    try:
        wait_until(lambda: accepts(port))
        yield port, process
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def port():
    with started("server") as (found, _):
        yield found


@pytest.fixture(scope="module")
def hasty_port():
    with started("hasty") as (found, _):
        yield found


@contextmanager
def sent(port, content):
    """Open a connection, and send some of a request."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(content)
        yield connection


def answer_of(connection):
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, response.read(), response.headers


def told(port, method="GET", path="/", body=None, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    assert answer.status == 200, content
    return json.loads(content)


def test_senders_that_are_slow_keep_no_thread(port):
    head = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n123"
    with ExitStack() as stack:
        slow = [stack.enter_context(sent(port, head)) for _ in range(SLOW)]

        assert told(port)[1] == 0
        assert told(port, "POST", body=b"quick")[1] == 5

        for connection in slow:
            connection.sendall(b"456")
        answers = [answer_of(connection) for connection in slow]
    assert [status for status, _, _ in answers] == [200] * SLOW
    assert {json.loads(content)[1] for _, content, _ in answers} == {6}


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n123",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n123\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n",
    ],
    ids=["cut", "chunked", "nothing"],
)
def test_a_body_that_does_not_arrive_is_answered_408(hasty_port, head):
    with sent(hasty_port, head) as connection:
        status, content, headers = answer_of(connection)

    assert (status, headers["Content-Type"]) == (408, "text/plain")
    assert b"did not arrive in time" in content


def test_the_api_says_so_as_a_problem(hasty_port):
    head = b"POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"
    with sent(hasty_port, head) as connection:
        status, content, headers = answer_of(connection)

    assert (status, headers["Content-Type"]) == (408, "application/problem+json")
    assert json.loads(content)["status"] == 408


def test_a_chunked_body_is_read_and_has_a_length(port):
    environ, size = told(port, "POST", body=iter([b"a" * 70_000, b"b" * 70_000]))

    assert size == 140_000  # more than is kept in memory
    assert environ["CONTENT_LENGTH"] == "140000"
    assert "HTTP_TRANSFER_ENCODING" not in environ


def test_an_empty_chunked_body_is_empty(port):
    environ, size = told(port, "POST", body=iter([]))

    assert (environ["CONTENT_LENGTH"], size) == ("0", 0)


def test_a_chunked_body_that_has_no_end_is_refused(port):
    piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with sent(port, head + piece * (MOST // 65536 + 1)) as connection:
        assert answer_of(connection)[0] == 413


def test_a_body_that_is_too_large_is_refused_unread(port):
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300001\r\n\r\n"
    with sent(port, head) as connection:
        assert answer_of(connection)[0] == 413


def test_a_sender_that_vanishes_does_no_harm(port):
    for _ in range(SLOW):
        with sent(port, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n123"):
            pass

    assert told(port)[1] == 0


def test_the_application_sees_what_was_sent(port):
    environ, _ = told(
        port,
        "PUT",
        "/a%20b/%C3%A9/?q=%C3%A9&r=a+b",
        b"1",
        {"Content-Type": "a/b", "X-Word": "1", "X_Forwarded_For": "10.0.0.1", "Host": "h:1"},
    )

    assert environ["PATH_INFO"].encode("latin-1").decode() == "/a b/é/"
    assert environ["QUERY_STRING"] == "q=%C3%A9&r=a+b"
    assert (environ["REQUEST_METHOD"], environ["CONTENT_TYPE"]) == ("PUT", "a/b")
    assert (environ["HTTP_HOST"], environ["HTTP_X_WORD"]) == ("h:1", "1")
    assert (environ["REMOTE_ADDR"], environ["SERVER_PROTOCOL"]) == ("127.0.0.1", "HTTP/1.1")
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert not environ.keys() & os.environ.keys()


def test_headers_that_come_twice_are_one(port):
    head = (
        b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\nCookie: b=2\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n"
    )
    with sent(port, head) as connection:
        environ, _ = json.loads(answer_of(connection)[1])

    assert (environ["HTTP_COOKIE"], environ["HTTP_X_TWO"]) == ("a=1; b=2", "1,2")


def test_answers_keep_their_headers_and_their_pieces(port):
    with sent(port, b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
        status, content, headers = answer_of(connection)

    assert (status, content) == (200, b"one two")
    assert headers.get_all("Set-Cookie") == ["a=1", "b=2"]


def test_an_answer_whose_receiver_has_gone_ends(port):
    with sent(port, b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
        assert connection.recv(100)

    with sent(port, b"GET /gone HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
        assert answer_of(connection)[1] == b"True"


def test_a_mistake_of_the_application_is_answered_500(port):
    with sent(port, b"GET /fails HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
        assert answer_of(connection)[0] == 500


def test_a_connection_serves_one_request_after_the_other(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for size in (3, 0, 5):
        connection.request("POST", "/", b"x" * size)
        assert json.loads(connection.getresponse().read())[1] == size
    connection.close()


def test_a_server_that_is_stopped_answers_first_what_it_has_begun(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    head = f"GET /pipe{tmp_path}/pipe HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    with started("server") as (port, process), sent(port, head) as connection:
        with (tmp_path / "pipe").open("wb") as pipe:  # opens once the application reads it
            process.terminate()
            wait_until(lambda: not accepts(port))
            pipe.write(b"answered")

        assert answer_of(connection)[1] == b"answered"
        process.wait()


def test_a_head_has_no_body_and_the_connection_goes_on(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for method, has_body in (("HEAD", False), ("GET", True), ("HEAD", False), ("GET", True)):
        connection.request(method, "/")
        answer = connection.getresponse()
        assert (answer.status, bool(answer.read())) == (200, has_body)
    connection.close()


def test_a_sender_that_waits_for_the_word_is_told_to_go_on(port):
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n"
    with sent(port, head) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"123456")

        assert json.loads(answer_of(connection)[1])[1] == 6


def test_one_whose_body_is_too_large_is_not_told_to_go_on(port):
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300001\r\nExpect: 100-continue\r\n\r\n"
    with sent(port, head) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
