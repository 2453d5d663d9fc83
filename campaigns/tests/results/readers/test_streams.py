"""Files of single requests: k6 points and JMeter's results."""

import gzip
from datetime import UTC, datetime

import pytest

from campaigns.results import readers
from campaigns.results.readers.base.streams import nearest_rank
from campaigns.tests.results.readers.files import DATA, problem, read_file, runs_at

POINT = '{"metric":"http_req_duration","type":"Point","data":{"time":"%s","value":%s,"tags":{}}}\n'


def test_points_of_k6_are_gathered_by_scenario_and_request():
    read = read_file("k6.ndjson.gz")

    assert read.factors["scenario"] == ("few", "many")
    (run,) = runs_at(read, scenario="many")
    assert run.values["latency_mean"] == pytest.approx(0.0032827898809523814)
    assert run.values["latency_p50"] == pytest.approx(0.000904579)
    assert run.values["latency_p90"] == pytest.approx(0.015789394)
    assert "latency_p95" not in run.values
    assert run.units_done == 42
    (missing,) = runs_at(read, request="http://127.0.0.1:18799/missing")
    assert (missing.state, missing.units_failed) == ("failed", 14)
    assert read.info["vus_max"] == "8"
    assert any("parse_time, rows" in each for each in read.dropped)


def test_a_file_is_read_the_same_compressed_and_plain():
    packed = (DATA / "k6.ndjson.gz").read_bytes()

    assert readers.read(packed) == readers.read(gzip.decompress(packed))


def test_points_of_k6_in_csv_are_gathered_in_the_same_way():
    read = read_file("k6-milli.csv.gz")

    assert read.factors == {
        "scenario": ("few", "many"),
        "request": ("http://127.0.0.1:18999/small", "http://127.0.0.1:18999/missing"),
    }
    (run,) = runs_at(read, scenario="few")
    lines = gzip.decompress((DATA / "k6-milli.csv.gz").read_bytes()).decode().splitlines()
    rows = [line.split(",") for line in lines if line.startswith("http_req_duration,")]
    few = [(int(row[1]) / 1000, float(row[2]) / 1000) for row in rows if row[11] == "few"]
    assert run.units_done == len(few)
    assert run.values["latency_mean"] == pytest.approx(sum(took for _, took in few) / len(few))
    span = max(at for at, _ in few) - min(at - took for at, took in few)
    assert run.values["request_rate"] == pytest.approx(len(few) / span)
    (missing,) = runs_at(read, request="http://127.0.0.1:18999/missing")
    assert (missing.state, missing.units_failed) == ("failed", rows_of(rows, "missing"))
    assert read.info["vus_max"] == "6"


def rows_of(rows, path):
    return sum(row[9].endswith(path) for row in rows)


def test_whole_seconds_of_k6_are_too_coarse_for_the_rate_of_a_short_test():
    read = read_file("k6.csv.gz")

    assert not any("request_rate" in run.values for run in read.runs)
    assert any("K6_CSV_TIME_FORMAT=unix_milli" in each for each in read.dropped)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("http_req_duration,1795417866,x,few,a", "metric_value: “x” is no number."),
        ("http_req_duration,1795417866,-1,few,a", "The time -1 is negative."),
        ("http_req_duration,0,1,few,a", "The time of the point is no instant"),
        ("data_sent,1795417866,0.5,few,a", "0.5 is no count"),
        ("http_req_duration,1795417866,1,few", "4 fields; there are 5 columns"),
    ],
)
def test_a_bad_line_of_k6_in_csv_is_named(line, what):
    where, text = problem(f"metric_name,timestamp,metric_value,scenario,name\n{line}\n")

    assert where == "line 2"
    assert what in text


def test_the_span_of_a_run_begins_with_its_first_request():
    lines = POINT % ("2026-01-01T00:00:10Z", 4000) + POINT % ("2026-01-01T00:00:12Z", 1000)

    (run,) = readers.read(lines.encode()).runs

    assert run.started_at == datetime(2026, 1, 1, 0, 0, 6, tzinfo=UTC)
    assert run.values == {"latency_mean": 2.5, "request_rate": 2 / 6}


