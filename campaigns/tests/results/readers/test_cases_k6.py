"""Files of k6 as people have them: several runs in one file, older versions, single bad lines."""

import gzip
import json

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, problem

HEADER = "metric_name,timestamp,metric_value,check,error,method,name,scenario,status"
BEGIN = 1_767_348_000
HOUR = 3600


def row(at: float, value: object = 100, metric: str = "http_req_duration") -> str:
    return f"{metric},{BEGIN + at:.0f},{value},,,GET,http://shop.example/,default,200"


def run_of(began: float) -> list[str]:
    return [row(began + second) for second in range(40)]


def text_of(*lines: str) -> bytes:
    return "\n".join([*lines, ""]).encode()


def told(read, words):
    return any(words in sentence for sentence in read.dropped)


def counts(read):
    return [run.units_done + run.units_failed for run in read.runs]


def test_csv_of_two_runs_is_two_runs():
    read = readers.read(text_of(HEADER, *run_of(0), HEADER, *run_of(HOUR)))

    assert counts(read) == [40, 40]
    assert [run.values["request_rate"] for run in read.runs] == [pytest.approx(1, rel=0.03)] * 2
    assert read.dropped[0] == "Two runs of one setting: line 42 is a second header."


def test_points_without_definitions_are_split_by_the_pause():
    read = readers.read(text_of(HEADER, *run_of(0), *run_of(HOUR)))

    assert counts(read) == [40, 40]
    assert "nothing was asked for 3,561 s before line 42" in read.dropped[0]


def test_a_failure_belongs_to_its_own_run():
    failed = row(40, 1, "http_req_failed")
    good = row(40, 0, "http_req_failed")
    one = [line for each in run_of(0) for line in (each, good)]
    other = [line for each in run_of(HOUR) for line in (each, failed)]

    read = readers.read(text_of(HEADER, *one, HEADER, *other))

    assert [run.units_failed for run in read.runs] == [0, 40]
    assert [run.values["failed_share"] for run in read.runs] == [0, 1]
    assert [run.state for run in read.runs] == ["ok", "failed"]


def test_a_failure_of_which_the_line_is_damaged_does_not_hide_the_others():
    good = row(0, 0, "http_req_failed")
    lines = [line for each in run_of(0) for line in (each, good)]
    lines[-1] = lines[-1].replace(",0,", ",x,")

    read = readers.read(text_of(HEADER, *lines))

    assert read.runs[0].values["failed_share"] == 0
    assert told(read, "Line 81 is left out. metric_value: “x” is no number.")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (row(20, "NaN"), "Line 22 is left out. metric_value: “NaN”"),
        (row(20, -5), "Line 22 is left out. The time -5 is negative."),
        (row(20).replace(",200", ""), "Line 22 is left out. 8 fields; there are 9 columns"),
        ("running (1m02s), 10/10 VUs", "Line 22 is left out. 2 fields"),
        ("default   [ 50% ]", "Line 22 was not understood."),
    ],
)
def test_one_bad_line_of_csv_costs_one_point(bad, words):
    lines = run_of(0)

    read = readers.read(text_of(HEADER, *lines[:20], bad, *lines[20:]))

    assert counts(read) == [40]
    assert told(read, words)


def test_csv_of_k6_before_scenarios_is_read():
    header = HEADER.replace(",scenario", "")
    lines = [line.replace(",default", "") for line in run_of(0)]

    assert counts(readers.read(text_of(header, *lines))) == [40]


def points() -> list[str]:
    return gzip.decompress((DATA / "k6.ndjson.gz").read_bytes()).decode().splitlines()


def test_a_second_copy_of_points_is_a_second_run():
    lines = points()

    once, twice = readers.read(text_of(*lines)), readers.read(text_of(*lines, *lines))

    assert twice.runs == once.runs * 2
    assert f"line {len(lines) + 1} defines http_reqs again" in twice.dropped[0]


def test_one_bad_point_costs_one():
    lines = points()
    index = next(
        n for n, line in enumerate(lines) if '"Point"' in line and '"http_req_duration"' in line
    )
    point = json.loads(lines[index])
    point["data"]["value"] = None

    read = readers.read(text_of(*lines[:index], json.dumps(point), *lines[index + 1 :]))

    assert sum(counts(read)) == sum(counts(readers.read(text_of(*lines)))) - 1
    assert told(read, f"Line {index + 1} is left out.")


