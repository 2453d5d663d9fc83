"""Files of benchmark tools with something odd in them: the right values, or what is told."""

import json

import pytest

from campaigns.results import readers
from campaigns.results.readers.base import Read
from campaigns.tests.results.readers.files import DATA, problem

CASES = DATA / "cases"


def case(name: str) -> Read:
    return readers.read((CASES / name).read_bytes(), filename=name)


def told(read: Read, words: str) -> bool:
    return any(words in sentence for sentence in read.dropped)


def values_of(read: Read, metric: str, *names: str) -> dict[tuple[object, ...], list[object]]:
    """The values of a metric by the levels of some factors."""
    found: dict[tuple[object, ...], list[object]] = {}
    for run in read.runs:
        key = tuple(run.levels.get(name) for name in names)
        found.setdefault(key, []).append(run.values.get(metric))
    return found


RIGHT: dict[str, tuple[str, dict[tuple[object, ...], list[float]], list[str]]] = {
    "criterion-change.txt": ("duration", {(): [1.1e-5]}, []),
    "fio-2.2.json": ("read_latency_mean", {(): [0.01448]}, []),
    "fio-double-filename.json": ("read_iops", {(): [10_000]}, []),
    "gbench-1.4-repetitions.json": ("duration", {(): [100e-9, 110e-9, 120e-9]}, []),
    "gbench-cv-nan.json": ("duration", {(): [10e-6, 11e-6, 12e-6]}, []),
    "hyperfine-bom.json": ("duration", {("a",): [1.0]}, ["command"]),
    "pytest-infinity-ops.json": ("duration_mean", {(): [0.5]}, []),
    "pytest-many-parameters.json": (
        "duration_mean",
        {
            (f"test_{letter}", f"p_{letter}={level}"): [0.1 * place + 0.01 * level]
            for place, letter in enumerate("abcdefgh", 1)
            for level in (1, 2)
        },
        ["benchmark", "parameters"],
    ),
    "sysbench-1.1.txt": ("transaction_rate", {(): [100]}, []),
    "pgbench-log-prefix.txt": ("tps", {(8,): [100]}, ["clients"]),
    "go-log-between.txt": ("duration", {("Add",): [1.2e-6], ("Remove",): [6e-7]}, ["benchmark"]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_case_has_its_right_values(name):
    metric, expected, factors = RIGHT[name]

    found = values_of(case(name), metric, *factors)

    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key] == pytest.approx(values)


# --- go test -bench


def go(text: str) -> Read:
    return readers.read(text.encode(), format="go_bench")


def test_a_line_of_a_log_makes_no_factor_of_go():
    read = case("go-log-setting-20.txt")

    assert (read.factors, len(read.runs)) == ({}, 20)
    assert told(read, "Line 14 was not understood.")


def test_a_result_of_go_that_a_log_tore_in_two_is_told():
    assert told(case("go-log-between.txt"), "BenchmarkAdd-8 is read from lines 4 and 5")
    read = go("BenchmarkAdd-8  \tpanic: no cache\nBenchmarkSub-8  10  6 ns/op\nFAIL\n")
    assert told(read, "BenchmarkAdd-8 has no result: line 1.")
    assert len(read.runs) == 1


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["A-8", "B-8"], {("A", None), ("B", None)}),
        (["A", "A-2", "B", "B-2"], {("A", 1), ("A", 2), ("B", 1), ("B", 2)}),
        (["Foo-8", "Bar"], {("Foo-8", None), ("Bar", None)}),
        (["Foo-8-4", "Bar-4"], {("Foo-8", None), ("Bar", None)}),
    ],
)
def test_a_number_at_the_end_of_a_name_is_of_processors_only_where_all_names_say_so(
    lines, expected
):
    read = go("".join(f"Benchmark{name}   10   5 ns/op\n" for name in lines) + "PASS\n")

    found = {
        (run.levels.get("benchmark", "Get"), run.levels.get("processors")) for run in read.runs
    }
    assert found == expected
    assert len({tuple(run.levels.values()) for run in read.runs}) == len(lines)


def test_outputs_of_go_from_two_machines_have_their_processors_as_a_factor():
    text = "BenchmarkA-{0}  10  5 ns/op\nBenchmarkB-{0}  10  5 ns/op\nPASS\n"

    read = go(text.format(8) + text.format(16) + "BenchmarkNew-16  10  7 ns/op\nPASS\n")

    assert read.factors == {"benchmark": ("A", "B", "New"), "processors": (8, 16)}


