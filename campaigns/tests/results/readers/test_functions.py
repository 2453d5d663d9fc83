"""Tools that measure functions: go test -bench, Google Benchmark, pyperf, asv, Criterion.rs."""

import json
from datetime import UTC, datetime

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, problem, read_file, runs_at


def test_a_line_of_go_test_is_one_run_in_seconds_and_bytes():
    read = read_file("go-bench.txt")

    runs = runs_at(read, benchmark="Compress", level="1", size="1024", processors=1)
    assert runs[0].values == pytest.approx(
        {
            "duration": 1018700e-9,
            "throughput": 1e6,
            "ratio": 0.03922,
            "memory": 1207080,
            "allocations": 20,
        }
    )
    assert [run.units_done for run in runs] == [100, 500, 410]
    ways = {metric.name: metric.lower_is_better for metric in read.metrics}
    assert ways == {
        "duration": True,
        "throughput": False,
        "ratio": None,
        "memory": True,
        "allocations": True,
    }
    assert (read.facts["goos"], read.facts["cpu"]) == ("linux", "AMD EPYC")


def test_sub_benchmarks_of_go_are_factors_by_their_key_or_their_place():
    read = read_file("go-bench.txt")

    assert {name: levels for name, levels in read.factors.items() if name != "package"} == {
        "benchmark": ("Compress", "Sort", "Fine", "Broken"),
        "level": ("1", "6", "none"),
        "size": ("1024", "16384", "none", "1", "2"),
        "processors": (1, 2, "none"),
        "part 1": ("none", "ints", "strings"),
    }
    assert read.work == ("package", "benchmark")


def test_a_benchmark_of_go_that_failed_is_a_failed_run_with_its_message():
    read = read_file("go-bench-broken.txt")

    (failed,) = runs_at(read, size="2")
    assert (failed.state, failed.reason) == ("failed", "broken_test.go:16: connection refused")
    assert len(read.runs) == 5
    assert read.facts["processors"] == "2"


def test_the_events_of_go_test_are_read_as_its_text():
    read = read_file("go-bench.ndjson")

    assert read.factors == {"part 1": ("ints", "strings")}
    assert [run.values["duration"] for run in read.runs] == pytest.approx(
        [7996e-9, 6104e-9, 7133e-9, 11449e-9]
    )


def test_settings_that_change_between_outputs_of_go_are_factors():
    line = "BenchmarkA-2   10   5 ns/op\n"

    read = readers.read(f"commit: old\n{line}{line}PASS\ncommit: new\n{line}PASS\n".encode())

    assert read.factors == {"commit": ("old", "new")}
    assert read.info["benchmark"] == "A"
    assert not any("without PASS" in each for each in read.dropped)


def test_lines_of_logs_are_not_taken_for_settings():
    lines = "".join(f"client{number}: connected\n" for number in range(60))

    read = readers.read(
        f"BenchmarkA-2   10   5 ns/op\n{lines}BenchmarkA-2 10 6 ns/op\nPASS\n".encode()
    )

    assert (read.factors, len(read.runs)) == ({}, 2)
    assert read.dropped[0] == "60 lines were not understood, the first is line 2."


def test_an_output_of_go_that_was_cut_off_is_refused_or_told():
    text = (DATA / "go-bench.txt").read_text()
    cut = text.index("ns/op", 3000)

    number = text.count(chr(10), 0, cut) + 1
    cut_off = readers.read(text[:cut].encode())
    whole_lines = readers.read(text[: text.rindex("\n", 0, cut) + 1].encode())
    ended = readers.read(f"{text[:cut]}\nPASS\n".encode())
    assert cut_off.runs == whole_lines.runs == ended.runs
    assert cut_off.dropped[0].startswith(f"Line {number}, the last one, has no end")
    assert any(f"ends with line {number - 1} has no PASS" in each for each in whole_lines.dropped)
    assert any(f"has no result: line {number}." in each for each in ended.dropped)


def test_each_repetition_of_google_benchmark_is_one_run_in_seconds():
    read = read_file("google-benchmark.json")

    runs = runs_at(read, benchmark="BM_Sort", size="64")
    document = json.loads((DATA / "google-benchmark.json").read_text())
    given = [
        each
        for each in document["benchmarks"]
        if each["run_name"] == "BM_Sort/size:64" and each["run_type"] == "iteration"
    ]
    assert [run.values["duration"] for run in runs] == [each["real_time"] * 1e-6 for each in given]
    assert [run.values["item_rate"] for run in runs] == [each["items_per_second"] for each in given]
    assert len(runs) == 3
    assert [run.units_done for run in runs] == [each["iterations"] for each in given]
    assert "Means, medians and deviations are left out: they are those of the runs." in read.dropped


