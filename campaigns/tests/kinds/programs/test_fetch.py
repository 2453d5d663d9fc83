import socket
import threading
import time

import pytest

from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kit.http import guarded
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.network import BadUrl, Refused, parse_rules
from campaigns.tests.kinds.programs.processes import until

RULES = parse_rules("127.0.0.1:*")


class Stop(Exception):
    pass


def go_on() -> None:
    pass


def test_a_document_comes_with_its_status_and_headers(sandbox):
    answer = fetch(sandbox.base_url + "/health", RULES, go_on, Limits())

    assert answer.status == 200
    assert answer.body.strip() == b"ok"
    assert "Content-Length" in answer.headers
    assert answer.seconds > 0


def test_a_head_has_no_body(sandbox):
    answer = fetch(sandbox.base_url + "/health", RULES, go_on, Limits(), method="HEAD")

    assert answer.body == b""


def test_an_error_is_an_answer_too(sandbox):
    answer = fetch(sandbox.manifest(manifest="error"), RULES, go_on, Limits())

    assert answer.status == 500


@pytest.mark.parametrize(
    ("settings", "failure"),
    [
        ({"manifest": "endless"}, "size"),
        ({"manifest": "hang"}, "timeout"),
        ({"manifest": "reset"}, "connect"),
        ({"manifest": "redirect", "to": "127.0.0.2:80"}, "address"),
    ],
)
def test_what_gives_no_answer_is_told_by_class(sandbox, settings, failure):
    limits = Limits(read_timeout_seconds=0.3, most_bytes=100_000)

    with pytest.raises(FileFailed) as caught:
        fetch(sandbox.manifest(**settings), RULES, go_on, limits)

    assert caught.value.failure == failure


def test_an_answer_that_drips_on_and_on_ends_at_the_limit_of_time(sandbox):
    url = sandbox.manifest(files=1, size="1MB", bandwidth="20kB").replace(
        "PULP_MANIFEST", "file-000000.bin"
    )

    with pytest.raises(FileFailed) as caught:
        fetch(url, RULES, go_on, Limits(total_seconds=0.3))

    assert caught.value.failure == "timeout"


def test_a_fetch_that_is_stopped_lets_go_of_the_server(sandbox):
    url = sandbox.manifest(manifest="hang", label="let-go")
    started = time.monotonic()

    def in_flight():
        return sandbox.stats()["labels"]["let-go"]["in_flight"]

    def check() -> None:
        if time.monotonic() - started > 0.3:
            raise Stop

    with pytest.raises(Stop):
        fetch(url, RULES, check, Limits())

    assert until(lambda: in_flight() == 0, 8.0)
    assert until(lambda: "fetch" not in {thread.name for thread in threading.enumerate()})


def test_nothing_is_sent_where_the_end_came_while_it_connected(monkeypatch):
    connect, connected = guarded._Checked._connect, threading.Event()

    def connect_slowly(self, made, address):
        connect(self, made, address)
        connected.set()

    def check() -> None:
        if connected.is_set():
            raise Stop

    monkeypatch.setattr(guarded._Checked, "_connect", connect_slowly)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(Stop):
            fetch(f"http://127.0.0.1:{server.getsockname()[1]}/", RULES, check, Limits())
        made, _ = server.accept()
        with made:
            made.settimeout(5)
            assert made.recv(1) == b""


def test_a_url_that_may_not_be_fetched_is_refused_at_once(sandbox):
    with pytest.raises(Refused):
        fetch(sandbox.base_url, parse_rules("127.0.0.2:*"), go_on, Limits())
    with pytest.raises(BadUrl):
        fetch("file:///etc/passwd", RULES, go_on, Limits())