def test_settings_of_go_that_may_be_of_a_log_are_a_guess():
    line = "BenchmarkA-2   10   5 ns/op\nPASS\n"

    read = go(f"progress: 20\ntime: 10\n{line}progress: 40\ntime: 20\n{line}")

    assert read.factors == {"progress": (20, 40)}
    assert read.guesses == {
        "progress": "It is a line “progress: …” above the results, and may be of a log."
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("BenchmarkA-2   10   5 ns/op   7\n", "line 1: A number without its unit"),
        ("BenchmarkA-2   10   5 ns/\n", "line 1: A number without its unit"),
        ("BenchmarkA-2   10   5 ns/op 6 ns/op\n", "The unit ns/op is there twice"),
        ("BenchmarkA-2   10   -5 ns/op\n", "“-5” is no number"),
        ("BenchmarkA-2   10\n", "BenchmarkA-2 has no result: line 1."),
    ],
)
def test_one_bad_line_of_go_costs_itself(line, words):
    read = go(line + "BenchmarkB-2   10   9 ns/op\nPASS\n")

    assert [run.values for run in read.runs] == [{"duration": pytest.approx(9e-9)}]
    assert told(read, words)


@pytest.mark.parametrize(
    "prefix", ["[bench1] out: ", "2026-01-02T10:00:0{n}.123Z ", "bench-1  | ", "\x1b[32m"]
)
def test_what_a_runner_writes_before_the_lines_of_go_is_left_out(prefix):
    lines = ["goos: linux", "BenchmarkA-8   10   5 ns/op", "BenchmarkA-8   10   6 ns/op", "PASS"]

    read = readers.read(
        "".join(f"{prefix.format(n=n)}{line}\n" for n, line in enumerate(lines)).encode()
    )

    assert read.format == "go_bench"
    assert [run.values["duration"] for run in read.runs] == pytest.approx([5e-9, 6e-9])
    assert read.facts["goos"] == "linux"


def test_an_output_of_go_without_its_end_is_told_by_its_line():
    header, line = "goos: linux\n", "BenchmarkA-2   10   5 ns/op\n"

    read = go(header + line + header + line + "PASS\n")

    assert told(read, "The output that ends with line 2 has no PASS or FAIL")
    assert len(read.runs) == 2


def test_a_benchmark_of_go_that_failed_in_a_later_iteration_is_failed():
    read = go(
        "BenchmarkA-2  \t--- FAIL: BenchmarkA-2\n    a_test.go:9: no\nBenchmarkB-2  10  5 ns/op\nFAIL\n"
    )

    assert [(run.levels["benchmark"], run.state, run.reason) for run in read.runs] == [
        ("A", "failed", "a_test.go:9: no"),
        ("B", "ok", ""),
    ]


# --- pgbench

PGBENCH = """\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 100
query mode: simple
number of clients: 8
number of threads: 2
duration: 60 s
number of transactions actually processed: 6000
latency average = 80.0 ms
tps = 100.0 (without initial connection time)
"""


def pgbench(text: str) -> Read:
    return readers.read(text.encode(), format="pgbench")


def test_lines_of_pgbench_behind_a_prefix_of_a_runner_have_all_values():
    (run,) = case("pgbench-log-prefix.txt").runs

    assert run.values == {"tps": 100.0, "latency_mean": pytest.approx(0.08)}


def test_outputs_of_pgbench_that_run_side_by_side_are_told_apart_by_their_prefix():
    one, two = PGBENCH.splitlines(), PGBENCH.replace("tps = 100.0", "tps = 50.0").splitlines()

    read = pgbench("".join(f"[a] {a}\n[b] {b}\n" for a, b in zip(one, two, strict=True)))

    assert sorted(run.values["tps"] for run in read.runs) == [50.0, 100.0]
    assert not told(read, "not understood")


def test_mixed_outputs_of_pgbench_are_refused():
    lines = [line for line in PGBENCH.splitlines() for _ in range(2)]
    lines[-3] = "latency average = 90.0 ms"

    with pytest.raises(readers.BadFile) as caught:
        pgbench("\n".join(lines) + "\n")

    assert "not whole" in caught.value.problems[0][1]


@pytest.mark.parametrize(
    ("old", "new", "metric", "value"),
    [
        ("80.0 ms\n", "80.0 ms (including failures)\n", "latency_mean", 0.08),
        (
            "tps = 100.0 (without initial connection time)",
            "average connection time = 1.5 ms\ntps = 90.0 (including reconnection times)",
            "tps_with_connecting",
            90.0,
        ),
        ("latency average = ", "latency average: ", "latency_mean", 0.08),
    ],
)
def test_forms_of_other_versions_and_options_of_pgbench_are_read(old, new, metric, value):
    (run,) = pgbench(PGBENCH.replace(old, new)).runs

    assert run.values[metric] == pytest.approx(value)


