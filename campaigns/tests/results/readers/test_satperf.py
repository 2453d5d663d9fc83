"""What perf teams of Satellite have: satperf's measurement.log and opl's status data."""

import json
from datetime import UTC, datetime

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, only_run, problem, read_file, runs_at

REGISTRATION = "50-concurrent-exec-Execute registration"


def test_the_number_in_the_name_of_a_log_is_a_factor():
    read = read_file("measurement.log")

    assert read.factors["concurrency"] == (40, 80, 120, 160, "none")
    (run,) = runs_at(read, test=REGISTRATION, concurrency=120)
    seconds = 1772440275.307187 - 1772440200.003067
    assert run.values == pytest.approx(
        {
            "item_duration_mean": 62.412802,
            "item_rate": 113 / seconds,
            "failed_share": 7 / 120,
        }
    )
    assert (run.units_done, run.units_failed) == (113, 7)
    assert run.started_at == datetime.fromtimestamp(1772440200.003067, UTC)
    assert read.facts["satellite"] == "satellite-6.18.1-1.el9sat.noarch"


def test_a_command_is_a_run_with_its_duration_and_its_exit_code():
    read = read_file("measurement.log")

    (good,) = runs_at(read, test="50-concurrent-exec", concurrency=40)
    assert (good.values, good.state) == ({"duration": 40.0}, "ok")
    (bad,) = runs_at(read, test="50-concurrent-exec", concurrency=160)
    assert (bad.values, bad.reason) == ({"duration": 160.0}, "exit code 2")


def test_a_line_with_its_own_duration_and_one_of_tasks_are_read():
    read = read_file("measurement.log")

    (stated,) = runs_at(read, test="14-capsule-sync")
    assert stated.values == {"duration": 245.38}
    assert stated.started_at == datetime(2026, 3, 2, 9, 20, 0, 120000, tzinfo=UTC)
    (tasks,) = runs_at(read, test="12-repo-sync-duration")
    assert tasks.values == {"tasks_duration": 326.127}


def test_a_measurement_that_found_nothing_is_failed():
    read = read_file("measurement.log")

    (run,) = runs_at(read, test="50-concurrent-exec-No such thing")
    assert (run.state, run.reason) == ("failed", "nothing was found in its log")
    assert run.values == {}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("a,b.log,0,1772438400", "4 fields"),
        ("a,b.log,0,1772438401,1772438400,katello-4,satellite-6,run", "is before the start"),
        ("a,b.log,0,yesterday,1772438400,katello-4,satellite-6,run", "“yesterday” is no instant"),
        ("a,b.log,0,99999999999999,1772438400,katello-4,satellite-6,run", "is no instant"),
    ],
)
def test_a_bad_line_of_satperf_is_named(line, what):
    where, text = problem(f"{line}\n", "satperf_log")

    assert where == "line 1"
    assert what in text


def test_status_data_is_one_run():
    read = read_file("opl_status_data.json")
    run = only_run(read)

    assert read.name == "default/50-concurrent-exec-120-Execute_registration"
    assert run.values == {
        "duration": 75.0,
        "items_avg_duration": 62.412802,
        "items_duration": 7052.646657,
        "monitored_satellite_load_load_shortterm": 3.2456084177165594,
    }
    assert (run.units_done, run.state) == (113, "ok")
    assert run.started_at == datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
    assert read.facts["version-y-stream"] == "6.18"
    assert read.info["result"] == "PASS"


def test_other_parameters_of_status_data_are_factors_and_a_bad_exit_code_fails():
    document = json.loads((DATA / "opl_status_data.json").read_text())
    document["parameters"] |= {"test": {"concurrency": 120}, "policy": "immediate"}
    document["results"]["rc"] = 1

    read = readers.read(json.dumps(document).encode())

    assert read.factors == {"test.concurrency": (120,), "policy": ("immediate",)}
    assert only_run(read).reason == "exit code 1"


def test_a_share_of_failures_needs_the_number_that_was_asked():
    line = (
        "reg-average.py,run-x/{}-registration.log,0,1772438400,1772438452,katello-4.18,satellite-6.18,run,"
        "results.items.passed=40 results.items.avg_duration=33.6\n"
    )

    known, unknown = (
        only_run(readers.read(line.format(name).encode(), format="satperf_log"))
        for name in ("50-concurrent-exec-50-Execute", "first")
    )

    assert known.values["failed_share"] == 0.2
    assert "failed_share" not in unknown.values
    assert unknown.values["item_rate"] == 40 / 52