def test_arguments_and_threads_of_google_benchmark_are_factors():
    read = read_file("google-benchmark.json")

    assert read.factors == {
        "benchmark": ("BM_Sort", "BM_Copy", "BM_Broken", "BM_Fill<int>", "BM_Fill<double>"),
        "size": ("64", "512", "none"),
        "threads": (1, 2),
        "argument 1": ("none", "1024", "8192", "1", "2"),
    }
    (run, *_) = runs_at(read, benchmark="BM_Copy", threads=2, argument_1="8192")
    assert run.values["chunks"] == 256
    assert run.values["throughput"] > 1e9


def test_a_benchmark_of_google_that_failed_is_a_failed_run():
    failed = runs_at(read_file("google-benchmark.json"), benchmark="BM_Broken", argument_1="2")

    assert {(run.state, run.reason) for run in failed} == {("failed", "no such device")}
    assert len(failed) == 3


def test_a_counter_of_google_benchmark_does_not_take_the_place_of_the_time():
    document = json.loads((DATA / "google-benchmark.json").read_text())
    for each in document["benchmarks"]:
        each |= {"duration": 7, "throughput": 7}

    read = readers.read(json.dumps(document).encode())

    plain = read_file("google-benchmark.json")
    assert [run.values.get("duration") for run in read.runs] == [
        run.values.get("duration") for run in plain.runs
    ]
    (run, *_) = runs_at(read, benchmark="BM_Sort", size="64")
    assert (run.values["counter_duration"], run.values["counter_throughput"]) == (7, 7)


def test_a_unit_that_a_go_benchmark_reports_does_not_take_the_place_of_the_time():
    read = readers.read(b"BenchmarkA-2 \t 100 \t 2000 ns/op \t 9 duration\nPASS\n")

    assert read.runs[0].values == pytest.approx({"duration": 2e-6, "reported_duration": 9})


def test_means_alone_of_google_benchmark_are_one_run_each_with_the_remedy():
    read = read_file("google-benchmark-aggregates.json")

    assert len(read.runs) == 4
    (run,) = runs_at(read, benchmark="BM_Sort", size="64")
    assert run.values["duration"] == pytest.approx(3.7643280734871770e-07)
    assert any("without --benchmark_report_aggregates_only" in each for each in read.dropped)


def test_what_tells_outputs_of_google_benchmark_apart_is_a_factor():
    document = json.loads((DATA / "google-benchmark.json").read_text())
    document["benchmarks"] = document["benchmarks"][:3]
    old = json.dumps(document)
    document["context"]["executable"] = "./new"

    read = readers.read((old + json.dumps(document)).encode())

    assert read.factors == {"executable": ("./bench", "./new")}
    assert [run.levels["executable"] for run in read.runs] == ["./bench"] * 3 + ["./new"] * 3


def test_a_time_unit_of_google_benchmark_that_is_not_known_is_named():
    text = (DATA / "google-benchmark.json").read_text().replace('"us"', '"weeks"', 1)

    read = readers.read(text.encode())

    assert len(read.runs) == len(read_file("google-benchmark.json").runs) - 1
    assert (
        "A run is left out. benchmarks[0]: The time unit “weeks” is none of ns, us, ms, s."
        in read.dropped
    )


def test_a_process_of_pyperf_is_one_run_with_the_mean_of_its_values():
    read = read_file("pyperf.json")

    assert read.factors == {"benchmark": ("sort", "sum")}
    runs = runs_at(read, benchmark="sort")
    assert [run.units_done for run in runs] == [5, 5, 5, 5]
    assert runs[0].values["duration"] == pytest.approx(
        (4.450112000085938 + 0.41193450033460975 + 0.45033700007479636 + 0.4499260003285599
         + 6.463796000389266) * 1e-6 / 5
    )  # fmt: skip
    assert runs[0].values["memory"] == 19992576
    assert read.facts["python version"] == "3.11.7 (64-bit)"
    assert not any(run.started_at for run in read.runs)


def test_calibration_of_pyperf_is_no_run():
    read = read_file("pyperf-command.json")

    assert [run.units_done for run in read.runs] == [1, 1, 1]
    assert read.runs[0].values["memory"] == 12832768
    assert read.info == {"benchmark": "sleep"}


def test_files_of_pyperf_of_two_interpreters_make_the_interpreter_a_factor():
    text = (DATA / "pyperf.json").read_text()

    read = readers.read((text + text.replace("3.11.7 (64-bit)", "3.14.0 (64-bit)")).encode())

    assert read.factors["python version"] == ("3.11.7 (64-bit)", "3.14.0 (64-bit)")
    assert len(read.runs) == 16