def test_figures_of_single_scripts_and_progress_of_pgbench_are_no_figures_of_the_run():
    scripts = """\
SQL script 1: a.sql
 - weight: 1 (targets 50.0% of total)
 - 3000 transactions (50.0% of total, tps = 50.0)
 - latency average = 1.0 ms
"""
    progress = "progress: 5.0 s, 999.9 tps, lat 1.0 ms stddev 0.3\n"

    read = pgbench(progress + PGBENCH + scripts + progress + PGBENCH)

    assert [run.values["tps"] for run in read.runs] == [100.0, 100.0]
    assert [run.values["latency_mean"] for run in read.runs] == pytest.approx([0.08, 0.08])
    assert told(read, "Figures of single scripts")
    assert told(read, "Lines of progress")
    assert not told(read, "not understood")


def test_an_output_of_pgbench_without_its_end_costs_itself():
    half = PGBENCH[: PGBENCH.index("latency")]

    read = pgbench(PGBENCH + "$ echo again\n" + half + PGBENCH)

    assert len(read.runs) == 2
    assert told(read, "A run is left out. line 11: There is no line “tps = …”")
    assert told(read, "Line 10 was not understood.")


def test_a_run_of_pgbench_that_was_aborted_is_failed():
    (run,) = pgbench(
        PGBENCH + "pgbench: error: Run was aborted; the above results are incomplete.\n"
    ).runs

    assert run.state == "failed"
    assert run.reason.startswith("Run was aborted")


def test_different_transactions_of_pgbench_are_not_compared():
    read = pgbench(PGBENCH + PGBENCH.replace("TPC-B (sort of)", "select only"))

    assert "transaction" in read.work


# --- Criterion.rs


def criterion(text: str) -> Read:
    return readers.read(text.encode(), format="criterion")


def times(read: Read) -> dict[str, float]:
    return {str(run.levels.get("benchmark", "")): run.values["duration"] for run in read.runs}


@pytest.mark.parametrize("unit", ["µs", "us", "\u03bcs", "\u00c2\u00b5s", "\u252c\u2561s"])
def test_microseconds_of_criterion_are_read_in_each_spelling(unit):
    assert times(criterion(f"a  time:   [1.0 {unit} 2.0 {unit} 3.0 {unit}]\n")) == {
        "": pytest.approx(2e-6)
    }


def test_changes_of_criterion_are_no_times():
    text = (CASES / "criterion-change.txt").read_text()
    one_line = " " * 24 + "change: [-3.0% -2.0% -1.0%] (p = 0.01 < 0.05)\n"

    read = criterion(
        text + "b   time:   [1 ns 2 ns 3 ns]\n" + one_line + text.replace("parse", "c")
    )

    assert times(read) == pytest.approx({"parse/small": 11e-6, "b": 2e-9, "c/small": 11e-6})
    assert not told(read, "not understood")


def test_one_bad_line_of_criterion_costs_itself():
    read = criterion("a time:   [1 ns 2 ns 3 ns]\nb time:   [1 ns 2 n\nnoise\n")

    assert len(read.runs) == 1
    assert told(read, "A benchmark is left out. line 2: The line is not whole")
    assert told(read, "Line 3 was not understood.")


def test_a_line_of_a_log_is_no_name_of_a_benchmark_of_criterion():
    time = " " * 24 + "time:   [1 ns 2 ns 3 ns]\n"
    name = "a_group_of_a_long_name/and_a_function\n"
    text = f"b  time:   [1 ns 5 ns 6 ns]\n{name}{{}}{time}"

    assert len(criterion(text.format("")).runs) == 2
    for noise in ("warning: x\n", "a warning that is longer than a name\n"):
        read = criterion(text.format(noise))
        assert times(read) == {"": pytest.approx(5e-9)}
        assert told(read, "A benchmark is left out. line 4")


def test_a_second_file_of_criterion_after_one_benchmark_is_left_out_and_told():
    estimates = '{"mean": {"point_estimate": %d}}'
    files = ['{"group_id": "a", "full_id": "a"}', estimates % 5, estimates % 9]

    read = readers.read("\n".join(files).encode(), format="criterion")

    assert [run.values["duration_mean"] for run in read.runs] == pytest.approx([5e-9])
    assert told(read, "Line 3: a second estimates.json after one benchmark.json is left out.")


