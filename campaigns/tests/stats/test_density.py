import math

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.density import FEWEST, density_of


def values(seed=3, **modes):
    """Log-normal runs around each place, so many of them."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [float(place) * np.exp(rng.normal(0, 0.01, n)) for place, n in modes.items()]
    ).tolist()


def test_the_curve_is_scipys_on_logarithms():
    runs = values(**{"100": 25})

    found = density_of(runs)

    assert found is not None
    kernel = stats.gaussian_kde(np.log(runs), bw_method="silverman")
    grid = np.linspace(found.low, found.high, len(found.heights))
    assert np.array(found.heights) * kernel(grid).max() == pytest.approx(kernel(grid), rel=1e-9)
    assert found.on_logs


def test_each_mode_has_its_place_and_its_share():
    found = density_of(values(**{"100": 30, "120": 20}))

    assert found is not None
    assert [mode.at for mode in found.modes] == pytest.approx([100, 120], rel=0.01)
    assert [mode.share for mode in found.modes] == pytest.approx([0.6, 0.4])


def test_seconds_and_milliseconds_have_the_same_modes():
    runs = values(**{"100": 30, "120": 20})

    one, other = density_of(runs), density_of([1000 * run for run in runs])

    assert one is not None
    assert other is not None
    assert other.heights == pytest.approx(one.heights)
    assert other.low == pytest.approx(one.low + math.log(1000))
    assert [mode.share for mode in one.modes] == [mode.share for mode in other.modes]


def test_the_order_of_the_runs_does_not_matter():
    runs = values(**{"100": 30, "120": 20})

    one, other = density_of(runs), density_of(runs[::-1])

    assert one is not None
    assert other is not None
    assert other.heights == pytest.approx(one.heights)


def test_values_of_zero_are_taken_as_they_are():
    found = density_of([0.0] * 10 + [5.0, 5.1, 4.9] * 4)

    assert found is not None
    assert not found.on_logs
    assert [round(mode.at) for mode in found.modes] == [0, 5]


def test_equal_values_are_one_mode_without_a_curve():
    found = density_of([5.0] * 25)

    assert found is not None
    assert found.heights == ()
    assert [(mode.at, mode.share) for mode in found.modes] == [(5.0, 1.0)]


@pytest.mark.parametrize(
    "runs", [[], [1.0] * (FEWEST - 1), [math.nan] * 30, [1.0] * 29 + [math.inf]]
)
def test_too_few_values_and_those_that_are_none_have_no_density(runs):
    assert density_of(runs) is None