def test_commits_parameters_and_benchmarks_of_asv_are_factors():
    read = read_file("asv.json")

    assert read.factors["commit"] == ("22edde85", "c4c7523a")
    assert read.factors["size"] == ("10", "1000", "none")
    assert read.factors["style"] == ("compact", "pretty", "none")
    assert read.work == ("benchmark",)
    (run,) = runs_at(
        read,
        commit="22edde85",
        benchmark="bench.Dumps.time_dumps",
        size="1000",
        style="compact",
    )
    assert run.values == {"duration": 9.536249945085729e-05}
    assert run.started_at == datetime(2026, 11, 23, 7, 11, 26, 921000, tzinfo=UTC)
    (memory,) = runs_at(read, commit="22edde85", benchmark="bench.mem_list")
    assert memory.values == {"memory": 2104}


def test_what_asv_tracks_has_no_unit_and_no_direction():
    read = read_file("asv.json")

    metric = next(each for each in read.metrics if each.name == "tracked")
    assert (metric.unit, metric.lower_is_better) == ("unknown", None)
    assert any("it is not judged" in each for each in read.dropped)


def test_a_benchmark_of_asv_that_failed_is_a_failed_run_and_a_skipped_one_is_none():
    read = read_file("asv.json")

    failed = runs_at(read, benchmark="bench.time_broken")
    assert {run.state for run in failed} == {"failed"}
    assert len(failed) == 2
    assert not runs_at(read, benchmark="bench.Dumps.time_dumps", size="1000", style="pretty")


def test_parameters_with_which_a_benchmark_of_asv_failed_are_a_failed_run():
    """asv writes null for what failed, also at its time limit, and NaN for what was skipped."""
    text = (DATA / "asv.json").read_text().replace("9.536249945085729e-05, NaN", "null, NaN")

    read = readers.read(text.encode())

    (failed,) = runs_at(
        read,
        commit="22edde85",
        benchmark="bench.Dumps.time_dumps",
        size="1000",
        style="compact",
    )
    assert (failed.state, failed.values) == ("failed", {})
    assert not runs_at(read, benchmark="bench.Dumps.time_dumps", size="1000", style="pretty")


def test_without_benchmarks_json_parameters_of_asv_are_told_by_their_place():
    assert "parameter 1" in read_file("asv-one.json").factors
    text = (DATA / "asv.json").read_text()

    only_names = problem(text[: text.index('{"commit_hash"')])

    assert "There is no file of results here, only benchmarks.json" in only_names[1]


def test_results_of_asv_that_do_not_fit_its_parameters_are_left_out():
    text = (DATA / "asv-one.json").read_text().replace("\"'pretty'\"", "\"'pretty'\", \"'flat'\"")

    read = readers.read(text.encode())

    assert any("There are 4 results for 6 parameters." in each for each in read.dropped)
    assert len(read.runs) < len(read_file("asv-one.json").runs)


def test_files_of_criterion_give_group_function_and_value():
    read = read_file("criterion.json")

    assert read.factors == {
        "group": ("fib 15", "sum"),
        "function": ("none", "iterator", "loop"),
        "value": ("none", "1024", "8192"),
    }
    assert read.work == ("group",)
    (run,) = runs_at(read, group="sum", function="loop", value="1024")
    assert run.values["duration_slope"] == pytest.approx(793.15e-9, rel=1e-4)
    assert run.values.keys() == {
        "duration_mean",
        "duration_median",
        "duration_slope",
        "duration_stddev",
    }
    assert {metric.fidelity for metric in read.metrics} == {"aggregated"}


def test_what_cargo_bench_prints_is_a_rounded_run_for_each_benchmark():
    read = read_file("criterion.txt")

    assert {
        str(run.levels["benchmark"]): run.values["duration"] for run in read.runs
    } == pytest.approx(
        {
            "sum/loop/1024": 793.15e-9,
            "sum/iterator/1024": 764.97e-9,
            "sum/loop/8192": 5.6581e-6,
            "sum/iterator/8192": 13.696e-6,
            "fib 15": 2.8146e-6,
        }
    )
    assert [metric.fidelity for metric in read.metrics] == ["rounded"]


def test_a_long_name_of_criterion_stands_on_the_line_above():
    text = "a_group_of_a_long_name/and_a_function/12345\n" + " " * 24 + "time:   [1 ns 2 ns 3 ns]\n"

    read = readers.read((text + "short time:   [4 ms 5 ms 6 ms]\n").encode())

    assert [run.levels["benchmark"] for run in read.runs] == [
        "a_group_of_a_long_name/and_a_function/12345",
        "short",
    ]


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        ("b time:   [1 ns 2 n\n", "line 1", "The line is not whole"),
        ("a time:   [1 ns 2 weeks 3 ns]\n", "line 1", "“2 weeks” is no time"),
        ('{"mean": 1}{"group_id": 1, "full_id": 2}', "line 1", "Begin with benchmark.json"),
        ('{"group_id": "a", "full_id": "a"}', "the whole file", "There is no estimates.json after"),
    ],
)
def test_what_is_wrong_in_files_of_criterion_is_told(content, where, what):
    place, text = problem(content, "criterion")

    assert place == where
    assert what in text