# --- sysbench


def sysbench(text: str) -> Read:
    return readers.read(text.encode(), format="sysbench")


def test_sysbench_1_1_has_all_figures():
    (run,) = case("sysbench-1.1.txt").runs

    assert run.values == pytest.approx(
        {
            "transaction_rate": 100,
            "query_rate": 2000,
            "event_rate": 100,
            "latency_mean": 0.04,
            "latency_p95": 0.06,
            "failed_share": 0,
        }
    )
    assert not told(case("sysbench-1.1.txt"), "not understood")


SYSBENCH_0_5 = """\
sysbench 0.5:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 8
Random number generator seed is 0 and will be ignored


Threads started!

OLTP test statistics:
    queries performed:
        read:                            140000
        write:                           40000
        other:                           20000
        total:                           200000
    transactions:                        10000  (1000.00 per sec.)
    read/write requests:                 180000 (18000.00 per sec.)
    other operations:                    20000  (2000.00 per sec.)
    ignored errors:                      10     (1.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          10.0000s
    total number of events:              10000
    total time taken by event execution: 79.9000s
    response time:
         min:                                  1.23ms
         avg:                                  7.99ms
         max:                                 50.00ms
         approx.  95 percentile:              12.34ms

Threads fairness:
    events (avg/stddev):           1250.0000/10.00
    execution time (avg/stddev):   9.9900/0.00
"""


def test_sysbench_0_5_is_read():
    read = readers.read(SYSBENCH_0_5.encode())

    (run,) = read.runs
    assert read.facts["sysbench"] == "0.5"
    assert run.values == pytest.approx(
        {
            "transaction_rate": 1000,
            "event_rate": 1000,
            "latency_mean": 0.00799,
            "latency_p95": 0.01234,
            "failed_share": 10 / 10010,
        }
    )
    assert read.info["test"] == "sql"
    assert not told(read, "not understood")


def test_files_of_sysbench_1_1_and_0_5_are_read():
    old = (DATA / "sysbench-fileio.txt").read_text()
    begin, end = old.index("File operations:"), old.index("General statistics:")
    new = """\
Throughput:
         read:  IOPS=4847.05 75.74 MiB/s (79.42 MB/s)
         write: IOPS=3231.37 50.49 MiB/s (52.94 MB/s)
         fsync: IOPS=325.11

"""
    oldest = """\
Operations performed:  5998 reads, 4001 writes, 12800 Other = 22799 Total
Read 93.719Mb  Written 62.516Mb  Total transferred 156.23Mb  (15.623Mb/sec)
  999.92 Requests/sec executed

"""

    expected = sysbench(old).runs[0].values
    assert sysbench(old[:begin] + new + old[end:]).runs[0].values == expected
    read = sysbench(old[:begin] + oldest + old[end:])
    assert read.runs[0].values["throughput"] == pytest.approx(15.623 * 1024**2)
    assert not told(read, "not understood")


def test_outputs_of_sysbench_behind_prefixes_and_after_prepare_are_read():
    text = (CASES / "sysbench-1.1.txt").read_text()
    prepare = "sysbench 1.1.0 (using bundled LuaJIT)\n\nCreating table 'sbtest1'...\n"

    read = readers.read(
        "".join(f"[db1] out: {line}\n" for line in (prepare + text).split("\n")).encode()
    )

    assert [run.values["transaction_rate"] for run in read.runs] == [100.0]
    assert told(read, "Outputs of prepare and cleanup are left out.")


def test_two_results_of_sysbench_under_one_beginning_are_refused():
    text = (CASES / "sysbench-1.1.txt").read_text()

    with pytest.raises(readers.BadFile) as caught:
        sysbench(text + text.partition("\n")[2])

    assert "A second run begins below this line" in str(caught.value)


def test_checkpoints_of_sysbench_are_refused_with_what_to_do():
    text = (CASES / "sysbench-1.1.txt").read_text()
    changed = text.replace("Threads started!\n", "Threads started!\n[ 5s ] Checkpoint report:\n")

    read = sysbench(changed + text)

    assert len(read.runs) == 1
    assert told(read, "measure without --report-checkpoints")


# --- Google Benchmark


def gbench(*benchmarks: dict[str, object], **context: object) -> Read:
    every = [{"iterations": 10, "cpu_time": 1, "time_unit": "ns", **each} for each in benchmarks]
    document = {"context": context, "benchmarks": every}
    return readers.read(json.dumps(document).encode(), format="google_benchmark")