def test_lines_of_a_runner_around_points_are_counted():
    lines = points()

    read = readers.read(text_of("$ k6 run --out json=- x.js", *lines, "done"))

    assert read.runs == readers.read(text_of(*lines)).runs
    assert told(read, "2 lines were not understood, the first is line 1.")


def test_points_written_with_spaces_are_detected():
    lines = [json.dumps(json.loads(line)) for line in points()]

    assert readers.detect(text_of(*lines)[:60_000]) == ["k6_points"]


def test_iterations_have_no_share_of_failures():
    lines = [row(second, metric="iteration_duration") for second in range(40)]

    assert "failed_share" not in readers.read(text_of(HEADER, *lines)).runs[0].values


def test_more_requests_than_cells_are_refused_with_the_remedy():
    lines = [row(n).replace("/,default", f"/{n},default") for n in range(501)]

    where, text = problem(text_of(HEADER, *lines))

    assert where == "line 502"
    assert "the same tag `name`" in text


def summary(**metrics):
    trend = {"avg": 200.0, "min": 100.0, "med": 190.0, "max": 900.0, "p(95)": 400.0}
    return {
        "root_group": {"name": "", "path": "", "groups": [], "checks": []},
        "metrics": {
            "http_reqs": {"count": 1000, "rate": 50.0},
            "http_req_duration": trend,
            "http_req_failed": {"passes": 10, "fails": 990, "value": 0.01},
            **metrics,
        },
    }


def values_of(document):
    (run,) = readers.read(json.dumps(document).encode()).runs
    return run.values


def test_a_trend_of_which_only_the_count_was_asked_for_is_no_counter():
    document = summary(waiting_time={"count": 5}, http_req_duration={"count": 1000})

    assert values_of(document) == {"request_rate": 50, "failed_share": 0.01}


def test_a_typed_trend_with_a_count_is_a_trend():
    trend = {"type": "trend", "contains": "time", "values": {"avg": 200, "count": 9}}

    values = values_of(summary(http_req_duration=trend, mine=trend))

    assert (values["latency_mean"], values["mine_mean"]) == (0.2, 0.2)


def test_a_trend_that_has_no_sample_is_no_latency_of_zero():
    """k6 lists a metric with thresholds even if nothing was asked."""
    zero = {"avg": 0, "min": 0, "med": 0, "max": 0, "p(95)": 0}
    document = summary(
        http_req_duration=zero,
        http_reqs={"count": 0, "rate": 0},
        http_req_failed={"passes": 0, "fails": 0, "value": 0},
        iteration_duration={"avg": 1000, "med": 1000, "max": 1000},
    )

    assert set(values_of(document)) == {
        f"iteration_duration_{each}" for each in ("mean", "p50", "max")
    }


def test_a_share_of_failures_without_counts_is_taken_of_the_requests():
    document = summary(http_req_failed={"value": 0.25})

    assert values_of(document)["failed_share"] == 0.25


def test_a_gauge_of_a_script_is_no_trend():
    read = readers.read(json.dumps(summary(pool={"value": 6, "min": 2, "max": 6})).encode())

    assert "pool_max" not in read.runs[0].values
    assert told(read, "pool is left out")


def test_one_damaged_summary_of_several_costs_itself():
    broken = summary(http_req_duration={"avg": "fast"})
    text = "\n".join(json.dumps(each, indent=1) for each in (summary(), broken, summary()))

    read = readers.read(text.encode())

    assert len(read.runs) == 2
    assert told(read, "A summary is left out. line ")


def test_nan_where_nobody_reads_it_costs_nothing():
    text = json.dumps(summary()).replace('"min": 100.0', '"min": NaN')

    assert readers.read(text.encode()).runs[0].values["latency_mean"] == 0.2


def test_runs_of_other_numbers_of_vus_are_not_of_one_setting():
    few, many = row(0, 10, "vus"), row(HOUR, 50, "vus")

    read = readers.read(text_of(HEADER, few, *run_of(0), HEADER, many, *run_of(HOUR)))

    assert read.factors == {"vus": (10, 50)}
    assert "the most in each run" in read.guesses["vus"]
