import pytest

from campaigns.kinds.base import Metric
from campaigns.planning.criterion import (
    as_lines,
    criterion_of,
    from_lines,
    labels_of,
    read_criterion,
)

METRICS = (
    Metric("duration", "Duration", "s", lower_is_better=True, primary=True),
    Metric("time_p95", "Time, p95", "s", lower_is_better=True, percentile=0.95),
    Metric("file_p95", "File, p95", "ms", lower_is_better=True, percentile=0.95),
    Metric("rate", "Rate", "MB/s", lower_is_better=False),
    Metric("passed", "Passed", "count", lower_is_better=False),
    Metric("asked", "Asked", "req/s", lower_is_better=False),
    Metric("spread", "Spread", "s", lower_is_better=True, directed=False),
)


def read(*conditions, time_limit=None, **others):
    errors: dict[str, list[str]] = {}
    stored = read_criterion(
        {"conditions": list(conditions), **others}, METRICS, errors, time_limit=time_limit
    )
    return stored, errors


def refused(*conditions, **named):
    stored, errors = read(*conditions, **named)
    assert stored == {}
    ((path, (message,)),) = errors.items()
    return path, message


@pytest.mark.parametrize(
    "nothing",
    [
        None,
        "",
        {},
        {"conditions": []},
        {"conditions": None},
        {"conditions": ""},
        {"resolution": None},
    ],
)
def test_a_campaign_need_not_state_one(nothing):
    errors: dict[str, list[str]] = {}

    assert read_criterion(nothing, METRICS, errors) == {}
    assert errors == {}


def test_what_is_stored_can_be_sent_again():
    stored, errors = read(
        {"metric": "time_p95", "at_most": "3 min"},
        {"metric": "rate", "at_least": 5},
        failed_percent="2 %",
        resolution=2,
    )

    assert errors == {}
    assert stored == {
        "conditions": [
            {"metric": "time_p95", "at_most": 180.0},
            {"metric": "rate", "at_least": 5.0},
        ],
        "failed_percent": 2.0,
        "resolution": 2.0,
    }
    assert read_criterion(stored, METRICS, {}) == stored
    assert criterion_of(stored).is_set


def test_the_usual_resolution_is_not_stored():
    assert read(failed_percent=5, resolution=1.5)[0] == {"failed_percent": 5.0}


@pytest.mark.parametrize(
    ("metric", "side", "limit", "stored"),
    [
        ("duration", "at_most", "180", 180.0),
        ("duration", "at_most", "180s", 180.0),
        ("duration", "at_most", "1 h 30 min", 5400.0),
        ("duration", "at_most", "250 ms", 0.25),
        ("file_p95", "at_most", "0.5 s", 500.0),
        ("file_p95", "at_most", "2 min", 120_000.0),
        ("rate", "at_least", "5 MB/s", 5.0),
        ("passed", "at_least", 3, 3.0),
        ("asked", "at_least", "100 req/s", 100.0),
    ],
)
def test_limits_are_converted_into_the_unit_of_the_metric(metric, side, limit, stored):
    result, errors = read({"metric": metric, side: limit})

    assert errors == {}
    assert result == {"conditions": [{"metric": metric, side: stored}]}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"metric": "speed", "at_most": 1}, "“speed” is not a metric of this campaign; there are"),
        ({"at_most": 1}, "Choose a metric for this limit: duration"),
        ({"metric": "duration", "at_most": "5 MB"}, "is in MB, and duration in s"),
        ({"metric": "rate", "at_least": "3 min"}, "is in min, and rate in MB/s"),
        ({"metric": "asked", "at_least": "3 files/s"}, "is in files/s, and asked in req/s"),
        ({"metric": "duration", "at_most": "soon"}, "“soon” is not a limit: give a number in s"),
        ({"metric": "duration", "at_most": "1,5"}, "“1,5” has a comma"),
        ({"metric": "duration", "at_most": True}, "Give a number, or a text"),
        ({"metric": "duration", "at_most": [1]}, "Give a number, or a text"),
        ({"metric": "duration", "at_most": float("inf")}, "too large"),
        ({"metric": "duration", "at_most": float("nan")}, "too large, or none"),
        ({"metric": "duration", "at_most": 10**400}, "Give a number, or a text"),
        ({"metric": "duration", "at_most": "1e308 h"}, "too large"),
        ({"metric": "duration", "at_most": 0}, "give one above 0"),
        ({"metric": "duration", "at_most": "-3 min"}, "give one above 0"),
        ({"metric": "duration"}, "no bound; give one of"),
        ({"metric": "duration", "at_most": 2, "at_least": 1}, "both bounds; give one of"),
        ({"metric": "duration", "at_least": 2}, "Lower is better for duration"),
        ({"metric": "rate", "at_most": 2}, "Higher is better for rate"),
        ({"metric": "spread", "at_most": 2}, "no better direction"),
        ({"metric": "duration", "most": 2}, "There is no field “most” here"),
        ("duration <= 3", "Give an object such as"),
    ],
)
def test_an_unfit_condition_is_refused_where_it_is(condition, words):
    path, message = refused(
        {"metric": "rate", "at_least": 1}
        if "rate" not in str(condition)
        else {"metric": "passed", "at_least": 1},
        condition,
    )

    assert path.startswith("criterion.conditions.1")
    assert words in message


