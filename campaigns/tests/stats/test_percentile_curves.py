import math

import numpy as np
import pytest

from campaigns.kit.histogram import counts_of, encode
from campaigns.stats.percentile_curves import curve_of, shares_borne


def run(median, n=1000, seed=0):
    rng = np.random.default_rng(seed)
    return counts_of(encode(np.round(median * np.exp(rng.normal(0, 0.5, n))).astype(int)).encoded)


def at(curve, share):
    return next(point for point in curve.points if point.share == share)


@pytest.mark.parametrize(
    ("count", "most"),
    [(9, -1), (20, 0.5), (199, 0.9453125), (200, 0.95), (999, 0.98828125), (1000, 0.99)],
)
def test_a_share_is_borne_where_ten_values_lie_above(count, most):
    assert max(shares_borne(count), default=-1) == most


def test_each_run_is_one_observation():
    runs = [run(median, seed=seed) for seed, median in enumerate([900, 1000, 1200])]

    found = at(curve_of(runs), 0.95)

    values = np.log([one.at([0.95])[0] for one in runs])
    half = 4.302652729911275 * values.std(ddof=1) / math.sqrt(3)
    assert found.value == pytest.approx(math.exp(values.mean()))
    assert (found.low, found.high) == pytest.approx(
        (math.exp(values.mean() - half), math.exp(values.mean() + half))
    )


def test_more_requests_in_a_run_make_no_interval_narrower():
    few = curve_of([run(median, 1000, seed) for seed, median in enumerate([900, 1000, 1200])])
    many = curve_of([run(median, 50_000, seed) for seed, median in enumerate([900, 1000, 1200])])

    assert at(many, 0.5).high / at(many, 0.5).low == pytest.approx(
        at(few, 0.5).high / at(few, 0.5).low, rel=0.25
    )


def test_the_run_with_the_fewest_values_ends_the_curve_and_all_together_go_further():
    found = curve_of([run(1000, 5000), run(1000, 200), run(1000, 5000)])

    assert found.points[-1].share == 0.95
    assert found.together[-1][0] == 0.999
    assert (found.runs, found.counts, found.fewest) == (3, 10_200, 200)


def test_the_histogram_of_all_is_that_of_every_value():
    values = [list(range(1, 1001)), list(range(1001, 2001))]

    found = curve_of([counts_of(encode(each).encoded) for each in values])

    assert dict(found.together)[0.5] == 1000
    assert dict(found.together)[0.99] == pytest.approx(1980, rel=1e-3)


def test_two_runs_have_no_interval():
    found = at(curve_of([run(1000), run(1100, seed=1)]), 0.5)

    assert (found.low, found.high) == (None, None)


def test_a_percentile_of_zero_has_a_mean_and_no_interval():
    still = counts_of(encode([0] * 100).encoded)

    found = at(curve_of([still, still, run(1000)]), 0.5)

    assert found.value == pytest.approx(run(1000).at([0.5])[0] / 3)
    assert found.low is None


def test_runs_without_values_are_left_out():
    empty = counts_of(encode([]).encoded)

    assert curve_of([]) is None
    assert curve_of([empty]) is None
    assert curve_of([empty, run(1000), run(1000)]).runs == 2


def test_a_handful_of_values_bears_nothing():
    found = curve_of([run(1000, 3)])

    assert (found.points, found.together) == ((), ())
