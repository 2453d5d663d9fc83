"""Whole load programs, with a sequence of the tests, against a real server."""

import socket
import threading
import time

import pytest

from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.deadline import monotonic
from campaigns.kinds.programs.program import ProgramFailed
from campaigns.kit import histogram

pytestmark = pytest.mark.system

ONCE = {"hosts": 3, "iterations": 1}


def count(result, name: str) -> int:
    encoded = result["histograms"].get(name)
    return histogram.summarise(encoded.encode()).count if encoded else 0


def longest(result, name: str) -> int:
    """Give the largest value in microseconds."""
    return histogram.summarise(result["histograms"][name].encode()).maximum or 0


def test_each_host_does_its_sequence_once(load):
    outcome = load(ONCE, paths=["ok", "chunked"])

    result, rows = outcome.result, outcome.samples
    assert result["complete"]
    assert (result["hosts_done"], result["hosts_failed"]) == (3, 0)
    assert sorted(rows["host"]) == [0, 1, 2]
    assert rows["steps"] == [2, 2, 2]
    assert rows["failure"] == ["", "", ""]
    for name in ("service", "response", "lag", "first_byte", "body"):
        assert count(result, name) == 6
    for name in ("service:ok", "response:chunked", "connect", "host_response"):
        assert count(result, name) == 3
    assert result["statuses"] == {"200": 6}
    assert sum(result["per_second"]["done"]) == 6
    assert result["figures"]["service_p50_seconds"] > 0
    assert outcome.hello["libraries"].keys() >= {"uvloop", "httptools"}


def test_processes_share_the_hosts(load):
    outcome = load({"hosts": 5, "iterations": 2}, paths=["ok"], processes=2)

    result, rows = outcome.result, outcome.samples
    assert result["hosts_done"] == 10
    assert sorted(rows["host"]) == sorted([0, 1, 2, 3, 4] * 2)
    assert len(set(rows["pid"])) == 2
    assert len(set(rows["parent"])) == 1
    assert len(result["processes"]) == 2
    assert count(result, "service") == 10
    assert count(result, "service:ok") == 10


def test_each_failure_is_counted_by_its_class_and_shown_once(load):
    outcome = load({"hosts": 2, "iterations": 1}, paths=["html"])

    result = outcome.result
    assert result["failures"] == {"5xx": 2}
    assert result["host_failures"] == {"5xx": 2}
    assert "<h1>No!</h1>" in result["examples"]["5xx"]
    assert outcome.samples["failure"] == ["5xx", "5xx"]
    assert count(result, "service") == 0
    assert count(result, "host_response") == 0


def test_a_dropped_connection_may_be_used_once_more_and_is_counted_apart(load):
    result = load({"hosts": 1, "iterations": 1}, paths=["ok", "!nothing"]).result

    assert result["hosts_done"] == 1
    assert result["failures"] == {"connect": 1}
    assert count(result, "service") == 1
    assert count(result, "retry_service") == 1
    assert count(result, "retry_response:nothing") == 1


def test_a_timeout_is_kept_as_how_long_was_waited(load):
    result = load({"hosts": 1, "iterations": 1}, paths=["slow/1"], timeout_seconds=0.2).result

    assert result["failures"] == {"timeout": 1}
    assert count(result, "censored") == 1
    assert longest(result, "censored") >= 200_000


def test_what_is_not_done_at_the_time_limit_has_timed_out(load):
    outcome = load({"hosts": 2, "iterations": 1}, paths=["ok", "slow/2"], time_limit_seconds=0.5)

    assert not outcome.result["complete"]
    assert outcome.result["host_failures"] == {"timeout": 2}
    assert outcome.samples["failure"] == ["timeout", "timeout"]
    assert count(outcome.result, "service:ok") == 2


@pytest.mark.parametrize("processes", [1, 2])
def test_the_start_comes_when_all_are_ready(load, processes):
    told: list[float] = []
    ready = threading.Event()

    def start_at() -> float:
        assert ready.is_set()
        told.append(monotonic() + 0.4)
        return told[-1]

    outcome = load(
        {"hosts": 4, "iterations": 1},
        paths=["ok"],
        processes=processes,
        wait_for_start=True,
        ready=lambda values: ready.set(),
        start_at=start_at,
    )

    assert outcome.result["start_at"] == told[0]
    assert min(outcome.samples["start_us"]) >= 0
    assert outcome.result["hosts_done"] == 4


def test_values_of_the_warm_up_are_left_out(load):
    outcome = load(
        {"hosts": 1, "duration_seconds": 0.6, "warm_up_seconds": 0.3, "think_seconds": 0.02},
        paths=["ok"],
    )

    result = outcome.result
    assert result["warm_up"] > 0
    assert result["hosts_done"] > 0
    assert min(outcome.samples["intended_us"]) >= 300_000
    assert count(result, "service") == result["hosts_done"]


def test_arrivals_come_whatever_the_server_does(load):
    outcome = load(
        {"hosts": 50, "loop": "open", "rate_per_second": 50, "iterations": 10}, paths=["slow/0.3"]
    )

    assert sorted(outcome.samples["intended_us"]) == [place * 20_000 for place in range(10)]
    assert outcome.result["figures"]["offered"] == 10
    assert outcome.result["figures"]["sent"] == 10


def test_waiting_for_a_free_host_counts_from_the_intended_start(load):
    result = load(
        {"hosts": 1, "loop": "open", "rate_per_second": 100, "iterations": 4}, paths=["slow/0.2"]
    ).result

    assert longest(result, "host_service") < longest(result, "host_response")
    assert result["figures"]["offered"] == 4
    assert result["figures"]["sent"] <= 2
    assert judge(result["figures"]).word == "saturated"
    assert longest(result, "host_response") >= 4 * 200_000 - 30_000 - 1000


def test_the_owners_limit_of_requests_at_a_time_holds(load):
    begun = time.monotonic()

    result = load({"hosts": 4, "iterations": 1}, paths=["slow/0.2"], most_concurrent=2).result

    assert result["hosts_done"] == 4
    assert result["seconds"] >= 0.4
    assert time.monotonic() - begun >= 0.4


def test_the_owners_limit_of_requests_a_second_holds(load):
    result = load(
        {"hosts": 10, "iterations": 1}, paths=["ok"], most_per_second=20, processes=2
    ).result

    assert result["seconds"] >= 9 / 20
    assert len(result["processes"]) == 1
    assert result["figures"]["held_back_share"] > 0.02


def test_a_process_that_ends_fails_the_run(load):
    with pytest.raises(ProgramFailed, match="no such luck"):
        load(ONCE, paths=["ok"], processes=2, crash_in_shard=[1, 2])


def test_a_schedule_that_makes_no_sense_is_told(load):
    with pytest.raises(ProgramFailed, match="0 hosts"):
        load({"hosts": 0, "iterations": 1}, paths=["ok"])


def test_a_connection_that_cannot_be_had_is_a_failure_of_its_host(load):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gone = f"127.0.0.1:{taken.getsockname()[1]}"
        result = load(ONCE, place=gone, paths=["ok"]).result

    assert result["failures"] == {"connect": 3}
    assert result["host_failures"] == {"connect": 3}
    assert "refused" in result["examples"]["connect"]
