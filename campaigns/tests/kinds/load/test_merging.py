from typing import Any

import pytest

from campaigns.kinds.load.merging import merge
from campaigns.kit import histogram


def result(service: list[int], **changes: Any) -> dict[str, Any]:
    return {
        "complete": True,
        "seconds": 2.0,
        "cpu_seconds": 0.5,
        "peak_memory_bytes": 100,
        "bytes": 10,
        "hosts": 2,
        "hosts_done": 2,
        "hosts_failed": 0,
        "window": [0.1, 1.9],
        "histograms": {"service": histogram.encode(service).encoded.decode()},
        "dropped": {"service": 0},
        "failures": {},
        "retry_failures": {},
        "statuses": {"200": len(service)},
        "per_second": {"done": [1, 1]},
        "examples": {},
        "processes": [{"cpu_cores": 0.25}],
        "figures": {"cpu_cores": 0.25, "busiest_process_cores": 0.25, "descriptor_limit": 1024.0},
    } | changes


def test_counts_are_added_and_the_worst_process_decides():
    other = result(
        [900, 900],
        complete=False,
        seconds=3.0,
        window=[0.05, 2.5],
        failures={"5xx": 2},
        examples={"5xx": "the server answered 500"},
        per_second={"done": [1, 0, 1]},
        figures={"cpu_cores": 0.75, "busiest_process_cores": 0.75, "descriptor_limit": 512.0},
    )

    merged = merge([result([100, 100, 100]), other])

    assert not merged["complete"]
    assert merged["seconds"] == 3.0
    assert merged["window"] == [0.05, 2.5]
    assert merged["hosts_done"] == 4
    assert merged["statuses"] == {"200": 5}
    assert merged["failures"] == {"5xx": 2}
    assert merged["examples"] == {"5xx": "the server answered 500"}
    assert merged["per_second"] == {"done": [2, 1, 1]}
    assert len(merged["processes"]) == 2
    assert merged["figures"]["cpu_cores"] == 1.0
    assert merged["figures"]["busiest_process_cores"] == 0.75
    assert merged["figures"]["descriptor_limit"] == 512.0


def test_the_limit_of_the_owner_is_the_sum_of_what_generators_may_take():
    parts = [result([100], figures={"requests_allowed_per_second": 25.0}) for _ in range(2)]

    assert merge(parts)["figures"]["requests_allowed_per_second"] == 50


def test_a_percentile_is_read_from_the_added_histogram_never_averaged():
    merged = merge([result([100] * 9), result([900])])

    assert merged["figures"]["service_p50_seconds"] == pytest.approx(100e-6)


def test_a_histogram_that_one_part_does_not_have_is_kept():
    other = result([1])
    other["histograms"]["retry_service"] = other["histograms"]["service"]

    merged = merge([result([1]), other])

    assert histogram.summarise(merged["histograms"]["retry_service"].encode()).count == 1


def test_parts_of_which_none_began_have_no_window():
    assert merge([result([], window=[]), result([], window=[])])["window"] == []


def test_nothing_cannot_be_merged():
    with pytest.raises(ValueError, match="no result"):
        merge([])


def test_a_step_that_was_answered_by_all_is_in_the_sum_too():
    """A weighted step is proved by how often it was left out and not answered; each of both may be 0."""
    one = result([900], steps_unanswered={"list": 0, "change": 0}, steps_left_out={"change": 2})
    other = result([900], steps_unanswered={"list": 0, "change": 0}, steps_left_out={"change": 0})

    merged = merge([one, other])

    assert merged["steps_unanswered"] == {"list": 0, "change": 0}
    assert merged["steps_left_out"] == {"change": 2}
