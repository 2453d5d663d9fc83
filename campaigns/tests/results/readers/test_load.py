"""Tools that load a server and print a summary: k6, wrk, oha, Locust, pgbench."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, only_run, problem, read_file, runs_at


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "k6_summary_export.json",
            {
                "latency_mean": 0.0024540204999999995,
                "latency_p50": 0.000716178,
                "latency_p95": 0.015992297249999998,
                "request_rate": 16.87814447622664,
                "transfer_rate": 274357.6140899593,
            },
        ),
        (
            "k6_handle_summary.json",
            {
                "latency_mean": 0.0017789211142857142,
                "latency_p99": 0.01118074131,
                "request_rate": 16.893776554918595,
                "transfer_rate": 274611.71665551275,
            },
        ),
        (
            "k6_machine_readable.json",
            {
                "latency_mean": 0.0009844046571428572,
                "latency_p90": 0.002192041,
                "request_rate": 70 / 4.132910817,
                "transfer_rate": 1137864 / 4.132910817,
            },
        ),
    ],
)
def test_each_summary_of_k6_is_one_run(name, expected):
    read = read_file(name)
    run = only_run(read)

    assert read.primary_metric == "latency_p95"
    assert {key: run.values[key] for key in expected} == pytest.approx(expected, rel=1e-12)
    assert run.values["failed_share"] == 0.2
    assert (run.units_done, run.units_failed) == (56, 14)
    assert {metric.fidelity for metric in read.metrics} == {"aggregated"}
    assert any("tag in braces" in each for each in read.dropped)


def test_only_the_machine_readable_summary_says_when_and_by_which_k6():
    read = read_file("k6_machine_readable.json")
    run = only_run(read)

    assert read.facts == {"k6": "1.8.1"}
    assert run.finished_at == datetime(2026, 11, 22, 2, 7, 29, 381448, tzinfo=UTC)
    assert run.started_at == run.finished_at - timedelta(seconds=4.132910817)
    assert only_run(read_file("k6_handle_summary.json")).finished_at is None


def test_a_unit_that_the_summary_does_not_give_is_told():
    export, handled = read_file("k6_summary_export.json"), read_file("k6_handle_summary.json")

    def unit(read):
        return next(each.unit for each in read.metrics if each.name == "parse_time_mean")

    assert unit(export) == "unknown"
    assert "The file does not give the unit of parse_time." in export.dropped
    assert unit(handled) == "s"


def test_what_a_script_of_k6_calls_as_we_call_requests_stays_apart_from_them():
    document = json.loads((DATA / "k6_handle_summary.json").read_text())
    trend = {"avg": 90, "med": 90, "p(95)": 90, "max": 90}
    document["metrics"] |= {
        "latency": {"type": "trend", "contains": "default", "values": trend},
        "request": {"type": "counter", "contains": "default", "values": {"count": 9, "rate": 9}},
    }

    read = readers.read(json.dumps(document).encode())

    plain, run = only_run(read_file("k6_handle_summary.json")), only_run(read)
    assert {name: run.values[name] for name in plain.values} == plain.values
    assert (run.values["script_latency_p95"], run.values["script_request_rate"]) == (90, 9)
    assert next(m.unit for m in read.metrics if m.name == "script_latency_p95") == "unknown"


def test_a_rate_over_no_time_at_all_is_refused():
    document = json.loads((DATA / "k6_machine_readable.json").read_text())
    document["config"]["duration"] = 1e-299
    requests = next(m for m in document["results"]["metrics"] if m["name"] == "http_reqs")
    requests["values"] = {"count": 10**15}

    assert problem(json.dumps(document))[1].startswith("The number is larger than anything")


def test_more_errors_than_can_be_counted_are_refused():
    most = "999999999999999"
    text = (DATA / "wrk_socket_errors.txt").read_text()
    text = text.replace("read 444, write 0", f"read {most}, write {most}")

    assert "more than 1,000,000,000,000,000 requests" in problem(text)[1]


def test_wrk_with_percentiles_is_one_run_of_rounded_values():
    read = read_file("wrk_latency.txt")
    run = only_run(read)

    assert run.levels == {"connections": 8, "threads": 2}
    assert run.values == pytest.approx(
        {
            "latency_mean": 0.00581,
            "latency_p50": 0.000198,
            "latency_p75": 0.00608,
            "latency_p90": 0.01699,
            "latency_p99": 0.06361,
            "request_rate": 9758.12,
            "transfer_rate": 188.37 * 1024**2,
            "failed_share": 0.0,
        }
    )
    assert run.units_done == 30098
    assert read.primary_metric == "latency_p99"


def test_wrk_without_percentiles_has_the_mean_alone():
    read = read_file("wrk_plain.txt")

    assert read.primary_metric == "latency_mean"
    assert only_run(read).values["latency_mean"] == pytest.approx(0.00997)


def test_wrong_responses_and_broken_connections_of_wrk_are_failed_requests():
    wrong, broken = (only_run(read_file(f"wrk_{each}.txt")) for each in ("errors", "socket_errors"))

    assert (wrong.state, wrong.units_failed) == ("failed", 36060)
    assert broken.state == "ok"
    assert (broken.units_done, broken.units_failed) == (2685, 444)
    assert broken.values["failed_share"] == 444 / (2685 + 444)


def test_outputs_of_wrk_one_after_another_are_runs_by_connections():
    text = b"".join((DATA / f"wrk_{each}.txt").read_bytes() for each in ("latency", "plain"))

    read = readers.read(text)

    assert read.factors == {"connections": (4, 8), "threads": (1, 2)}
    assert [run.levels["connections"] for run in read.runs] == [8, 4]


def test_an_output_of_wrk_that_was_cut_off_is_left_out_with_its_line():
    text = (DATA / "wrk_latency.txt").read_text()
    reason = "The output of this run is not whole; wrk prints up to Transfer/sec."

    read = readers.read((text + text[:300]).encode())

    assert only_run(read) == only_run(readers.read(text.encode()))
    assert f"A run is left out. line 14: {reason}" in read.dropped
    assert problem(text[:300]) == ("line 1", reason)


@pytest.mark.parametrize("cut", range(10, 100, 10))
def test_no_number_of_an_output_of_wrk_is_cut_in_two(cut):
    text = (DATA / "wrk_latency.txt").read_text()

    with pytest.raises(readers.BadFile):
        readers.read(text[: len(text) * cut // 100].encode(), format="wrk")


def test_two_outputs_of_wrk_that_ran_into_one_another_are_refused():
    text = (DATA / "wrk_latency.txt").read_text()

    read = readers.read((text[:-1] + text + text).encode())

    assert len(read.runs) == 1
    assert any(each.startswith("A run is left out. line 1: ") for each in read.dropped)


def test_wrk_within_a_log_of_a_runner_is_read():
    text = (DATA / "wrk_latency.txt").read_text()
    stamped = "".join(
        f"2026-01-02T10:00:00.1234567Z {line}\n"
        for line in ["\x1b[1m$ wrk\x1b[0m", *text.splitlines()]
    )

    read = readers.read(stamped.encode())

    assert only_run(read) == only_run(readers.read(text.encode()))
    assert "Line 1 was not understood." in read.dropped


def test_lines_of_a_script_of_wrk_are_counted():
    text = (DATA / "wrk_latency.txt").read_text() + "my statistics: 5\n"

    assert "Line 14 was not understood." in readers.read(text.encode()).dropped


def test_a_server_that_never_answered_wrk_has_no_latency():
    text = (DATA / "wrk_latency.txt").read_text()
    text = text.replace(
        "Latency     5.81ms   12.36ms 113.09ms   90.76%",
        "Latency     0.00us    0.00us   0.00us    -nan%",
    )
    text = text.replace("30098 requests", "0 requests").replace("9758.12", "0.00")
    silent = text.replace(
        "Requests/sec", "  Socket errors: connect 0, read 0, write 0, timeout 8\nRequests/sec", 1
    )

    run = readers.read((silent + (DATA / "wrk_latency.txt").read_text()).encode()).runs[0]

    assert (run.state, run.units_failed) == ("failed", 8)
    assert not any(name.startswith("latency") for name in run.values)


def test_oha_is_one_run_in_seconds():
    run = only_run(read_file("oha.json"))

    assert run.values == {
        "latency_mean": 0.00029326364050000046,
        "latency_p50": 0.000119833,
        "latency_p90": 0.000868374,
        "latency_p95": 0.001446217,
        "latency_p99": 0.002927983,
        "latency_p99_9": 0.004705566,
        "request_rate": 26166.511933178892,
        "transfer_rate": 523330238.6635778,
        "failed_share": 0.0,
    }
    assert run.units_done == 2000


@pytest.mark.parametrize("name", ["oha.json", "k6_summary_export.json"])
def test_summaries_one_after_another_are_runs_of_one_setting(name):
    content = (DATA / name).read_bytes()

    read = readers.read(content + content + content)

    assert len(read.runs) == 3
    assert read.factors == {}
    assert any("runs of one setting" in each for each in read.dropped)
    cut = readers.read(content + content[: len(content) // 2])
    assert len(cut.runs) == 1
    assert "is left out" in cut.dropped[0]
    assert "Is the file whole?" in cut.dropped[0]


def test_errors_and_wrong_statuses_of_oha_are_failed_requests():
    broken, missing = (only_run(read_file(f"oha_{each}.json")) for each in ("errors", "missing"))

    assert (broken.units_done, broken.units_failed, broken.state) == (259, 41, "ok")
    assert broken.values["failed_share"] == 41 / 300
    assert (missing.units_done, missing.units_failed, missing.state) == (0, 100, "failed")


def test_requests_that_the_end_of_oha_cut_off_did_not_fail():
    document = json.loads((DATA / "oha.json").read_text())
    document["errorDistribution"] = {"aborted due to deadline": 8}

    run = only_run(readers.read(json.dumps(document).encode()))

    assert run.units_failed == 0


def test_statistics_of_locust_are_a_run_for_each_request():
    read = read_file("locust_stats.csv")

    assert read.factors == {"request": ("GET missing", "GET small file")}
    (run,) = runs_at(read, request="GET small file")
    assert run.values == pytest.approx(
        {
            "latency_mean": 0.00758970515467684,
            "latency_min": 0.00015165100194280967,
            "latency_max": 0.30170887599524576,
            "latency_p50": 0.004,
            "latency_p90": 0.016,
            "latency_p95": 0.024,
            "latency_p99": 0.052,
            "latency_p99_9": 0.3,
            "request_rate": 49.534709845266825,
            "failed_share": 0.0,
        }
    )
    assert run.units_done == 1402
    fidelities = {metric.name: metric.fidelity for metric in read.metrics}
    assert (fidelities["latency_mean"], fidelities["latency_p95"]) == ("aggregated", "rounded")
    assert "The line Aggregated is left out: it is the sum of the others." in read.dropped
    (missing,) = runs_at(read, request="GET missing")
    assert (missing.state, missing.units_failed) == ("failed", 369)


def test_a_step_of_users_in_the_history_is_a_run_of_what_came_in_between():
    read = read_file("locust_stats_history.csv")

    assert read.factors == {"users": (2, 6), "request": ("GET missing", "GET small file")}
    (run,) = runs_at(read, users=6, request="GET small file")
    requests, milliseconds = 1402 - 472, 1402 * 7.589705154676841 - 472 * 4.973799798620857
    assert run.values == pytest.approx(
        {
            "request_rate": requests / 13,
            "latency_mean": milliseconds / requests / 1000,
            "failed_share": 0.0,
            "latency_p50": 0.004,
            "latency_p90": 0.019,
            "latency_p95": 0.029,
            "latency_p99": 0.096,
        }
    )
    assert run.started_at == datetime.fromtimestamp(1795313257, UTC)
    assert run.finished_at == datetime.fromtimestamp(1795313270, UTC)


def test_a_history_of_the_total_alone_has_no_factor_but_users():
    read = read_file("locust_total_stats_history.csv")

    assert read.factors == {"users": (2, 6)}
    assert [run.units_done + run.units_failed for run in read.runs] == [440, 1190]
    assert any("users were still arriving" in each for each in read.dropped)


def test_a_history_of_a_test_of_two_seconds_is_one_run_without_a_rate():
    read = read_file("locust_2s_total_stats_history.csv")

    assert read.factors == {"users": (4,)}
    assert read.runs[0].values == pytest.approx(
        {
            "latency_mean": 0.004909542088198043,
            "failed_share": 13 / 68,
            "latency_p50": 0.004,
            "latency_p90": 0.008,
            "latency_p95": 0.009,
            "latency_p99": 0.094,
        }
    )
    assert (read.runs[0].units_done, read.runs[0].units_failed) == (55, 13)
    assert any("import the file _stats.csv" in each for each in read.dropped)


def test_percentiles_that_locust_did_not_compute_yet_are_left_out():
    """In the first second it writes 0 in their place."""
    read = read_file("locust_2s_stats_history.csv")

    assert read.factors["request"] == ("GET missing", "GET small file")
    assert [set(run.values) for run in read.runs] == [{"latency_mean", "failed_share"}] * 2


def test_percentiles_of_a_test_within_their_window_are_those_of_the_test():
    run = only_run(read_file("locust_8s_total_stats_history.csv"))

    assert run.values["request_rate"] == pytest.approx((473 - 61) / 6)
    assert run.values["latency_p95"] == 0.013


@pytest.mark.parametrize(
    ("name", "levels", "expected"),
    [
        (
            "pgbench-13.txt",
            {"clients": 4, "threads": 2},
            {
                "tps": 3025.778334,
                "tps_with_connecting": 3006.531503,
                "latency_mean": 0.001282,
                "latency_stddev": 0.002655,
            },
        ),
        (
            "pgbench-13-select.txt",
            {"clients": 2, "threads": 1},
            {"tps": 4172.563107, "tps_with_connecting": 2772.476187, "latency_mean": 0.000721},
        ),
        (
            "pgbench-15.txt",
            {"clients": 4, "threads": 2},
            {
                "tps": 565.845839,
                "latency_mean": 0.006958,
                "latency_stddev": 0.013712,
                "connection_time": 0.157529,
                "failed_share": 0.0,
            },
        ),
        (
            "pgbench-18-select.txt",
            {"clients": 2, "threads": 1},
            {
                "tps": 988.562334,
                "latency_mean": 0.002023,
                "connection_time": 0.181099,
                "failed_share": 0.0,
            },
        ),
    ],
)
def test_pgbench_is_read_in_its_old_and_its_new_words(name, levels, expected):
    read = read_file(name)
    run = only_run(read)

    assert read.primary_metric == "tps"
    assert run.levels == levels
    assert run.values == pytest.approx(expected)


def test_what_differs_between_outputs_of_pgbench_is_a_factor():
    text = b"".join((DATA / f"pgbench-{each}.txt").read_bytes() for each in ("15", "18-select"))

    read = readers.read(text)

    assert read.factors["clients"] == (2, 4)
    assert read.factors["transaction"] == ("<builtin: TPC-B (sort of)>", "<builtin: select only>")
    assert read.info["scale"] == "1"
    assert [run.units_done for run in read.runs] == [2231, 100]
