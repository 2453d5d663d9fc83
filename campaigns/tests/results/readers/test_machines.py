"""Tools that measure storage, processor and database: fio and sysbench."""

import json

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, only_run, problem, read_file, runs_at


def test_options_of_fio_that_differ_between_outputs_are_factors():
    read = read_file("fio-depths.json")

    assert read.factors == {"iodepth": (1, 8)}
    assert [run.levels["iodepth"] for run in read.runs] == [1, 1, 8, 8]
    assert read.info["rw"] == "randread"
    assert read.primary_metric == "read_iops"
    ways = {metric.name: (metric.unit, metric.lower_is_better) for metric in read.metrics}
    assert ways["read_iops"] == ("1/s", False)
    assert ways["read_bandwidth"] == ("B/s", False)
    assert ways["read_latency_p99"] == ("s", True)
    for run in read.runs:
        assert run.values["read_bandwidth"] == pytest.approx(
            run.values["read_iops"] * 4096, rel=1e-3
        )
        assert 0 < run.values["read_completion_latency_p50"] <= run.values["read_latency_p50"]
        assert run.finished_at is not None


def test_reads_and_writes_of_a_job_have_metrics_of_their_own():
    read = read_file("fio-mix.json")

    sequential, random = read.runs
    assert sequential.levels == {"rw": "read", "bs": "128k"}
    assert random.levels == {"rw": "randrw", "bs": "4k"}
    assert "write_iops" not in sequential.values
    assert random.values["write_iops"] == pytest.approx(9710.3, abs=0.1)
    assert read.work == ("rw",)


def test_jobs_of_fio_that_run_at_the_same_time_are_one_run():
    apart, together = read_file("fio-jobs.json"), read_file("fio-group.json")

    for read in (apart, together):
        run = only_run(read)
        assert run.levels == {}
        assert run.values["write_iops"] > 100_000
    assert only_run(apart).units_done == 262408
    assert any("--group_reporting" in each for each in apart.dropped)
    assert "write_completion_latency_p99" not in only_run(apart).values
    assert "write_completion_latency_p99" in only_run(together).values


def test_a_job_of_fio_that_ended_with_an_error_is_a_failed_run():
    content = (DATA / "fio-failed.json").read_text()
    assert content.startswith("fio: io_u error on file /dev/full: No space left on device")

    read = read_file("fio-failed.json")

    assert read.factors == {"job": ("works", "full")}
    (failed,) = runs_at(read, job="full")
    assert (failed.state, failed.reason) == ("failed", "fio ended with error 28")
    assert failed.units_failed == 1
    assert runs_at(read, job="works")[0].state == "ok"


def test_an_output_of_fio_that_was_cut_off_is_left_out_and_told():
    text = (DATA / "fio-depths.json").read_text()

    read = readers.read(text[:-500].encode())
    assert len(read.runs) == text.count("fio version") - 1
    assert "Is the file whole?" in read.dropped[0]
    assert problem('{"fio version": "fio-3.33", "jobs": []}')[1].startswith("There is no run")


def test_threads_of_sysbench_are_a_factor_and_outputs_are_runs():
    read = read_file("sysbench-cpu.txt")

    assert read.factors == {"threads": (1, 2)}
    assert [run.levels["threads"] for run in read.runs] == [1, 1, 1, 2, 2, 2]
    assert read.runs[0].values == pytest.approx(
        {"event_rate": 1988 / 1.0045, "latency_mean": 0.0005, "latency_p95": 0.00319}
    )
    assert read.info == {"test": "cpu", "prime limit": "10000"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("memory", {"throughput": 2833.06 * 1024**2, "event_rate": 1048576 / 0.3605}),
        (
            "fileio",
            {
                "read_rate": 4847.05,
                "write_rate": 3231.37,
                "sync_rate": 325.11,
                "read_throughput": 75.74 * 1024**2,
                "write_throughput": 50.49 * 1024**2,
                "event_rate": 8526 / 1.0141,
                "latency_mean": 0.00012,
                "latency_p95": 0.00001,
            },
        ),
    ],
)
def test_each_test_of_sysbench_has_its_figures_in_bytes_and_seconds(name, expected):
    read = read_file(f"sysbench-{name}.txt")

    assert only_run(read).values == pytest.approx(expected)
    assert read.info["test"] == name
    assert all(metric.lower_is_better is (metric.unit == "s") for metric in read.metrics)


def test_errors_that_sysbench_ignores_are_failed_transactions():
    read = read_file("sysbench-sql.txt")

    (run,) = runs_at(read, threads=4)
    assert run.values["transaction_rate"] == 38.06
    assert run.values["query_rate"] == 785.75
    assert (run.units_done, run.units_failed) == (79, 3)
    assert run.values["failed_share"] == 3 / 82
    assert read.primary_metric == "transaction_rate"


def test_a_test_that_sysbench_does_not_name_is_told():
    read = read_file("sysbench-threads.txt")

    assert read.info["test"] == "not named"
    assert any("threads and mutex" in each for each in read.dropped)


def test_different_tests_of_sysbench_are_not_compared():
    content = b"".join((DATA / f"sysbench-{each}.txt").read_bytes() for each in ("cpu", "memory"))

    read = readers.read(content)

    assert read.factors == {"test": ("cpu", "memory"), "threads": (1, 2)}
    assert read.work == ("test",)


def test_an_output_of_sysbench_that_was_cut_off_is_left_out():
    text = (DATA / "sysbench-sql.txt").read_text()

    read = readers.read(text[:-100].encode())

    assert len(read.runs) == 1
    assert (
        "A run is left out. line 38: The output of this run is not whole; sysbench prints up to its fairness."
        in read.dropped
    )
    assert problem(text[: text.index("Threads fairness")])[0] == "line 1"


