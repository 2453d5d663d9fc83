"""Tools that send HTTP requests: ab, hey, vegeta."""

import gzip
import json
from datetime import UTC, datetime

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, only_run, problem, read_file, runs_at

REFUSED = """This is ApacheBench, Version 2.3 <$Revision$>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/

Benchmarking 127.0.0.1 (be patient)...apr_socket_recv: Connection refused (111)
"""


def test_an_output_of_ab_is_one_run_and_what_differs_is_a_factor():
    read = read_file("ab.txt")

    assert read.factors == {"concurrency": (4, 16), "keep-alive": (False, True)}
    assert read.runs[0].values == pytest.approx(
        {
            "latency_mean": 0.000877,
            "latency_p75": 0.001,
            "latency_p90": 0.002,
            "latency_p95": 0.003,
            "latency_p99": 0.006,
            "request_rate": 4563.03,
            "transfer_rate": 9959.35 * 1024,
            "failed_share": 0.0,
        }
    )
    assert [run.units_done for run in read.runs] == [400, 400, 400]
    assert read.info["server software"] == "nginx/1.22.1"
    assert read.primary_metric == "latency_mean"


def test_percentiles_that_ab_rounds_to_0_are_left_out():
    read = read_file("ab.txt")

    assert not any("latency_p50" in run.values for run in read.runs)
    assert any("those of 0 ms are left out" in each for each in read.dropped)


def test_requests_of_a_wrong_status_and_of_another_length_failed():
    """Of 100 requests 41 were answered 503, as the first one was; so ab calls the other 59 failed."""
    run = only_run(read_file("ab-half.txt"))

    assert (run.units_done, run.units_failed) == (41, 59)
    assert run.values["failed_share"] == 0.59
    assert any("ab -l" in each for each in read_file("ab-half.txt").dropped)


def test_a_server_that_closes_every_connection_fails_every_request_though_ab_does_not_say_so():
    assert "Failed requests:        0" in (DATA / "ab-reset.txt").read_text()

    run = only_run(read_file("ab-reset.txt"))

    assert (run.state, run.units_done, run.units_failed) == ("failed", 0, 50)
    assert "no byte came back" in run.reason


def test_an_ab_that_gave_up_is_refused_with_what_it_says():
    where, text = problem(REFUSED)

    assert where == "line 1"
    assert "not whole" in text
    assert "Connection refused (111)" in text
    read = readers.read(((DATA / "ab.txt").read_text() + REFUSED).encode())
    assert len(read.runs) == 3
    assert read.dropped[0].startswith("A run is left out. line 132: The output of this run is not")


def test_more_failures_than_requests_of_ab_are_refused():
    text = (DATA / "ab-half.txt").read_text().replace("requests:        59", "requests:        101")

    assert problem(text)[1] == "101 failed of 100 requests; the output is damaged."


def test_outputs_of_hey_are_runs_of_one_setting():
    read = read_file("hey.txt")

    assert read.factors == {}
    assert read.runs[0].values == pytest.approx(
        {
            "latency_mean": 0.0010,
            "latency_p50": 0.0003,
            "latency_p75": 0.0005,
            "latency_p90": 0.0037,
            "latency_p95": 0.0045,
            "latency_p99": 0.0068,
            "request_rate": 3896.0473,
            "transfer_rate": 800000 / 0.1027,
            "failed_share": 0.0,
        }
    )
    assert [run.units_done for run in read.runs] == [400, 400]
    assert any("runs of one setting" in each for each in read.dropped)


def test_wrong_statuses_and_errors_of_hey_are_failed_requests():
    wrong, refused = (only_run(read_file(f"hey-{each}.txt")) for each in ("errors", "refused"))

    assert (wrong.state, wrong.units_done, wrong.units_failed) == ("ok", 113, 87)
    assert (refused.state, refused.units_done, refused.units_failed) == ("failed", 0, 20)
    assert refused.values == {"failed_share": 1.0}


