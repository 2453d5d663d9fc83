"""The plain load program: one request repeated, against a real server."""

import itertools
import socket
import time

import pytest

from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.program import ProgramFailed
from campaigns.kit import histogram
from campaigns.tests.kinds.load.servers import ANSWERS
from campaigns.tests.kinds.programs.servers import asked_head, behaving

pytestmark = pytest.mark.system

PLAIN = "campaigns.kinds.load"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def count(result, name: str) -> int:
    encoded = result["histograms"].get(name)
    return histogram.summarise(encoded.encode()).count if encoded else 0


def longest(result, name: str) -> int:
    """Give the largest value in microseconds."""
    return histogram.summarise(result["histograms"][name].encode()).maximum or 0


def test_every_request_is_counted_once(load, place):
    outcome = load({"hosts": 3, "iterations": 50}, PLAIN, place=f"http://{place}/ok", processes=2)

    result = outcome.result
    assert result["complete"]
    for name in ("service", "response", "lag", "first_byte", "body"):
        assert count(result, name) == 150
    assert count(result, "connect") == 3
    assert result["statuses"] == {"200": 150}
    assert sum(result["per_second"]["done"]) == 150
    assert result["bytes"] == 150 * len(ANSWERS["ok"])
    assert sorted(outcome.samples["host"]) == [0, 1, 2]
    assert outcome.samples["requests"] == [50, 50, 50]


@pytest.mark.parametrize(
    ("path", "failures", "statuses"),
    [
        ("chunked", {}, {"200": 4}),
        ("bytewise", {}, {"200": 4}),
        ("interim", {}, {"200": 4}),
        ("close", {}, {"200": 4}),
        ("until-close", {}, {"200": 4}),
        ("unchanged", {}, {"304": 4}),
        ("moved", {"protocol": 4}, {"302": 4}),
        ("html", {"5xx": 4}, {"500": 4}),
        ("limited", {"429": 4}, {"429": 4}),
        ("missing", {"4xx": 4}, {"404": 4}),
        ("login", {"auth": 4}, {"401": 4}),
        ("garbage", {"protocol": 4}, {}),
        ("twice", {"protocol": 4}, {}),
        ("half", {"protocol": 4}, {}),
        ("reset-half", {"connect": 4}, {}),
        ("reset", {"connect": 4}, {}),
        ("nothing", {"connect": 4}, {}),
        ("slow/1", {"timeout": 4}, {}),
        ("slow-body/1", {"timeout": 4}, {}),
        ("trickle", {"timeout": 4}, {}),
        ("continues", {"timeout": 4}, {}),
        ("length-of-23-digits", {"protocol": 4}, {}),
    ],
)
def test_each_failure_is_counted_by_its_class(load, place, path, failures, statuses):
    slow = "timeout" in failures
    outcome = load(
        {"hosts": 2, "iterations": 2},
        PLAIN,
        place=f"http://{place}/{path}",
        timeout_seconds=0.2 if slow else 30.0,
    )

    result = outcome.result
    assert result["failures"] == failures
    assert result["statuses"] == statuses
    assert set(result["examples"]) == set(failures)
    assert count(result, "service") == (0 if failures else 4)
    assert count(result, "censored") == (4 if slow else 0)
    assert outcome.samples["failures"] == ([2, 2] if failures else [0, 0])


def test_a_target_that_is_gone_is_not_hammered(load):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        result = load({"hosts": 2, "duration_seconds": 0.5}, PLAIN, place=gone).result

    assert set(result["failures"]) == {"connect"}
    assert 2 <= result["failures"]["connect"] <= 22
    assert "refused" in result["examples"]["connect"]


def test_what_a_dropped_connection_did_not_take_is_sent_once_more(load):
    def once(connection: socket.socket) -> None:
        asked_head(connection)
        connection.sendall(OK)
        asked_head(connection)  # and then it hangs up without a word

    with behaving(once) as (place, accepted):
        result = load({"hosts": 1, "iterations": 3}, PLAIN, place=f"http://{place}/").result

    assert result["failures"] == {"connect": 2}
    assert count(result, "service") == 1
    assert count(result, "retry_service") == 2
    assert len(accepted) == 3


@pytest.mark.system
def test_a_stall_of_a_real_server_shows_in_full_from_the_intended_start(load):
    """What is counted can only grow on a slow machine; `test_stalls` has the exact numbers."""
    asked = itertools.count()
    until = [0.0]

    def stalling(connection: socket.socket) -> None:
        while asked_head(connection):
            if next(asked) == 50:
                until[0] = time.monotonic() + 0.5
            time.sleep(max(0.0, until[0] - time.monotonic()))
            connection.sendall(OK)

    with behaving(stalling) as (place, _):
        result = load(
            {"hosts": 4, "loop": "open", "rate_per_second": 200, "iterations": 300},
            PLAIN,
            place=f"http://{place}/",
        ).result

    response = histogram.counts_of(result["histograms"]["response"].encode())
    assert count(result, "service") == response.total == 300
    slow = int(response.counts[response.steps >= step_of_200_ms()].sum())
    assert slow >= 50  # all that should have begun in the first 300 ms of the stall
    assert longest(result, "response") >= 450_000


def step_of_200_ms() -> int:
    return int(histogram.counts_of(histogram.encode([200_000]).encoded).steps[0])


def test_a_limit_of_requests_a_second_holds_and_makes_the_value_a_bound(load, place):
    result = load(
        {"hosts": 4, "iterations": 5}, PLAIN, place=f"http://{place}/ok", most_per_second=50
    ).result

    assert result["seconds"] >= 19 / 50
    verdict = judge(result["figures"])
    assert verdict.word == "saturated"
    assert any("limit of 50 requests/s" in reason for reason in verdict.reasons)


def test_a_limit_of_requests_at_a_time_lowers_the_number_of_hosts(load, place):
    outcome = load(
        {"hosts": 4, "iterations": 2}, PLAIN, place=f"http://{place}/ok", most_concurrent=2
    )

    assert outcome.hello["hosts"] == 2
    assert outcome.samples["host"] == [0, 1]


def test_hosts_send_their_number(load):
    seen: list[bytes] = []

    def note(connection: socket.socket) -> None:
        while head := asked_head(connection):
            seen.append(head)
            connection.sendall(OK)

    with behaving(note) as (place, _):
        load(
            {"hosts": 2, "iterations": 1},
            PLAIN,
            place=f"http://{place}/host/{{host}}?x=1",
            headers=[["X-Host", "n{host}"]],
            sender="perfdash attempt/7",
        )

    assert sorted(head.split(b"\r\n")[0] for head in seen) == [
        b"GET /host/0?x=1 HTTP/1.1",
        b"GET /host/1?x=1 HTTP/1.1",
    ]
    assert {b"X-Host: n0" in head for head in seen} == {True, False}
    assert all(b"User-Agent: perfdash attempt/7" in head for head in seen)


def test_a_method_without_a_body_in_its_answer_is_refused(load, place):
    with pytest.raises(ProgramFailed, match="HEAD"):
        load({"hosts": 1, "iterations": 1}, PLAIN, place=f"http://{place}/ok", method="HEAD")