def at(name: str, time: float, **more: object) -> dict:
    return {"name": name, "real_time": time, **more}


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        (["A", "A", "A_mean", "A_median", "A_stddev"], ["A", "A"]),
        (["A", "A", "A_mean", "A_max"], ["A", "A"]),
        (["A", "A_mean"], ["A", "A_mean"]),
        (["A/8", "A/8", "A/8_mean", "A_list"], ["A", "A", "A_list"]),
        (["A_mean", "A_median", "A_stddev"], ["A"]),
        (["A_cv", "A_cv"], ["A_cv", "A_cv"]),
    ],
)
def test_aggregates_of_old_google_benchmark_are_known_by_their_names(names, runs):
    read = gbench(*(at(name, place) for place, name in enumerate(names, 1)))

    found = [run.levels.get("benchmark", read.info.get("benchmark")) for run in read.runs]
    assert found == runs


def test_threads_of_old_google_benchmark_are_read_from_the_name():
    read = gbench(at("A/threads:1", 5.0), at("A/threads:8", 9.0))

    assert values_of(read, "duration", "threads").keys() == {(1,), (8,)}


def test_a_complexity_of_old_google_benchmark_is_no_run():
    read = gbench(
        at("A/8", 5.0),
        {"name": "A_BigO", "cpu_coefficient": 1.0, "real_coefficient": 1.0, "big_o": "N"},
        {"name": "A_RMS", "rms": 0.1},
    )

    assert [run.values["duration"] for run in read.runs] == pytest.approx([5e-9])
    assert not told(read, "is left out")


def test_one_bad_number_of_google_benchmark_costs_itself():
    nan = float("nan")

    read = gbench(at("A", nan), at("A", 5.0, misses=nan, hits=3), at("A", 6.0, hits=2))

    assert [run.values["duration"] for run in read.runs] == pytest.approx([5e-9, 6e-9])
    assert [run.values["hits"] for run in read.runs] == [3, 2]
    assert told(read, "A run is left out. benchmarks[0].real_time: There is NaN")
    assert told(read, "A value is left out. benchmarks[1].misses: There is NaN")


# --- pytest-benchmark, pyperf, asv, hyperfine


def test_one_bad_benchmark_of_pytest_costs_itself_and_one_bad_figure_itself():
    document = json.loads((CASES / "pytest-many-parameters.json").read_text())
    document["benchmarks"][0]["stats"]["stddev"] = float("nan")
    document["benchmarks"][1]["stats"] = "lost"
    del document["benchmarks"][2]["name"]

    read = readers.read(json.dumps(document).encode())

    assert len(read.runs) == 14
    assert "duration_stddev" not in read.runs[0].values
    assert told(read, "benchmarks[0].stats.stddev: There is NaN")
    assert told(read, "benchmarks[2]: There is no “name” here")


def test_one_bad_process_of_pyperf_costs_itself():
    document = json.loads((DATA / "pyperf.json").read_text())
    runs = document["benchmarks"][0]["runs"]
    first = next(run for run in runs if "values" in run)
    first["values"][0] = float("nan")

    read = readers.read(json.dumps(document).encode())

    assert len(read.runs) == 7
    assert told(read, "There is NaN")


def test_results_of_asv_before_0_5_are_read():
    document = {
        "commit_hash": "22edde85af1a",
        "env_name": "py3",
        "params": {"machine": "m"},
        "results": {
            "b.time_a": 0.5,
            "b.time_broken": None,
            "b.time_b": {"params": [["1", "2"]], "result": [0.25, float("nan")], "stats": []},
        },
        "started_at": {"b.time_a": 1795417886921},
        "version": 1,
    }

    read = readers.read(json.dumps(document).encode())

    assert read.format == "asv"
    assert values_of(read, "duration", "benchmark", "parameter 1") == {
        ("b.time_a", "none"): [0.5],
        ("b.time_broken", "none"): [None],
        ("b.time_b", "1"): [0.25],
    }
    assert read.runs[0].started_at is not None


def test_one_bad_result_of_asv_costs_itself():
    text = (DATA / "asv-one.json").read_text().replace("0.00014216865289079367", '"slow"')

    read = readers.read(text.encode())

    assert told(read, "There is a text where a number is due.")
    assert len(read.runs) > 3


