"""Files of load tools that were read wrongly once, and others of their kind: the right values, and what is said."""

import pytest

from campaigns.results import readers
from campaigns.results.readers.base import Read
from campaigns.tests.results.readers.files import DATA, only_run

CASES = DATA / "cases"


def case(name: str) -> Read:
    return readers.read((CASES / name).read_bytes(), filename=name)


def told(read: Read, words: str) -> bool:
    return any(words in sentence for sentence in read.dropped)


def shared(read: Read) -> list[dict[str, object]]:
    """The values of each run, with its levels."""
    return [{**run.levels, **run.values} for run in read.runs]


@pytest.mark.parametrize(
    ("name", "runs", "values"),
    [
        ("jtl-date-timestamps.csv", 1, {"latency_mean": 0.1}),
        ("jtl-semicolon-headless.csv", 1, {"latency_mean": 0.1, "request_rate": 10}),
        ("jtl-truncated-last-line.csv", 1, {"latency_mean": 0.1, "request_rate": 10}),
        ("jtl-negative-elapsed.csv", 1, {"latency_mean": 0.1, "request_rate": 10}),
        ("jtl-two-runs-two-headers.csv", 2, {"latency_mean": 0.1, "request_rate": 10}),
        ("k6-points-two-runs.ndjson", 2, {"latency_mean": 0.1195, "request_rate": 1.02}),
        (
            "wrk2-u-latency.txt",
            1,
            {"latency_p50": 10, "latency_p75": 15, "latency_p90": 18, "latency_p99": 19.9},
        ),
        ("wrk-zero-percentiles.txt", 1, {"latency_mean": 0.355, "request_rate": 950}),
        (
            "k6-trend-count.json",
            1,
            {"latency_mean": 0.2, "latency_p95": 0.4, "request_rate": 50, "failed_share": 0.01},
        ),
        (
            "locust-quoted-header.csv",
            1,
            {"latency_mean": 0.12, "latency_p95": 0.26, "failed_share": 0.01},
        ),
        ("k6-summary-no-failed.json", 1, {"latency_mean": 0.2, "request_rate": 50}),
    ],
)
def test_each_run_of_a_file_has_its_right_values(name, runs, values):
    read = case(name)

    assert len(read.runs) == runs
    for run in read.runs:
        assert {metric: run.values[metric] for metric in values} == pytest.approx(values, rel=0.02)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jtl-truncated-last-line.csv", "Line 12, the last one, has no end"),
        ("jtl-negative-elapsed.csv", "Line 12 is left out. elapsed: “-3”"),
        ("jtl-two-runs-two-headers.csv", "Two runs of one setting: line 12 is a second header."),
        ("jtl-date-timestamps.csv", "they are taken as UTC"),
        ("k6-points-two-runs.ndjson", "Two runs of one setting: line 42 defines http_req_duration"),
        ("k6-points-two-runs.ndjson", "Which requests failed is not known"),
        ("wrk2-u-latency.txt", "Uncorrected latencies of wrk2 are left out"),
        (
            "locust-history-idle-step.csv",
            "Requests that were not asked in a step have no run there.",
        ),
        ("locust-history-idle-step.csv", "10 of 440 requests are left out"),
        ("locust-quoted-header.csv", "There is no line Aggregated"),
        ("k6-summary-no-failed.json", "Which requests failed is not known"),
        ("wrk-zero-percentiles.txt", "Latencies that wrk prints as 0 are left out"),
    ],
)
def test_what_is_left_out_or_split_is_told(name, words):
    assert told(case(name), words)


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("k6-points-two-runs.ndjson", ["failed_share"]),
        ("k6-summary-no-failed.json", ["failed_share"]),
        ("k6-trend-count.json", ["http_req_duration_rate", "latency_count"]),
        (
            "wrk-zero-percentiles.txt",
            ["latency_p50", "latency_p75", "latency_p90", "latency_p99"],
        ),
    ],
)
def test_what_the_file_does_not_have_is_absent(name, metrics):
    for run in case(name).runs:
        assert run.state == "ok"
        assert not set(metrics) & run.values.keys()


def test_ids_of_capsules_are_no_concurrency():
    read = case("satperf-capsule-number.log")

    assert read.factors == {"test": tuple(f"13-capsule-add-lce-{number}" for number in (2, 3, 4))}
    assert read.work == ("test",)
    assert [run.values for run in read.runs] == [{"duration": 22 + n} for n in (0, 1, 2)] * 2


def test_optional_fields_of_satperf_are_known_by_what_they_are():
    read = case("satperf-zero-tasks.log")

    assert read.facts == {
        "katello": "katello-4.18.0-1.el9.noarch",
        "satellite": "satellite-6.18.1-1.el9sat.noarch",
    }
    assert read.info == {"runs": "run-2026-03-02T08:00:00+00:00"}
    assert only_run(read).state == "ok"
    assert "item_duration_mean" not in only_run(read).values


def test_a_request_that_was_not_asked_in_a_step_of_locust_has_not_failed_there():
    read = case("locust-history-idle-step.csv")

    runs = [(run.levels["users"], run.levels["request"], run.state) for run in read.runs]
    assert runs == [(10, "GET /login", "ok"), (10, "GET /list", "ok"), (20, "GET /list", "ok")]
    assert [run.units_done for run in read.runs] == [50, 190, 190]


def test_a_measured_rate_is_no_setting():
    read = case("vegeta-rate-125-12.json")

    assert read.factors == {}
    assert len(read.runs) == 12
    assert read.info["rate"] == "about 125/s"
