"""Tools that repeat a command or a function: pytest-benchmark and hyperfine."""

import json

import pytest

from campaigns import readers
from campaigns.tests.readers.files import problem, read_file, runs_at


def test_every_round_of_pytest_benchmark_is_a_run():
    read = read_file("pytest-benchmark.json")

    assert len(read.runs) == 68
    assert read.factors == {
        "benchmark": ("test_write", "test_sort"),
        "engine": ("dumps", "repr", "none"),
        "size": (10, 100, "none"),
    }
    assert read.primary_metric == "duration"
    rounds = runs_at(read, benchmark="test_write", engine="dumps", size=100)
    assert len(rounds) == 15
    assert rounds[0].values == {"duration": 1.5650002751499414e-05}
    assert read.facts["node"] == "host.example.com"
    assert read.facts["python version"] == "3.11.7"
    assert read.info["commit id"] == "0303b72fa94b75ff86e63f06c1c00cf21779bf08"


def test_rounds_of_several_iterations_are_told_to_be_means():
    read = read_file("pytest-benchmark.json")

    assert [metric.fidelity for metric in read.metrics] == ["aggregated"]
    assert "Rounds of several iterations" in read.dropped[0]
    assert {run.units_done for run in runs_at(read, benchmark="test_sort")} == {20}


def test_rounds_of_one_iteration_are_raw():
    document = {
        "machine_info": {},
        "commit_info": {},
        "benchmarks": [{"name": "test_a", "stats": {"data": [0.5, 0.25], "iterations": 1}}],
    }

    read = readers.read(json.dumps(document).encode())

    assert [metric.fidelity for metric in read.metrics] == ["raw"]
    assert [run.values["duration"] for run in read.runs] == [0.5, 0.25]
    assert read.factors == {}


def test_a_file_without_rounds_gives_one_run_with_the_summary():
    read = read_file("pytest-benchmark-saved.json")

    assert len(read.runs) == 5
    (run,) = runs_at(read, engine="repr", size=100)
    assert run.values == {
        "duration_mean": 2.050133431718374e-05,
        "duration_median": 1.0923999070655555e-05,
        "duration_min": 1.0823001503013074e-05,
        "duration_max": 0.00015360800171038136,
        "duration_stddev": 3.682336367180718e-05,
    }
    assert read.primary_metric == "duration_mean"
    assert any("Single rounds are not in the file" in each for each in read.dropped)


def test_parameters_of_hyperfine_are_factors():
    for version, metrics in (("1.15", ["duration"]), ("1.20", ["duration", "memory"])):
        read = read_file(f"hyperfine-{version}.json")

        assert read.factors == {"size": (1000, 2000, 3000)}
        assert len(read.runs) == 36
        assert [metric.name for metric in read.metrics] == metrics
    first = read.runs[0]
    assert first.values == {"duration": 0.006166495, "memory": 3280896.0}
    assert first.state == "ok"


def test_an_exit_code_other_than_0_is_a_failed_run():
    read = read_file("hyperfine-failed.json")

    failed = runs_at(read, status=3)
    assert len(failed) == 5
    assert {(run.state, run.reason) for run in failed} == {("failed", "exit code 3")}
    assert {run.state for run in runs_at(read, status=0)} == {"ok"}


def test_several_commands_without_parameters_are_a_factor():
    read = read_file("hyperfine-commands.json")

    assert read.factors == {"command": ("named", "sleep 0.01")}
    assert runs_at(read, command="sleep 0.01")[0].values["duration"] == 0.011810073


def test_commands_with_the_same_parameters_get_their_template_as_a_factor():
    results = [
        {
            "command": f"{tool} {level}",
            "times": [1.0],
            "exit_codes": [0],
            "parameters": {"n": level},
        }
        for tool in ("gzip", "zstd")
        for level in ("1", "2")
    ]

    read = readers.read(json.dumps({"results": results}).encode())

    assert read.factors == {"command": ("gzip {n}", "zstd {n}"), "n": (1, 2)}


def test_a_run_that_a_signal_ended_is_failed():
    result = {"command": "a", "times": [1.0], "exit_codes": [None]}

    (run,) = readers.read(json.dumps({"results": [result]}).encode()).runs

    assert run.reason == "ended by a signal"


@pytest.mark.parametrize(
    ("result", "where", "what"),
    [
        ({"command": "a", "times": [1, "x"]}, "results[0].times[1]", "There is a text where"),
        ({"command": "a", "times": [-1]}, "results[0].times[0]", "negative"),
        ({"command": "a", "times": [1], "exit_codes": []}, "results[0].exit_codes", "0 elements"),
        ({"times": [1]}, "results[0]", "no “command”"),
    ],
)
def test_what_is_wrong_in_json_is_said_with_its_path(result, where, what):
    place, text = problem(json.dumps({"results": [result]}), "hyperfine")

    assert place == where
    assert what in text