def test_one_bad_time_of_hyperfine_costs_itself_and_one_bad_command_itself():
    results = [
        {"command": "a", "times": [1.0, float("nan"), 3.0], "mean": float("nan")},
        {"command": "b", "times": [1.0], "exit_codes": []},
        {"command": "c", "times": []},
    ]

    read = readers.read(json.dumps({"results": results}).encode())

    assert [run.values["duration"] for run in read.runs] == [1.0, 3.0]
    assert told(read, "results[0].times[1]: There is NaN")
    assert told(read, "A command is left out. results[1].exit_codes")
    assert told(read, "A command is left out. results[2]: It has no times.")


def test_two_exports_of_hyperfine_in_one_csv_are_told():
    header = "command,mean,stddev,median,user,system,min,max,parameter_n\n"
    row = "a {0},1.5,0.1,1.5,0.5,0.1,1.4,1.6,{0}\n"

    read = readers.read((header + row.format(1) + header + row.format(2) + "half,1\n").encode())

    assert values_of(read, "duration_mean", "n") == {(1,): [1.5], (2,): [1.5]}
    assert told(read, "The columns stand again in line 3")
    assert told(read, "A run is left out. line 5: 2 fields; there are 9 columns.")


def test_csv_and_json_of_old_hyperfine_are_read():
    csv = "command,mean,stddev,user,system,min,max\na,1.5,,0.5,0.1,1.4,1.6\n"
    results = [{"command": f"sleep {n}", "times": [n], "parameter": str(n)} for n in (1, 2)]

    (run,) = readers.read(csv.encode()).runs
    assert "duration_stddev" not in run.values
    assert run.values["duration_mean"] == 1.5
    assert readers.read(json.dumps({"results": results}).encode()).factors == {"parameter": (1, 2)}


# --- fio


def fio(*jobs: dict, **output: object) -> Read:
    document = {"fio version": "fio-3.36", "timestamp_ms": 1767348000000, **output}
    return readers.read(json.dumps({**document, "jobs": list(jobs)}).encode(), format="fio")


def job(name: str = "j", iops: float = 100.0, **more: object) -> dict:
    read = {"io_bytes": 4096, "bw_bytes": 4096, "iops": iops, "runtime": 10, "total_ios": 50}
    return {"jobname": name, "groupid": 0, "error": 0, "read": read, **more}


def test_fio_2_is_read_in_microseconds():
    read = case("fio-2.2.json")

    (run,) = read.runs
    assert run.values["read_completion_latency_p99"] == pytest.approx(0.06)
    assert run.values["read_bandwidth"] == 275 * 1024
    assert run.finished_at is not None


def test_groups_of_fio_are_runs_of_their_own():
    read = fio(job(iops=100.0), job(iops=90.0, groupid=1), job(iops=10.0, groupid=1))

    assert [run.values["read_iops"] for run in read.runs] == [100.0, 100.0]
    assert [run.finished_at for run in read.runs] == [None, None]


def test_one_disk_of_three_that_fails_costs_itself():
    jobs = [job("sda"), job("sdb", error=5), job("sdc")]

    read = fio(*jobs)

    assert [run.state for run in read.runs] == ["ok", "failed", "ok"]
    (run,) = fio(*({**each, "jobname": "all"} for each in jobs)).runs
    assert (run.state, run.reason) == ("failed", "1 of 3 jobs failed; fio ended with error 5")


def test_a_job_of_fio_that_did_nothing_or_is_damaged_costs_itself():
    bad = job("bad")
    bad["read"] = {**bad["read"], "iops": float("nan")}
    idle = {"jobname": "idle", "read": {"io_bytes": 0, "iops": 0, "total_ios": 0}}

    read = fio(job("good"), bad, idle)

    assert [run.values["read_iops"] for run in read.runs] == [100.0]
    assert told(read, "jobs[1].read.iops: There is NaN")
    assert told(read, "The job idle did nothing")


def test_an_option_of_fio_that_is_there_twice_is_the_last_one_and_told():
    text = json.dumps({**job(), "job options": {"bs": "4k", "x": "8k"}}).replace('"x"', '"bs"')
    document = f'{{"fio version": "fio-3.36", "jobs": [{text}]}}'

    read = readers.read(document.encode())

    assert read.info["bs"] == "8k"
    assert told(read, "The option bs of j is there twice; fio uses the last one.")


def test_percentiles_of_fio_that_are_zero_were_not_observed():
    one = job()
    one["read"] = {**one["read"], "clat_ns": {"mean": 5.0, "percentile": {"99.000000": 0}}}

    (run,) = fio(one).runs

    assert "read_completion_latency_p99" not in run.values


