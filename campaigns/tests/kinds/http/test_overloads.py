"""What is counted of a target that does not answer: of its requests, of whole rounds, and of what the target may have counted."""

from typing import Any

import pytest

from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kinds.http.summary import Played
from campaigns.kinds.load.judging import judge
from campaigns.kit import histogram
from campaigns.tests.kinds.http.overloads import CHECKED, PLAIN, THREE, Server, run_at

BOTH = pytest.mark.parametrize("scenario", [PLAIN, CHECKED], ids=["plain", "scenario"])
OPEN: dict[str, Any] = {"loop": "open", "rate": 200.0}


def ended(played):
    return played.done + played.failed


@BOTH
@pytest.mark.parametrize("shards", [1, 2])
def test_arrivals_of_an_overloaded_warm_up_are_no_failures_of_the_measured_part(
    monkeypatch, scenario, shards
):
    played = run_at(monkeypatch, scenario, Server(silent=(0.0, 0.7)), **OPEN, shards=shards)

    assert played.failures == {}
    assert played.done == 3 * 200
    assert played.result["warm_up"] == 200
    values = played.values()
    assert (values["failed"], values["achieved"]) == (0, 100)
    assert judge(played.figures()).word == "healthy"


@BOTH
def test_a_good_warm_up_does_not_hide_an_overloaded_measured_part(monkeypatch, scenario):
    played = run_at(monkeypatch, scenario, Server(silent=(1.0, 2.5)), **OPEN, success_limit_ms=50.0)

    assert ended(played) == 3 * 200  # each arrival after the warm-up once
    assert set(played.failures) == {"timeout"}
    values = played.values()
    assert values["failed"] == pytest.approx(100 * played.failed / 600)
    assert 40 < values["failed"] < 60
    assert values["achieved"] < 65
    assert (
        judge(played.figures()).word == "healthy"
    )  # with a limit for goodput, overload is what is asked
    assert values["goodput"] <= values["request_rate"] == pytest.approx(played.done / 3)

    without_limit = run_at(monkeypatch, scenario, Server(silent=(1.0, 2.5)), **OPEN)
    assert without_limit.values()["achieved"] == values["achieved"]
    assert judge(without_limit.figures()).word == "saturated"


def test_a_round_with_three_requests_that_time_out_is_one_round(monkeypatch):
    """A timeout is noticed after 250 ms, so 96 requests, of 32 rounds, get no answer in 24 s; 32 of 1,000 rounds are less than 5 %."""
    played = run_at(
        monkeypatch, THREE, Server(silent=(0.0, 24.0)), hosts=1, duration_seconds=None, iterations=1000
    )  # fmt: skip

    assert played.failures == {"timeout": 96}
    assert played.result["hosts_done"] == 1000 - 32
    values = played.values()
    assert values["scenario_time_p50"] == values["scenario_time_p95"] == pytest.approx(3, rel=0.01)
    assert "scenario_time_p95" not in played.censored()

    worse = run_at(
        monkeypatch, THREE, Server(silent=(0.0, 48.0)), hosts=1, duration_seconds=None, iterations=1000
    )  # fmt: skip
    assert worse.values()["scenario_time_p95"] == pytest.approx(750, rel=0.01)
    assert "scenario_time_p95" in worse.censored()


def test_rounds_that_time_out_in_several_processes_are_added(monkeypatch):
    played = run_at(monkeypatch, THREE, Server(silent=(1.0, 4.0)), **OPEN, hosts=2, shards=2)

    late, done = (
        histogram.counts_of(played.result["histograms"][name].encode()).total
        for name in ("host_censored", "host_response")
    )
    assert late + done == 600  # those that arrive at the end are answered after the silence
    assert late > 500
    assert played.values()["achieved"] < 10


def test_a_percentile_above_the_wait_of_what_timed_out_is_a_lower_limit():
    """In an open loop an answer may come later than the timeout, as its request has waited for a free host before."""
    slow = found(response=[1_000] * 900 + [300_000] * 100, censored=[200_000] * 30)
    assert slow.values()["response_p95"] == pytest.approx(300, rel=0.01)
    assert slow.censored() == {"response_p95", "response_p99"}

    quick = found(response=[1_000] * 900 + [150_000] * 100, censored=[200_000] * 2)
    assert quick.values()["response_p95"] == pytest.approx(150, rel=0.01)
    assert quick.censored() == frozenset()


def test_what_timed_out_for_lack_of_a_connection_waited_no_longer_than_it_did():
    """Connections have a timeout of their own, of at most 10 s."""
    played = found(response=[1_000] * 900, censored=[10_000_000] * 100, timeout_seconds=30.0)

    assert played.values()["response_p95"] == pytest.approx(10_000, rel=0.01)
    assert "response_p95" in played.censored()


def test_what_was_never_sent_has_no_service_time():
    played = found(response=[1_000] * 900, service=[1_000] * 900, censored=[200_000] * 100)

    assert "response_p95" in played.censored()
    assert "service_p95" not in played.censored()
    assert played.values()["service_p95"] == pytest.approx(1, rel=0.01)


def found(timeout_seconds=0.2, **series):
    """Give a run with these microseconds in its histograms."""
    parameters = {
        "loop": "closed", "duration_seconds": 4.0, "warm_up_seconds": 1.0, "timeout_seconds": timeout_seconds,
        "success_limit_ms": None,
    }  # fmt: skip
    histograms = {
        name: histogram.encode(values).encoded.decode() for name, values in series.items()
    }
    return Played(read_scenario(CHECKED), parameters, {}, {"histograms": histograms}, 60.0)


@BOTH
def test_what_the_target_may_have_counted_is_between_what_it_answered_and_what_was_sent(
    monkeypatch, scenario
):
    server = Server(silent=(0.5, 1.5))
    played = run_at(monkeypatch, scenario, server, **OPEN)

    one = {name: played.of_steps(name)["one"] for name in ("sent", "answered", "unanswered")}
    silent = sum(0.5 <= at < 1.5 for at in server.sent)
    assert silent > 0
    assert one["sent"] == len(server.sent)
    assert one["answered"] == len(server.sent) - silent
    assert one["answered"] + one["unanswered"] == played.result["rounds"]


@BOTH
def test_what_is_in_flight_at_the_time_limit_has_timed_out(monkeypatch, scenario):
    played = run_at(monkeypatch, scenario, Server(silent=(2.0, 9.0)), limit=2.1)

    assert not played.result["complete"]
    assert played.failures == {"timeout": 4}
    one = {name: played.of_steps(name)["one"] for name in ("sent", "answered", "unanswered")}
    assert one["sent"] == one["answered"] + one["unanswered"] == played.result["rounds"]
    assert one["unanswered"] == 4


@BOTH
def test_a_wait_for_no_answer_at_the_end_does_not_lower_the_rate(monkeypatch, scenario):
    served = run_at(monkeypatch, scenario, Server())
    left = run_at(monkeypatch, scenario, Server(silent=(3.998, 9.0)), timeout_seconds=30.0)

    assert left.failures == {"timeout": 4}
    assert left.values()["request_rate"] == pytest.approx(served.values()["request_rate"], rel=0.01)
