"""Answers that go wrong, as a test wants them to."""

import http.client
import json

import pytest

from sandbox.katello.behaviour import BadKatello, KatelloBehaviour
from sandbox.katello.process import SimulatedKatello
from sandbox.tests.katello.tls import REGISTER, Client, described


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ("html", 200, "text/html"),
        ("unavailable", 503, "text/html"),
        ("empty", 500, ""),
        ("rate", 429, ""),
        ("unauthorized", 401, ""),
        ("absent", 404, ""),
        ("gone", 410, ""),
    ],
)
def test_an_answer_may_be_another_than_katellos(
    server: SimulatedKatello, stranger: Client, fault: str, status: int, kind: str
) -> None:
    server.behave(fault=fault)

    answer = stranger.ask("POST", REGISTER, described("host1.example"))

    assert answer.status == status
    if kind:
        assert answer.headers["Content-Type"].startswith(kind)
    else:
        assert answer.raw == b""


@pytest.mark.parametrize("fault", ["half", "reset"])
def test_an_answer_may_break_off(server: SimulatedKatello, stranger: Client, fault: str) -> None:
    server.behave(fault=fault)

    with pytest.raises((http.client.HTTPException, ConnectionError)):
        stranger.ask("GET", "/rhsm/")


def test_a_share_of_some_requests_goes_wrong(server: SimulatedKatello, stranger: Client) -> None:
    server.behave(fault="rate", fault_share=0.5, fault_on="^GET /rhsm/status")

    statuses = [stranger.ask("GET", "/rhsm/status").status for _ in range(40)]

    assert 8 < statuses.count(429) < 32
    assert stranger.ask("GET", "/rhsm/").status == 200


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(BadKatello, match="fault_on: a regular expression"):
        KatelloBehaviour.of(json.loads('{"fault_on": "["}'))