# --- CSV and lines name=value

MAPPED = {"factors": ["engine"], "metrics": {"seconds": {"unit": "s", "lower_is_better": True}}}


@pytest.mark.parametrize(
    ("name", "columns", "advice"),
    [
        ("csv-comma-decimal.csv", "engine and seconds, separated by semicolons", "“1,5” has a decimal comma; write 1.5."),
        ("csv-percent.csv", "engine and errors, separated by commas", "“1.5%” has a percent sign; write 1.5, and give the unit “%”"),
        ("csv-us-dates.csv", "engine, seconds and began, separated by commas", "write instants as YYYY-MM-DD HH:MM:SS."),
    ],
)  # fmt: skip
def test_a_table_of_no_tool_is_refused_with_what_to_do(name, columns, advice):
    _, text = problem((CASES / name).read_bytes(), filename=name)

    assert f"It looks like CSV with the columns {columns}. Give a mapping" in text
    assert advice in text


@pytest.mark.parametrize(
    ("name", "changes", "where", "what"),
    [
        ("csv-comma-decimal.csv", {"delimiter": ";"}, "line 2", "seconds: “1,5” has a decimal comma; write 1.5."),
        ("csv-comma-decimal.csv", {}, "line 1", 'The columns are separated by semicolons: add "delimiter": ";" to the mapping.'),
        ("csv-percent.csv", {"metrics": {"errors": {"unit": "%"}}}, "line 2", "errors: “1.5%” has a percent sign; write 1.5, and"),
        ("csv-us-dates.csv", {"started_at": "began"}, "line 2", "began: “01/02/2026 10:00 AM” may be one day or another; write instants as YYYY-MM-DD HH:MM:SS."),
    ],
)  # fmt: skip
def test_a_mapped_table_is_refused_with_what_to_write(name, changes, where, what):
    found = problem((CASES / name).read_bytes(), mapping=MAPPED | changes)

    assert found[0] == where
    assert what in found[1]


@pytest.mark.parametrize(
    ("field", "what"),
    [
        ("1,234.5", "“1,234.5” has separators between its thousands; write 1234.5."),
        ("1.234,5", "“1.234,5” has separators between its thousands; write 1234.5."),
        ("1\u00a0234,5", "has separators between its thousands; write 1234.5."),
        ("1'234.5", "“1'234.5” has separators between its thousands; write 1234.5."),
        ("12,345", "“12,345” has a comma, of thousands or of decimals; write 12345 or 12.345."),
        (
            "1.5 ms",
            "“1.5 ms” has its unit in the field; write 1.5, and give the unit in the mapping.",
        ),
        ("0:01:30", '“0:01:30” is a clock; add "written": "H:MM:SS"'),
        ("02.01.2026", "“02.01.2026” may be one day or another"),
        ("12,5 %", "“12,5 %” has a percent sign"),
    ],
)
def test_each_form_of_a_number_is_told_by_what_to_write(field, what):
    mapping = MAPPED | {"delimiter": ";"}

    place, text = problem(f"engine;seconds\na;1\nb;{field}\n", mapping=mapping)

    assert place == "line 3"
    assert what in text


def test_decimal_commas_in_a_table_of_commas_are_told():
    found = readers.read(b"engine,seconds\na,1,5\nb,2\n", mapping=MAPPED)

    assert len(found.runs) == 1
    assert told(found, "line 2: 3 fields; there are 2 columns. Has it decimal commas?")


def test_two_tables_and_fields_without_a_value_are_told():
    text = "engine,seconds\na,1\nb,NA\nengine,seconds\na,3\n"

    found = readers.read(text.encode(), mapping=MAPPED)

    assert values_of(found, "seconds", "engine") == {("a",): [1.0, 3.0], ("b",): [None]}
    assert told(found, "The columns stand again in line 4")
    assert told(found, "seconds: “NA” is taken as no value.")


def test_a_mapped_table_of_windows_is_read():
    text = "\ufeffengine;seconds\r\na;1.5\r\n".encode("utf-16")

    (run,) = readers.read(text, mapping=MAPPED | {"delimiter": ";"}).runs

    assert run.values == {"seconds": 1.5}


def test_lines_that_are_no_values_are_counted_and_those_of_another_form_told():
    found = readers.read(b"a=1 s\nhello\na=2,5 s\nb=1,5\na=3 s\na=4", format="plain_values")

    assert [run.values for run in found.runs] == [{"a": 1.0}, {"a": 3.0}]
    assert told(found, "3 lines were not understood, the first is line 2.")
    assert told(found, "Line 4 is left out. “1,5” has a decimal comma; write 1.5.")
    assert told(found, "Line 6, the last one, has no end and is left out")