def test_a_run_of_sysbench_that_says_why_it_ended_is_failed():
    text = (DATA / "sysbench-sql.txt").read_text()
    fatal = "FATAL: Connection to database failed: no such database\n"
    head = text[: text.index("SQL statistics")]

    read = readers.read((text + head + fatal).encode())

    assert [run.state for run in read.runs] == ["ok", "ok", "failed"]
    assert read.runs[2].reason.startswith("sysbench says: Connection to database failed")
    assert "Connection to database failed" in problem(head + fatal)[1]


def test_reports_of_fio_before_the_end_are_parts_of_one_run():
    read = read_file("fio-status.json")

    assert only_run(read).units_done == 32997
    assert "Reports before the end (--status-interval) are left out." in read.dropped


def document_of(name: str) -> dict:
    """The JSON in a file of fio with lines around it."""
    text = (DATA / name).read_text()
    return dict(json.JSONDecoder().raw_decode(text[text.index("{\n") :])[0])


def test_lines_that_fio_prints_around_its_json_are_left_out_and_counted():
    read = read_file("fio-normal-json.txt")

    part = document_of("fio-normal-json.txt")["jobs"][0]["read"]
    run = only_run(read)
    assert run.values["read_iops"] == part["iops"]
    assert run.values["read_latency_mean"] == pytest.approx(part["lat_ns"]["mean"] / 1e9)
    assert run.values["read_completion_latency_p99"] == pytest.approx(
        part["clat_ns"]["percentile"]["99.000000"] / 1e9
    )
    assert read.dropped[0] == "24 lines around the JSON are left out, the first is line 1."


def test_a_fault_in_the_json_between_lines_is_named_by_its_line():
    text = (DATA / "fio-normal-json.txt").read_text()
    line = text[: text.index('"iops" :')].count("\n") + 1

    where, what = problem(text.replace('"iops" :', '"iops" ', 1))

    assert (where, what.startswith("This is not JSON")) == (f"line {line}", True)


@pytest.mark.parametrize(
    "text",
    [
        "reads: (g=0): rw=randread\nfio-3.33\nStarting 1 process\n\nreads: (groupid=0, jobs=1): err= 0\n",
        "3;fio-3.33;reads;0;0;1600;819200\n",
    ],
)
def test_an_output_of_fio_without_json_is_told_how_to_measure(text):
    assert problem(text)[1] == "This output of fio has no JSON; measure with --output-format=json."


def test_reads_and_writes_that_fio_unites_have_metrics_of_their_own():
    read = read_file("fio-mixed.json")

    part = document_of("fio-mixed.json")["jobs"][0]["mixed"]
    run = only_run(read)
    assert read.primary_metric == "mixed_iops"
    assert run.values["mixed_iops"] == part["iops"]
    assert run.values["mixed_bandwidth"] == part["bw_bytes"]
    assert run.values["mixed_latency_p95"] == pytest.approx(
        part["lat_ns"]["percentile"]["95.000000"] / 1e9
    )
    assert run.units_done == 400
    both = only_run(read_file("fio-mixed-both.json"))
    assert both.units_done == 400
    assert {"read_iops", "write_iops", "mixed_iops"} <= both.values.keys()


def test_a_client_of_fio_has_the_job_of_its_server():
    read = read_file("fio-client-one.txt")

    part = document_of("fio-client-one.txt")["client_stats"][0]["read"]
    run = only_run(read)
    assert run.values["read_iops"] == part["iops"]
    assert run.values["read_latency_p50"] == pytest.approx(4.448e-6)
    assert read.info["server 127.0.0.1:18765"] == "reads"


def test_servers_of_fio_are_one_run_as_its_client_adds_them_up():
    read = read_file("fio-client-two.txt")

    *_, total = document_of("fio-client-two.txt")["client_stats"]
    run = only_run(read)
    assert total["jobname"] == "All clients"
    assert run.values == {
        "read_iops": total["read"]["iops"],
        "read_bandwidth": total["read"]["bw_bytes"],
        "read_latency_mean": pytest.approx(total["read"]["lat_ns"]["mean"] / 1e9),
    }
    assert run.units_done == 800
    assert any("as fio adds them up" in each for each in read.dropped)


def test_one_server_of_fio_that_failed_is_named():
    document = document_of("fio-client-two.txt")
    document["client_stats"][1]["error"] = 28

    run = only_run(readers.read(json.dumps(document).encode()))

    assert (run.state, run.reason) == ("failed", "fio ended with error 28 on 127.0.0.1:18766")
    assert run.values["read_iops"] == document["client_stats"][2]["read"]["iops"]


def test_different_jobs_on_the_servers_of_fio_are_runs_of_their_own():
    document = document_of("fio-client-two.txt")
    document["client_stats"][1]["jobname"] = "others"

    read = readers.read(json.dumps(document).encode())

    assert [run.levels for run in read.runs] == [{"job": "reads"}, {"job": "others"}]
    assert [run.values["read_iops"] for run in read.runs] == [
        part["read"]["iops"] for part in document["client_stats"][:2]
    ]


def test_two_short_runs_of_a_client_of_fio_are_no_report_and_its_end():
    document = document_of("fio-client-one.txt")
    later = json.loads(json.dumps(document))
    later["client_stats"][0]["read"]["runtime"] += 5

    read = readers.read((json.dumps(document) + "\n" + json.dumps(later)).encode())

    assert len(read.runs) == 2