def test_the_same_bound_twice_is_refused():
    _, message = refused(
        {"metric": "duration", "at_most": 60}, {"metric": "duration", "at_most": "3 min"}
    )

    assert message == (
        "duration is limited twice: at most 1 min and at most 3 min. Leave one of them out."
    )


def test_bounds_that_cannot_both_hold_are_refused():
    _, message = refused(
        {"metric": "duration", "at_most": 60}, {"metric": "duration", "at_least": 90}
    )

    assert "duration cannot be at most 1 min and at least 1 min 30 s" in message


def test_a_percentile_beyond_the_clients_limit_is_refused():
    limit = ("timeout_seconds", 180.0)

    _, message = refused({"metric": "time_p95", "at_most": 240}, time_limit=limit)

    assert "waits 3 min for an answer (timeout_seconds)" in message
    assert "stays within 4 min" in message
    assert read({"metric": "time_p95", "at_most": 180}, time_limit=limit)[1] == {}
    assert read({"metric": "duration", "at_most": 240}, time_limit=limit)[1] == {}


@pytest.mark.parametrize("value", [0, -1, 100, 250, "many", True, [5], float("nan")])
def test_a_share_out_of_range_is_refused(value):
    path, _ = refused(failed_percent=value)

    assert path == "criterion.failed_percent"


@pytest.mark.parametrize("value", [1, 0.5, -2, 1000, "wide", False, {}])
def test_a_resolution_of_at_most_one_is_refused(value):
    path, _ = refused(resolution=value)

    assert path == "criterion.resolution"


@pytest.mark.parametrize("value", ["duration <= 3", [1], 5, True])
def test_another_type_is_refused(value):
    errors: dict[str, list[str]] = {}

    assert read_criterion(value, METRICS, errors) == {}
    assert list(errors) == ["criterion"]


def test_unknown_names_and_too_many_conditions_are_refused():
    assert refused(limits=[])[0] == "criterion.limits"
    assert refused(*[{"metric": "duration", "at_most": 1}] * 11)[0] == "criterion.conditions"


def test_a_criterion_is_written_as_lines_and_read_again():
    stored, _ = read(
        {"metric": "time_p95", "at_most": 180},
        {"metric": "rate", "at_least": 2.5},
        failed_percent=5,
        resolution=2,
    )
    text = as_lines(stored, METRICS)

    assert text.splitlines() == [
        "time_p95 <= 3 min",
        "rate >= 2.5 MB/s",
        "failed <= 5 %",
        "resolution 2",
    ]
    sent, wrong = from_lines(text)
    assert wrong == []
    assert read_criterion(sent, METRICS, {}) == stored
    assert from_lines("time_p95<=180, failed <= 5%")[0] == {
        "conditions": [{"metric": "time_p95", "at_most": "180"}],
        "failed_percent": "5%",
    }
    assert from_lines("") == ({}, [])


@pytest.mark.parametrize("line", ["time_p95", "fast please", "<= 5", "failed >= 5 %"])
def test_a_line_that_is_no_condition_is_named(line):
    _, (message,) = from_lines(f"duration <= 3\n{line}")

    assert message.startswith("Line 2")


def test_labels_name_metric_bound_and_unit():
    stored, _ = read({"metric": "time_p95", "at_most": 180}, failed_percent=5)

    assert labels_of(stored, METRICS) == [
        "Time, p95: at most 3 min",
        "at most 5 % of the work fails",
    ]
