"""Tools that repeat a command or a function: pytest-benchmark and hyperfine."""

import json

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, problem, read_file, runs_at


def test_a_test_of_pytest_benchmark_is_one_run_of_which_the_rounds_are_samples():
    read = read_file("pytest-benchmark.json")

    assert len(read.runs) == 5
    assert read.factors == {
        "benchmark": ("test_write", "test_sort"),
        "engine": ("dumps", "repr", "none"),
        "size": (10, 100, "none"),
    }
    assert read.primary_metric == "duration_mean"
    assert {metric.fidelity for metric in read.metrics} == {"aggregated"}
    (run,) = runs_at(read, benchmark="test_write", engine="dumps", size=100)
    assert run.units_done == 15
    assert run.values["duration_min"] <= run.values["duration_median"]
    assert any("samples of one run" in each for each in read.dropped)
    assert read.facts["node"] == "host.example.com"
    assert read.facts["python version"] == "3.11.7"
    assert read.info["commit id"] == "0303b72fa94b75ff86e63f06c1c00cf21779bf08"


def test_a_file_of_default_settings_is_read_with_its_hundreds_of_thousands_of_rounds():
    document = json.loads((DATA / "pytest-benchmark-default.json").read_text())
    for benchmark in document["benchmarks"]:
        stats = benchmark["stats"]
        stats["data"] = (stats["data"] * stats["rounds"])[: stats["rounds"]]
    content = json.dumps(document).encode()
    assert len(content) > 12_000_000

    read = readers.read(content)

    assert read == read_file("pytest-benchmark-default.json")
    assert [run.units_done for run in read.runs] == [197746, 197356, 198492]
    assert read.runs[0].values["duration_mean"] == pytest.approx(58.4e-9, abs=1e-10)


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


def test_a_parameter_of_1_0_is_the_level_1():
    document = json.loads((DATA / "pytest-benchmark-saved.json").read_text())
    for benchmark in document["benchmarks"]:
        if benchmark["params"]:
            benchmark["params"]["size"] = float(benchmark["params"]["size"])

    read = readers.read(json.dumps(document).encode())

    assert list(map(repr, read.factors["size"])) == ["10", "100", "'none'"]


def test_files_of_pytest_benchmark_one_after_another_make_the_commit_a_factor():
    text = (DATA / "pytest-benchmark-saved.json").read_text()
    commit = json.loads(text)["commit_info"]["id"]
    later = text.replace(commit, "f" * 40)

    read = readers.read((text + later + later).encode())

    assert read.factors["commit"] == (commit[:8], "ffffffff")
    assert len(runs_at(read, commit="ffffffff")) == 10
    assert "commit" not in readers.read((text + text).encode()).factors


def test_files_of_hyperfine_one_after_another_are_more_runs_of_the_same_settings():
    content = (DATA / "hyperfine-1.20.json").read_bytes()

    read = readers.read(content * 2)

    assert read.factors == {"size": (1000, 2000, 3000)}
    assert len(read.runs) == 72


def test_times_of_0_after_the_shell_was_subtracted_are_named_with_the_remedy():
    read = read_file("hyperfine-zeros.json")

    zeros = [run for run in read.runs if run.values["duration"] == 0]
    assert (len(read.runs), len(zeros)) == (180, 30)
    assert {run.state for run in zeros} == {"ok"}
    assert all("--shell=none (-N)" in run.reason for run in zeros)
    assert not any(run.reason for run in read.runs if run.values["duration"])
    assert read.dropped[0].startswith(
        "9 of 60 times of “head -c 1000 /dev/zero” are 0 after hyperfine subtracted"
    )


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
        ({"command": "a", "times": ["x"]}, "results[0].times[0]", "There is a text where"),
        ({"command": "a", "times": [-1]}, "results[0].times[0]", "negative"),
        ({"command": "a", "times": [1], "exit_codes": []}, "results[0].exit_codes", "0 elements"),
        ({"times": [1]}, "results[0]", "no “command”"),
    ],
)
def test_what_is_wrong_in_json_is_said_with_its_path(result, where, what):
    place, text = problem(json.dumps({"results": [result]}), "hyperfine")

    assert place == where
    assert what in text


def test_summaries_of_hyperfine_in_csv_are_one_run_each_and_json_is_named():
    read = read_file("hyperfine.csv")

    assert read.factors == {"n": (1, 2, 3)}
    assert len(read.runs) == 3
    assert runs_at(read, n=2)[0].values == {
        "duration_mean": 0.0037337524999999996,
        "duration_stddev": 0.0011891605396696866,
        "duration_median": 0.0033468675000000005,
        "user_time_mean": 0.0007611666666666666,
        "system_time_mean": 0.00017883333333333333,
        "duration_min": 0.003027946,
        "duration_max": 0.006136833,
    }
    assert read.primary_metric == "duration_mean"
    assert {metric.fidelity for metric in read.metrics} == {"aggregated"}
    assert any("--export-json" in each for each in read.dropped)
    assert read_file("hyperfine-commands.csv").factors == {"command": ("first", "sleep 0.003")}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("a,1,0,1", "4 fields; there are 8 columns. Is the file whole?"),
        ("a,x,0,1,0,0,1,1", "mean: “x” is no number from 0."),
    ],
)
def test_what_is_wrong_in_csv_of_hyperfine_is_said_with_its_line(line, what):
    text = f"command,mean,stddev,median,user,system,min,max\n{line}\n"

    assert problem(text) == ("line 2", what)
