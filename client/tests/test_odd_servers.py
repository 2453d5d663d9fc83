"""Servers that are away, busy, or none at all; the proper one is in the other modules."""

import socket
import threading
from contextlib import closing, contextmanager, suppress

import httpx
import pytest

from campaigns.tests.kinds.programs.certificates import DAY, NOW, Authority
from perfdash_client import app
from perfdash_client.connection import retry_after

PROBLEM = {"Content-Type": "application/problem+json"}
WHO = {"user": "owner"}


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("PERFDASH_URL", "http://perf.test")
    monkeypatch.setenv("PERFDASH_TOKEN", "t")


class in_turn:  # noqa: N801  reads as a verb
    """Gives one answer, or error, after the other; the requests are kept."""

    def __init__(self, *answers):
        self.left, self.seen = list(answers), []

    def __call__(self, request):
        self.seen.append(request)
        result = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(result, Exception):
            raise result
        return result() if callable(result) else result


def busy(status=503, **headers):
    return lambda: httpx.Response(
        status, json={"detail": "The database is away."}, headers=PROBLEM | headers
    )


def ok():
    return httpx.Response(200, json=WHO)


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        (httpx.Response(200, html="<h1>Sign in"), 4, "answers 200 with text/html, which is not"),
        (httpx.Response(404, text="nothing"), 4, "answers 404 with text/plain"),
        (
            httpx.Response(302, headers={"Location": "https://perf.test/"}),
            4,
            "sends us on to https:",
        ),
        (httpx.Response(200, text="{", headers={"Content-Type": "application/json"}), 4, "is none"),
        (
            httpx.Response(401, json={"detail": "Unknown token."}, headers=PROBLEM),
            3,
            "page Account",
        ),
        (
            httpx.Response(500, json={"detail": "A mistake.", "request": "r1"}, headers=PROBLEM),
            3,
            "request r1",
        ),
        (httpx.Response(400, json=["x"], headers=PROBLEM), 4, "is not perfdash's API"),
        (httpx.ConnectError("boom"), 4, "broke off: boom."),
        (httpx.ReadTimeout("late"), 4, "did not answer in time"),
        (httpx.ProxyError("407 Proxy Authentication Required"), 4, "HTTPS_PROXY"),
        (httpx.DecodingError("bad gzip"), 4, "cannot be asked: bad gzip"),
    ],
    ids=str,
)
def test_what_is_no_good_answer_is_told_in_a_sentence(call, rests, answer, code, told):
    ran = call("whoami", answers=in_turn(answer))

    assert ran.code == code
    assert told in ran.words
    assert ran.out == ""
    assert rests == []


def test_a_server_that_asks_to_wait_is_given_the_time_and_people_are_told(call, rests):
    answers = in_turn(busy(**{"Retry-After": "7"}), busy(429, **{"Retry-After": "2"}), ok)

    ran = call("whoami", "--json", answers=answers)

    assert (ran.code, rests) == (0, [7, 2])
    assert "The database is away. Trying again in 7 s." in ran.err
    assert ran.data["user"] == "owner"


def test_patience_is_bounded(call, rests):
    answers = in_turn(busy(**{"Retry-After": "3600"}))

    ran = call("whoami", answers=answers)
    impatient = call("--patience", 0, "whoami", answers=in_turn(busy(429)))

    assert (ran.code, impatient.code, rests) == (4, 3, [])
    assert "would take 3600 s more, and --patience is 60 s" in ran.words
    assert "--patience is 0 s" in impatient.words


def test_a_proxy_before_a_server_that_restarts_is_asked_again(call, rests):
    ran = call("whoami", answers=in_turn(httpx.Response(502, html="Bad gateway"), ok))

    assert (ran.code, rests) == (0, [1])
    assert "is not running behind it, or restarts" in ran.err


def test_what_was_lost_on_the_way_is_sent_again_under_the_same_key(call, rests, written):
    answers = in_turn(
        lambda: httpx.Response(200, json={"id": 1, "name": "a", "probed_at": None}),
        httpx.ReadError("reset"),
        httpx.ConnectError("refused"),
        lambda: httpx.Response(
            200,
            json={"name": "a", "health": "ready", "health_message": "", "proofs": []}
            | {"warnings": ["just asked"]},
        ),
    )

    ran = call("target", "probe", "1", answers=answers)

    assert ran.code == 0, ran.err
    posts = [request for request in answers.seen if request.method == "POST"]
    assert len(posts) == 3
    assert len({request.headers["Idempotency-Key"] for request in posts}) == 1
    assert len(rests) == 2
    assert "Idempotency-Key" not in answers.seen[0].headers