def test_an_output_of_hey_that_was_cut_off_is_refused_with_its_line():
    text = (DATA / "hey.txt").read_text()

    for cut in ("Status code", "  [200]"):
        read = readers.read(text[: text.rindex(cut)].encode())

        assert read.runs == readers.read(text.encode()).runs[:1]
        assert read.dropped[0].startswith(
            "A run is left out. line 48: The output of this run is not"
        )


def test_a_report_of_vegeta_is_one_run_at_the_rate_at_which_it_sent():
    read = read_file("vegeta-reports.json")

    assert read.factors == {"rate": (50, 100)}
    assert [run.levels["rate"] for run in read.runs] == [50, 50, 100, 100]
    run = read.runs[0]
    assert run.values == pytest.approx(
        {
            "latency_mean": 872696e-9,
            "latency_p50": 461718e-9,
            "latency_p90": 1707697e-9,
            "latency_p95": 4207204e-9,
            "latency_p99": 6743102e-9,
            "throughput": 50.514296100948684,
            "failed_share": 0.0,
        }
    )
    assert run.started_at == datetime(2026, 11, 23, 7, 2, 5, 7945, tzinfo=UTC)
    assert run.finished_at == datetime(2026, 11, 23, 7, 2, 6, 987583, tzinfo=UTC)


def test_statuses_and_errors_of_vegeta_are_failed_requests():
    read = read_file("vegeta-errors.json")
    run = only_run(read)

    assert (run.units_done, run.units_failed) == (72, 28)
    assert run.values["failed_share"] == 0.28
    assert read.info["status 503"] == "28"
    assert read.info["error 1"] == "503 Service Temporarily Unavailable"


def test_results_of_vegeta_are_a_run_for_each_attack_and_request():
    read = read_file("vegeta-results.ndjson.gz")

    assert read.factors["rate"] == (20, 40)
    assert [name.rpartition("/")[2] for name in map(str, read.factors["request"])] == [
        "small",
        "half",
    ]
    assert [run.units_done + run.units_failed for run in read.runs] == [10] * 4 + [20] * 4
    half = runs_at(read, rate=40, request="GET http://127.0.0.1:18999/half")
    lines = gzip.decompress((DATA / "vegeta-results.ndjson.gz").read_bytes()).splitlines()
    results = [json.loads(line) for line in lines]
    wrong = [each for each in results if each["code"] == 503 and each["attack"] == "rate=40"]
    assert sum(run.units_failed for run in half) == len(wrong) > 0


def test_results_of_attacks_that_were_mixed_are_refused_with_the_remedy():
    lines = gzip.decompress((DATA / "vegeta-results.ndjson.gz").read_bytes()).splitlines()
    one, other = lines[:20], lines[20:40]

    where, text = problem(
        b"\n".join(line for pair in zip(one, other, strict=False) for line in pair)
    )

    assert where == "line 4"
    assert text.endswith("encode one file of results after another.")


def test_a_report_of_vegeta_that_was_cut_off_is_left_out_and_told():
    text = (DATA / "vegeta-reports.json").read_text()

    read = readers.read(text[: len(text) - 200].encode())

    assert len(read.runs) == text.count("latencies") - 1
    assert read.dropped[0].startswith("The JSON that begins in line 4 is left out.")
    assert "Is the file whole?" in read.dropped[0]


def test_a_result_of_vegeta_without_a_time_is_named():
    line = {"attack": "", "seq": 0, "code": 200, "timestamp": "x", "latency": 1, "bytes_in": 0}

    assert problem(json.dumps(line)) == (
        "line 1",
        "The timestamp is no instant of the years 1990 to 2099.",
    )


def test_an_attack_without_requests_is_refused_with_the_reason():
    report = json.loads((DATA / "vegeta-errors.json").read_text())
    report |= {"requests": 0, "success": 0, "duration": 0, "status_codes": {}}

    with pytest.raises(readers.BadFile, match="no request was made"):
        readers.read(json.dumps(report).encode())
