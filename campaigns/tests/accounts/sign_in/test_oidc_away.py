"""A provider that is away, hangs, drips or is hostile: a page that says so, soon, and never an error of ours."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep

import pytest
from django.test import Client

from campaigns.accounts.sign_in import exchange, oidc
from campaigns.kit.rates import Rate
from campaigns.tests.browsing import Page
from perfdash.oidc import Provider

pytestmark = pytest.mark.django_db
BEGIN = "/sign-in/oidc/"


@pytest.fixture
def configure(settings, monkeypatch):
    monkeypatch.setattr(oidc, "TRIES", Rate(10_000, 60))

    def change(port, seconds=5.0):
        settings.OIDC = Provider(
            issuer=f"http://127.0.0.1:{port}", client_id="perfdash", client_secret="secret",  # noqa: S106
            name="Staff", everybody=True, team="", roles=("viewer",), trusts_email=False,
            seconds=seconds,
        )  # fmt: skip

    return change


@contextmanager
def answering(answer):
    """A server that answers every GET by a function of the handler."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def metadata(port, **changes):
    base = f"http://127.0.0.1:{port}"
    usual = {
        "issuer": base, "authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token",
        "jwks_uri": f"{base}/keys",
    }  # fmt: skip
    return json.dumps(usual | changes).encode()


def says(body, status=200, **headers):
    def answer(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def refused(answer):
    assert answer.status_code == 502
    page = Page(answer)
    assert "Staff does not answer, or what it answers does not hold" in page.text
    assert page.named("password")  # the other way in is there


def test_one_that_is_away_gives_a_page(configure):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens
        configure(bound.getsockname()[1])

        refused(Client().get(BEGIN))


def test_one_whose_name_nobody_knows_gives_a_page(configure, settings):
    configure(1)
    settings.OIDC = Provider(**{**_fields(settings.OIDC), "issuer": "https://login.invalid"})

    refused(Client().get(BEGIN))


def _fields(provider):
    return {name: getattr(provider, name) for name in provider.__dataclass_fields__}


def test_one_that_hangs_holds_nobody_longer_than_the_setting_says(configure):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        configure(deaf.getsockname()[1], seconds=0.3)
        started = monotonic()

        refused(Client().get(BEGIN))

    assert monotonic() - started < 5  # a thread would have been held for ever


def test_one_that_drips_is_cut_off_too(configure):
    ended = threading.Event()

    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while not ended.is_set():
                handler.wfile.write(b" ")
                sleep(0.05)
        except OSError:
            ended.set()

    with answering(drip) as port:
        configure(port, seconds=0.5)

        refused(Client().get(BEGIN))

        assert ended.wait(5)  # the connection was closed by us


@pytest.mark.parametrize(
    "answer",
    [
        says(b"", 500),
        says(b"<html>"),
        says(b"[]"),
        says(b"null"),
        says(b"{}"),
        says(b" " * 2_000_000),
        says(b"", 302, Location="http://127.0.0.1:9/elsewhere"),
        says(b"\xff\xfe"),
    ],
    ids=["error", "page", "list", "null", "empty", "huge", "elsewhere", "no text"],
)
def test_one_that_answers_nonsense_gives_a_page(configure, answer):
    with answering(answer) as port:
        configure(port)

        refused(Client().get(BEGIN))


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://login.example.org"},
        {"issuer": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "file:///etc/passwd"},
        {"jwks_uri": None},
    ],
)
def test_one_that_publishes_what_does_not_hold_gives_a_page(configure, change):
    def answer(handler):
        says(metadata(handler.server.server_address[1], **change))(handler)

    with answering(answer) as port:
        configure(port)

        refused(Client().get(BEGIN))


def test_a_redirection_is_not_followed(configure):
    asked = []

    def elsewhere(handler):
        asked.append(handler.path)
        says(b"", 302, Location="/further")(handler)

    with answering(elsewhere) as port:
        configure(port)
        Client().get(BEGIN)

    assert asked == ["/.well-known/openid-configuration"]


def test_it_is_asked_at_a_sign_in_only(configure):
    asked = []

    def answer(handler):
        asked.append(handler.path)
        says(metadata(handler.server.server_address[1]))(handler)

    with answering(answer) as port:
        configure(port)
        Client().get("/sign-in/")
        assert not asked
        assert Client().get(BEGIN)["Location"].startswith(f"http://127.0.0.1:{port}/authorize?")

    assert len(asked) == 1


def test_few_threads_wait_for_it_and_the_others_say_so(configure):
    configure(9)
    taken = 0
    while exchange._slots.acquire(blocking=False):
        taken += 1
    try:
        answer = Client().get(BEGIN)
    finally:
        for _ in range(taken):
            exchange._slots.release()

    assert taken == 3
    assert answer.status_code == 503
    assert "Many sign in at this moment" in Page(answer).text


def test_who_begins_again_and_again_has_to_wait(configure, monkeypatch):
    def answer(handler):
        says(metadata(handler.server.server_address[1]))(handler)

    with answering(answer) as port:
        configure(port)
        monkeypatch.setattr(oidc, "TRIES", Rate(2, 600))
        client = Client(REMOTE_ADDR="192.0.2.77")
        statuses = [client.get(BEGIN).status_code for _ in range(3)]

    assert statuses == [302, 302, 429]