# --- all of them


@pytest.mark.parametrize(
    "name",
    [
        "asv.json",
        "criterion.json",
        "fio-depths.json",
        "go-bench.ndjson",
        "google-benchmark.json",
        "hyperfine-1.20.json",
        "pyperf.json",
        "pytest-benchmark-saved.json",
    ],
)
def test_lines_of_a_runner_around_json_are_told_and_left_out(name):
    content = (DATA / name).read_bytes()
    plain = readers.read(content, filename=name)

    read = readers.read(b"$ bench > out.json\n+ set -x\n" + content + b"\n[done] in 3 s\n", name)

    assert read.format == plain.format
    assert read.runs == plain.runs
    assert len(read.dropped) > len(plain.dropped)


def test_skipped_parameters_of_asv_are_counted():
    assert told(
        readers.read((DATA / "asv-one.json").read_bytes()),
        "3 results are left out: asv writes NaN for parameters that a benchmark skips.",
    )


def test_an_output_of_criterion_that_ends_within_a_line_is_told():
    read = readers.read(b"a time:   [1 ns 2 ns 3 ns]\n            ")

    assert told(read, "The output ends within a line: it was cut")


def test_a_number_that_is_none_in_a_printed_output_is_told():
    assert told(
        pgbench(PGBENCH.replace("80.0", "NaN") + PGBENCH), "A run is left out. line 1: “NaN”"
    )
    text = (CASES / "sysbench-1.1.txt").read_text()
    read = sysbench(text.replace("(100.00 per sec.)", "(NaN per sec.)"))
    assert "transaction_rate" not in read.runs[0].values
    assert told(read, "Line 18 was not understood.")
    read = go("BenchmarkA-2   10   NaN ns/op\nBenchmarkA-2   10   5 ns/op\nPASS\n")
    assert told(read, "BenchmarkA-2 has no result: line 1.")


def test_one_of_two_rates_of_old_pgbench_is_not_whole():
    rate = "tps = 100.0 (without initial connection time)"
    both = "tps = 90.0 (including connections establishing)\ntps = 100.0 (excluding connections establishing)"

    (run,) = pgbench(PGBENCH.replace(rate, both)).runs
    assert (run.values["tps_with_connecting"], run.values["tps"]) == (90.0, 100.0)
    half = PGBENCH.replace(rate, both.partition("\n")[0])
    assert told(pgbench(half + PGBENCH), "One of its two lines “tps = …” is missing or damaged.")


def test_an_output_of_sysbench_that_is_glued_to_the_next_is_left_out():
    text = (CASES / "sysbench-1.1.txt").read_text()
    cut = text[: text.index("Latency (ms)")]

    read = sysbench(text + cut + "    no end " + text + text)

    assert len(read.runs) == 2
    assert told(read, "A second run begins below this line")


def test_a_unit_of_go_that_was_cut_costs_its_line():
    line = "BenchmarkA-2   10   5 ns/op   0.5 ratio\n"

    read = go(line * 3 + line[:-3] + "\ngoos: linux\n" + line + "PASS\n")

    assert len(read.runs) == 4
    assert told(read, "line 4: The unit “rat” is not whole; the line was cut.")


def test_a_name_that_comes_again_begins_another_run_of_values():
    lines = "a=1 s\nb=2 s\n"

    read = readers.read((lines + "a=3 s\n" + "ba=9 s\n" + lines).encode())

    assert [run.values for run in read.runs] == [{"a": 1, "b": 2}, {"a": 3}, {"a": 1, "b": 2}]
    assert told(read, "“ba” is left out: a line that was cut, and one of a.")


@pytest.mark.parametrize(
    "prefix", ["[db1] out: ", "2026-01-02T10:00:00.123Z ", "2026-01-02 10:00:00,123 ", "db-1  | "]
)
@pytest.mark.parametrize("name", ["sysbench-sql.txt", "pgbench-15.txt", "criterion.txt"])
def test_what_a_runner_writes_before_each_line_is_left_out(name, prefix):
    content = (DATA / name).read_text()
    plain = readers.read(content.encode())

    read = readers.read("".join(f"{prefix}{line}\n" for line in content.splitlines()).encode())

    assert read.format == plain.format
    assert read.runs == plain.runs
    taken_away = {"The time before the lines is taken away."}
    assert {*read.dropped} - taken_away == {*plain.dropped}
