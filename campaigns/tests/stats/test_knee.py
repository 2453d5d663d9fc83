import math

import numpy as np
import pytest

from campaigns.stats import knee
from campaigns.stats.knee import find_knee, levels_of
from campaigns.stats.resamples import of_levels


@pytest.fixture
def published(golden):
    return golden("a")


@pytest.fixture
def pulp(published):
    """Levels, logs and means of the published campaign."""
    rows = published["rows"]
    x = sorted({row["concurrency"] for row in rows})
    values = [np.array([r["duration_s"] for r in rows if r["concurrency"] == c]) for c in x]
    return (
        np.array(x, dtype=float),
        [np.log(v) for v in values],
        np.array([v.mean() for v in values]),
    )


CURVES = {
    "hyperbola a+b/c": "hyperbola",
    "power law a*c^-b": "power law",
    "broken power law": "broken power law",
}


def test_curves_are_as_published(pulp, published):
    x, logs, means = pulp

    found = {curve.name: curve for curve in find_knee(levels_of(x, logs), means).curves}

    for name, expected in published["knee_models"].items():
        curve = found[CURVES[name]]
        assert curve.sse == pytest.approx(expected["sse"], rel=1e-9)
        assert curve.aicc == pytest.approx(expected["aicc"], rel=1e-9)
        assert curve.lack_of_fit_f == pytest.approx(expected["lack_of_fit_F"], rel=1e-8)
        assert curve.lack_of_fit_p == pytest.approx(expected["lack_of_fit_p"], rel=1e-8)
        assert list(curve.parameters) == pytest.approx(expected["params"], rel=1e-6)


@pytest.mark.parametrize("axis", ["linear", "log2"])
def test_methods_are_as_published(pulp, published, axis):
    x, _, means = pulp
    expected = published["knee"][axis]
    places = x if axis == "linear" else np.log2(x)

    errors = list(knee.l_errors(places, means).values())

    assert errors == pytest.approx(list(expected["l_method_total_rmse"].values()), rel=1e-8)
    back = dict(zip(places.tolist(), x.tolist(), strict=True))
    assert back[knee.l_method(places, means)] == expected["l_method"]
    assert back[knee.chord(places, means)] == expected["chord"]
    assert back[knee.slope_ratio(places, means)] == expected["slope_ratio"]
    slopes = list(expected["slopes_between"].values())
    assert list(knee.gains(places, means)) == pytest.approx(slopes, rel=1e-9)
    assert knee.kneedle(x, means, logs=axis == "log2") == expected["kneed_S1"]


def test_the_methods_agree_on_the_published_knee(pulp):
    x, logs, means = pulp

    found = find_knee(levels_of(x, logs), means)

    assert found.methods.consensus == 5
    assert found.methods.kneed_linear == 7
    assert found.strength == "moderate"
    assert found.delta_aicc == pytest.approx(3.2246, abs=1e-3)


def test_the_uncertainty_is_near_the_published_one(pulp, published):
    x, logs, means = pulp
    expected = published["broken_power_law_bootstrap"]

    found = find_knee(levels_of(x, logs), means, resampler=of_levels(logs), seed=20240101)

    doubt = found.uncertainty
    assert found.at == pytest.approx(expected["break_est"], abs=0.01)
    assert list(doubt.interval) == pytest.approx(expected["break_ci95"], abs=0.3)
    estimate, low, high = expected["exponent_below"]
    assert found.below == pytest.approx(estimate, abs=0.01)
    assert list(doubt.below) == pytest.approx([low, high], abs=0.05)
    estimate, low, high = expected["exponent_above"]
    assert found.above == pytest.approx(estimate, abs=0.01)
    assert list(doubt.above) == pytest.approx([low, high], abs=0.05)
    between = np.mean([5 < k < 7 for k in doubt.breaks])
    assert between == pytest.approx(expected["share_break_between_5_and_7"], abs=0.04)
    shares = published["bootstrap_shares"]["pooled_residual"]
    assert doubt.l_shares == {5.0: 1.0}
    for level, share in shares["chord_log2"].items():
        assert doubt.chord_shares[float(level)] == pytest.approx(share, abs=0.04)
    assert doubt.rough