def test_without_requests_the_iterations_are_read():
    lines = (POINT % ("2026-01-01T00:00:10Z", 4000)).replace("http_req", "iteration")

    read = readers.read(lines.encode())

    assert read.runs[0].values["latency_mean"] == 4
    assert any("that of whole iterations" in each for each in read.dropped)


def test_jmeters_results_are_a_run_for_each_label():
    read = read_file("jmeter.jtl")

    assert read.factors == {"label": ("small file", 'missing, "quoted"')}
    (run,) = runs_at(read, label="small file")
    assert run.values == pytest.approx(
        {
            "latency_mean": 0.01257,
            "latency_p50": 0.005,
            "latency_p90": 0.018,
            "latency_p95": 0.022,
            "request_rate": 100 / 0.566,
            "transfer_rate": 2024200 / 0.566,
            "failed_share": 0.0,
        }
    )
    assert runs_at(read, label='missing, "quoted"')[0].units_failed == 100


def test_jmeters_results_without_a_header_have_its_default_columns():
    read = read_file("jmeter-no-header.jtl")

    assert [run.units_done + run.units_failed for run in read.runs] == [100, 100]
    assert runs_at(read, label="small file")[0].values["latency_mean"] == pytest.approx(0.00697)


def test_jmeters_xml_is_read_too():
    read = read_file("jmeter.xml.jtl")

    (run,) = runs_at(read, label="small file")
    assert run.units_done == 56
    assert run.values["latency_mean"] == pytest.approx(0.010196428571428571)
    assert run.values["latency_p50"] == pytest.approx(0.005)


def test_samples_inside_others_are_told_and_left_out():
    xml = (
        '<testResults version="1.2"><sample t="9" ts="1795312868891" s="true" lb="page">'
        '<httpSample t="4" ts="1795312868891" s="true" lb="part"/></sample></testResults>'
    )

    read = readers.read(xml.encode())

    assert [run.units_done for run in read.runs] == [1]
    assert "1 samples inside others are left out: they are parts." in read.dropped


def test_a_doctype_is_refused_before_any_entity_is_read():
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE testResults [<!ENTITY a "aaaaaaaaaa">'
        '<!ENTITY b "&a;&a;&a;&a;">]><testResults>&b;</testResults>'
    )

    assert problem(bomb)[1].startswith("The XML has a DOCTYPE")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("0,5,a,true", "The timeStamp 0 is no instant of a test."),
        ("1795312868891,NaN,a,true", "elapsed: “NaN” is no number"),
        ("1795312868891,1e308,a,true", "elapsed: “1e308”"),
        ("1795312868891,5,a,maybe", "success is “maybe”"),
        ("1795312868891,5,a", "3 fields; there are 4 columns"),
        ('1795312868891,5,"a,true', "This is not CSV"),
    ],
)
def test_a_bad_line_of_jmeter_is_named(line, what):
    where, text = problem(f"timeStamp,elapsed,label,success\n{line}\n")

    assert where == "line 2"
    assert what in text


def test_more_labels_than_cells_are_refused():
    lines = [f"1795312868891,5,label {number},true" for number in range(501)]

    where, text = problem("\n".join(["timeStamp,elapsed,label,success", *lines, ""]))

    assert (where, text[:20]) == ("line 502", "More than 500 labels")


@pytest.mark.parametrize(
    ("count", "percent", "expected"),
    [
        (7, 50, None),
        (8, 50, 4.0),
        (39, 90, None),
        (40, 90, 36.0),
        (399, 99, None),
        (400, 99, 396.0),
    ],
)
def test_a_percentile_by_nearest_rank_needs_five_samples_at_and_beyond_it(count, percent, expected):
    assert nearest_rank([float(n) for n in range(1, count + 1)], percent) == expected


def test_a_line_that_is_no_point_is_named():
    read = readers.read((POINT % ("2026-01-01T00:00:10Z", 4) + "{}\n").encode())
    assert read.dropped[0].startswith("Line 2 is left out. There is no “type” here")
    assert problem(POINT % ("0000-01-01T00:00:10Z", 4))[1].startswith("The time of the point")
