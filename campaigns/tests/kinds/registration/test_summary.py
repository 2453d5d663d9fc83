"""Numbers of a run from the rows of its hosts."""

import pytest

from campaigns.kinds.registration.program.profiles import RHSM_130
from campaigns.kinds.registration.program.sequence import columns_of
from campaigns.kinds.registration.summary import registrations

S = 1_000_000


def columns(times, failures=None, **changes):
    """Rows of hosts that took so many seconds; failures by row."""
    count = len(times)
    failed = failures or {}
    return {
        "name": [f"host{row}" for row in range(count)],
        "number": list(range(count)),
        "uuid": [f"uuid{row}" for row in range(count)],
        "intended_us": [0] * count,
        "start_us": list(range(count)),
        "total_us": [round(seconds * S) for seconds in times],
        "retries": [0] * count,
        "failure": [failed.get(row, "") for row in range(count)],
        "failed_at": ["consumer" if row in failed else "" for row in range(count)],
        "words": [f"words {row}" if row in failed else "" for row in range(count)],
        "status": [200] * count,
        "profile_refused": [0] * count,
        **{f"{name}_us": [S // 10] * count for name in columns_of(RHSM_130)},
    } | changes


def found(times, failures=None, *, hosts=None, result=None, **more):
    parameters = {"hosts": hosts or len(times), "profile": "rhsm-1.30"}
    told = {"complete": True, "window": [0.0, 10.0], "examples": {}} | (result or {})
    return registrations(parameters, columns(times, failures), told, 60.0, **more)


def test_the_mean_is_of_those_that_came_through_and_the_rate_of_the_whole_window():
    values = found([1.0, 3.0, 0.1], {2: "5xx"}).values()

    assert values["registration_time"] == 2.0
    assert values["registration_time_max"] == 3.0
    assert (values["passed"], values["failed"]) == (2, 1)
    assert values["registration_rate"] == 0.2
    assert values["first_try"] == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("hosts", "shown"),
    [(19, set()), (20, {"p50"}), (199, {"p50"}), (200, {"p50", "p95"}), (999, {"p50", "p95"}),
     (1000, {"p50", "p95", "p99"})],
)  # fmt: skip
def test_percentiles_are_given_where_enough_hosts_lie_above_them(hosts, shown):
    values = found([1.0] * hosts).values()

    names = {name.removeprefix("registration_time_") for name in values if "_p" in name}
    assert names == shown


def test_hosts_that_timed_out_stand_above_all_others():
    times = [float(row + 1) for row in range(180)] + [200.0] * 20
    run = found(times, dict.fromkeys(range(180, 200), "timeout"))

    assert run.values()["registration_time_p50"] == 100.0
    assert run.values()["registration_time_p95"] == 200.0
    assert run.censored() == {"registration_time_p95"}


def test_other_failures_do_not_lengthen_the_tail():
    times = [1.0] * 380 + [0.01] * 20
    run = found(times, dict.fromkeys(range(380, 400), "5xx"))

    assert run.values()["registration_time_p95"] == 1.0
    assert run.censored() == frozenset()


def test_hosts_without_a_row_have_timed_out():
    run = found([1.0, 1.0], hosts=5, result={"complete": False})

    assert run.failures() == {"timeout": 3}
    assert run.failed == 3
    assert "ended the run after 2 of 5 hosts had registered" in run.failure()


def test_the_middle_of_the_completions_is_the_throughput():
    run = found([float(row) for row in range(1, 101)])

    assert run.values()["middle_rate"] == pytest.approx(80 / 80)
    assert "middle_rate" not in found([1.0] * 19).values()
    assert "middle_rate" not in found([1.0] * 50).values()


def test_the_retry_phase_changes_the_eventual_success_alone():
    run = found([1.0, 9.0], {1: "5xx"}, retried=frozenset({1}))

    values = run.values()
    assert (values["first_try"], values["eventual"]) == (50, 100)
    assert values["registration_time"] == 1.0
    assert run.samples()["eventual"] == ["first try", "retry"]
    assert run.failed_numbers == [1]


def test_completions_are_counted_by_the_second():
    assert found([0.5, 0.9, 2.1]).completions() == [2, 0, 1]
    assert found([0.5], {0: "5xx"}).completions() == []


def test_a_program_that_was_ended_leaves_a_sentence():
    run = registrations({"hosts": 3, "profile": "rhsm-1.30"}, {}, {}, 60.0)

    assert run.failure() == "The time limit of 60 s ended the run, and its program."
    assert run.failures() == {"timeout": 3}


def test_nobody_came_through():
    run = found([0.1, 0.2], {0: "auth", 1: "auth"})

    assert run.failure() == "None of 2 hosts registered (2 auth). The first: words 0"
    assert "registration_time" not in run.values()
    assert run.step_means() == {}