def test_equal_seeds_give_equal_answers_and_the_order_of_levels_does_not_matter(pulp):
    x, logs, means = pulp
    mixed = [3, 0, 5, 1, 4, 2]

    first = find_knee(levels_of(x, logs), means, resampler=of_levels(logs), resamples=50, seed=1)
    again = find_knee(levels_of(x, logs), means, resampler=of_levels(logs), resamples=50, seed=1)
    levels = levels_of(x[mixed], [logs[i] for i in mixed])
    third = find_knee(levels, means)

    assert first.uncertainty == again.uncertainty
    assert third.at == pytest.approx(first.at, rel=1e-12)


def test_a_smooth_curve_has_no_distinct_knee():
    rng = np.random.default_rng(1)
    x = np.array([1.0, 2, 4, 8, 16, 32])
    logs = [np.log(100 / level**0.5) + rng.normal(0, 0.02, 5) for level in x]

    found = find_knee(levels_of(x, logs), np.exp([level.mean() for level in logs]))

    assert found.strength == "smooth"


def test_a_sharp_bend_is_found_where_it_is():
    rng = np.random.default_rng(1)
    x = np.array([1.0, 2, 3, 4, 6, 8, 12, 16])
    logs = [np.log(100 / min(level, 4)) + rng.normal(0, 0.01, 4) for level in x]

    found = find_knee(
        levels_of(x, logs),
        np.exp([level.mean() for level in logs]),
        resampler=of_levels(logs),
        resamples=200,
    )

    assert found.strength == "strong"
    assert found.at == pytest.approx(4, rel=0.03)
    assert found.uncertainty.interval.low > 3.5
    assert found.uncertainty.interval.high < 4.5


def test_rising_throughput_has_a_knee_too():
    x = np.array([1.0, 2, 3, 4, 6, 8, 12])
    values = np.minimum(x, 4) * 10

    found = find_knee(levels_of(x, [np.log([v, v * 1.01]) for v in values]), values)

    assert found.at == pytest.approx(4, rel=0.02)
    assert found.methods.kneed_linear == 4


def test_few_levels_have_no_knee():
    x = np.array([1.0, 2, 3, 4])

    assert find_knee(levels_of(x, [np.zeros(2)] * 4), np.ones(4)) is None


@pytest.mark.parametrize("x", [[0.0, 1, 2, 3, 4], [1.0, 1, 2, 3, 4]])
def test_levels_without_a_log_or_twice_are_refused(x):
    with pytest.raises(ValueError, match="above 0"):
        find_knee(levels_of(x, [np.zeros(2)] * 5), np.ones(5))


def test_flat_curves_and_single_runs_raise_nothing():
    x = np.array([1.0, 2, 3, 4, 5, 6])
    flat = [np.zeros(1)] * 6

    found = find_knee(levels_of(x, flat), np.ones(6), resampler=of_levels(flat), resamples=20)

    assert found.strength == "smooth"
    assert found.methods.kneed_linear is None
    assert math.isfinite(found.at)


def test_a_rising_duration_is_no_case_of_an_error():
    x = np.array([1.0, 2, 3, 4, 5, 6])
    values = 10 + x**2

    found = find_knee(levels_of(x, [np.log([v, v * 1.02]) for v in values]), values)

    assert found.below < found.above or found.below > 0


def test_a_break_stays_between_the_second_and_the_last_but_one_level():
    places = knee.candidates(np.array([3.0, 5, 7, 10, 15, 20]))

    assert places[0] == pytest.approx(5)
    assert places[-1] == pytest.approx(15)


def test_the_squares_around_every_break_are_those_of_a_fit(pulp):
    x, logs, _ = pulp
    levels = levels_of(x, logs)
    rows = np.array([levels.y, levels.y[::-1] + 0.1 * np.sin(x)])
    grid = knee.candidates(x)[::50]

    found = knee.squares_around(rows, levels, grid)

    for row, squares in zip(rows, found, strict=True):
        for k, square in zip(grid, squares, strict=True):
            root = np.sqrt(levels.n)[:, None]
            design = root * knee.broken_design(x, float(k))
            _, expected, _, _ = np.linalg.lstsq(design, root[:, 0] * row, rcond=None)
            assert square == pytest.approx(float(expected[0]), rel=1e-9)
