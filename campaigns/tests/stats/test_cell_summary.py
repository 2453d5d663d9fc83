import math

import numpy as np
import pytest

from campaigns.stats.cell_summary import median_interval, summarise

NAMES = {"min": "minimum", "max": "maximum"}


def assert_as_golden(summary, expected):
    for name, value in expected.items():
        got = getattr(summary, NAMES.get(name, name))
        if name == "median_ci" and value is not None:
            value, got = (
                tuple(value.values()),
                (got.low, got.high, got.k, got.achieved, got.requested, got.sufficient),
            )
        if name == "flags":
            assert list(got) == value
        elif value is None:
            assert got is None, name
        else:
            assert got == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize(
    "name",
    ["empty", "all_failed", "n1", "n1_one_failed", "n3", "zero_variance", "n6", "nulls"],
)
def test_a_cell_at_the_edge_is_as_published(golden, name):
    case = golden("g")["cells"][name]

    summary = summarise(case["values"], failed=case["n_failed"])

    assert_as_golden(summary, case["expected"])


@pytest.mark.parametrize("level", ["3", "5", "7", "10", "15", "20"])
def test_a_published_cell_is_recomputed(golden, level):
    document = golden("a")
    values = [row["duration_s"] for row in document["rows"] if str(row["concurrency"]) == level]

    summary = summarise(values)

    assert_as_golden(summary, document["cells"][level])
    assert summary.mean is not None
    assert math.floor(summary.mean + 0.5) == sum(
        int(part) * factor
        for part, factor in zip(
            document["published"]["averages"][level].split(":"), (60, 1), strict=True
        )
    )


@pytest.mark.parametrize("n", range(2, 13))
def test_the_interval_of_the_median_says_what_it_achieves(golden, n):
    expected = golden("h")["median_ci_coverage"][str(n)]

    interval = median_interval(np.arange(n, dtype=float), 0.95)

    assert interval.achieved == pytest.approx(expected["achieved"], rel=1e-7)
    assert (interval.low, interval.high, interval.k, interval.sufficient) == (
        expected["lo"],
        expected["hi"],
        expected["k"],
        expected["sufficient"],
    )


def test_every_golden_cell_at_the_edge_is_tested(golden):
    assert len(golden("g")["cells"]) == 8


def test_an_outlier_is_named_and_stays_in_the_mean():
    summary = summarise([10.0, None, 11.0, 9.0, 10.5, 9.5, 30.0])

    assert summary.outliers == (6,)
    assert summary.maximum == 30.0


def test_four_runs_name_no_outlier():
    assert summarise([10.0, 10.1, 9.9, 500.0]).outliers == ()


def test_two_runs_are_flagged_and_keep_their_wide_interval():
    summary = summarise([10.0, 12.0])

    assert "two_runs" in summary.flags
    assert summary.mean_ci == pytest.approx((11 - 12.7062047, 11 + 12.7062047))


def test_a_value_of_zero_takes_the_geometric_mean_only():
    summary = summarise([0.0, 4.0, 8.0])

    assert (summary.mean, summary.gmean, summary.gmean_ci) == (4.0, None, None)
    assert summary.invalid_positions == (0,)
    assert "not_positive" in summary.flags


def test_a_mean_of_zero_has_no_coefficient_of_variation():
    assert summarise([-1.0, 1.0]).cv is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_what_is_no_number_takes_every_estimate(bad):
    summary = summarise([1.0, None, bad, 2.0])

    assert summary.invalid_positions == (2,)
    assert (summary.mean, summary.median, summary.median_ci) == (None, None, None)
    assert summary.flags == ("invalid_values",)


def test_equal_values_that_do_not_add_up_exactly_have_no_variance():
    summary = summarise([0.1, 0.1, 0.1])

    assert summary.mean_ci == (0.1, 0.1)
    assert "zero_variance" in summary.flags


def test_timed_out_and_saturated_runs_are_counted_and_told():
    summary = summarise([5.0, 6.0, 7.0], failed=2, censored=1, lost=2, saturated=1)

    assert (summary.n_total, summary.n_ok, summary.n_failed, summary.n_lost) == (5, 3, 2, 2)
    assert summary.failure_rate == pytest.approx(0.4)
    assert summary.flags[-2:] == ("has_censored", "has_bounds")


def test_lost_runs_are_no_failures():
    summary = summarise([], lost=3)

    assert summary.failure_rate is None
    assert summary.flags == ("empty",)


def test_a_censored_run_that_is_not_among_the_failed_is_a_mistake():
    with pytest.raises(ValueError, match="part of the failed"):
        summarise([1.0], censored=1)


def test_where_most_runs_are_equal_no_outlier_is_named():
    assert summarise([5.0, 5.0, 5.0, 5.0, 9.0]).outliers == ()