def test_every_post_has_a_key_of_its_own(call, written):
    answers = in_turn(lambda: httpx.Response(409, json={"detail": "No."}, headers=PROBLEM))
    for command in (["launch", 1], ["pause", 1], ["resume", 1], ["cancel", 1]):
        call("campaign", *command, answers=answers)
    call("campaign", "create", written("question: Q?"), answers=answers)

    keys = [request.headers["Idempotency-Key"] for request in answers.seen]

    assert len(set(keys)) == len(keys) == 5


def test_a_token_goes_nowhere_else_and_into_no_message(call, monkeypatch):
    monkeypatch.setenv("PERFDASH_TOKEN", "secret-token")
    answers = in_turn(httpx.Response(302, headers={"Location": "http://elsewhere.test/"}))

    ran = call("whoami", answers=answers)

    assert {request.url.host for request in answers.seen} == {"perf.test"}
    assert "secret-token" not in ran.words


def test_a_server_cannot_write_to_the_terminal(call):
    evil = "\x1b]0;owned\x07\x1b[31m\u202e"
    answers = in_turn(lambda: httpx.Response(400, json={"detail": evil}, headers=PROBLEM))

    ran = call("whoami", answers=answers)

    assert not set(evil) & set(ran.err) - set("0;owned[31m]")


@contextmanager
def listening(serve):
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=serve, args=[server], daemon=True)
        thread.start()
        yield server.getsockname()[1]
    thread.join(5)


def real(*arguments):
    """Call the program with its own connection."""
    return app.main([str(argument) for argument in arguments])


def test_nobody_listens(monkeypatch, capfd):
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("PERFDASH_URL", f"http://127.0.0.1:{port}")

    assert real("whoami") == 4
    assert "connection refused). Is perfdash running?" in " ".join(capfd.readouterr().err.split())


def test_no_such_host(monkeypatch, capfd):
    monkeypatch.setenv("PERFDASH_URL", "http://perfdash.invalid")

    assert real("whoami") == 4
    assert "There is no host “perfdash.invalid”" in capfd.readouterr().err


def test_what_listens_speaks_no_http(monkeypatch, capfd):
    def serve(server):
        with closing(server.accept()[0]) as connection:
            connection.recv(1000)
            connection.sendall(b"220 mail.example.org ESMTP\r\n")

    with listening(serve) as port:
        monkeypatch.setenv("PERFDASH_URL", f"http://127.0.0.1:{port}")
        code = real("whoami")

    assert code == 4
    assert "broke off" in capfd.readouterr().err


def over_tls(context):
    def serve(server):
        with (
            closing(server.accept()[0]) as connection,
            suppress(OSError),
            context.wrap_socket(connection, server_side=True) as tls,
        ):
            tls.recv(10_000)
            tls.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                b"Content-Length: 16\r\nConnection: close\r\n\r\n"
                b'{"user": "anna"}'
            )

    return serve


@pytest.mark.parametrize(
    ("until", "trusted", "told"),
    [
        (NOW + DAY, False, "certificate that cannot be trusted: unable to get local issuer"),
        (NOW - DAY / 2, True, "certificate that cannot be trusted: certificate has expired"),
    ],
    ids=["unknown", "expired"],
)
def test_a_bad_certificate_is_told_with_its_remedy(
    monkeypatch, capfd, tmp_path, until, trusted, told
):
    authority = Authority(tmp_path, "ours")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    with listening(over_tls(authority.context(until=until))) as port:
        monkeypatch.setenv("PERFDASH_URL", f"https://127.0.0.1:{port}")
        code = real("whoami")

    err = " ".join(capfd.readouterr().err.split())
    assert code == 4
    assert told in err
    assert "SSL_CERT_FILE" in err


def test_an_authority_of_ones_own_is_trusted(monkeypatch, capfd, tmp_path):
    authority = Authority(tmp_path, "ours")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    with listening(over_tls(authority.context())) as port:
        monkeypatch.setenv("PERFDASH_URL", f"https://127.0.0.1:{port}")
        code = real("whoami", "--json")

    assert code == 0
    assert '"user": "anna"' in capfd.readouterr().out


def test_plain_http_where_tls_was_asked_for(monkeypatch, capfd):
    def serve(server):
        with closing(server.accept()[0]) as connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listening(serve) as port:
        monkeypatch.setenv("PERFDASH_URL", f"https://127.0.0.1:{port}")
        code = real("whoami")

    assert code == 4
    assert "does not speak TLS as it should" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5", 5.0), ("", None), ("soon", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("-1", None)],
)
def test_retry_after_is_a_number_or_an_instant(text, seconds):
    assert retry_after(httpx.Response(503, headers={"Retry-After": text})) == seconds
