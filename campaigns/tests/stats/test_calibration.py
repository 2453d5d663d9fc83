import math

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.calibration import calibrate
from campaigns.stats.power import detectable_pct


def test_identical_runs_are_read_as_published(golden):
    aa = golden("i")["aa"]

    found = calibrate(aa["log_ratios"])

    assert found.n == 40
    assert found.sd_log == pytest.approx(aa["sd"], rel=1e-6)
    assert found.seen_pct == pytest.approx(aa["noise_floor_pct"], rel=1e-6)
    assert found.mean_p == pytest.approx(aa["mean_p"], rel=1e-6)
    assert found.run_sd_log == pytest.approx(aa["sd"] / math.sqrt(2))
    assert [each.pairs for each in found.detectable] == [3, 5, 10]
    for each in found.detectable:
        assert each.pct == pytest.approx(detectable_pct(each.pairs, aa["sd"]))


def test_the_interval_of_the_noise_holds_it_in_95_per_cent():
    rng = np.random.default_rng(1)
    drawn = [calibrate(rng.normal(0, 0.02, 10)) for _ in range(400)]

    held = sum(found.sd_log_ci.low <= 0.02 <= found.sd_log_ci.high for found in drawn)

    low, high = stats.binom.interval(0.999, 400, 0.95)
    assert low <= held <= high


@pytest.mark.parametrize("ratios", [[], [0.01]])
def test_fewer_than_two_pairs_show_no_noise(ratios):
    assert calibrate(ratios) is None


def test_without_any_noise_every_change_is_found():
    found = calibrate([0.0, 0.0, 0.0])

    assert (found.sd_log, found.floor_pct, found.mean_p) == (0.0, 0.0, 1.0)
    assert [each.pct for each in found.detectable] == [0.0, 0.0, 0.0]


def test_a_constant_difference_of_the_labels_is_no_noise():
    found = calibrate([0.01, 0.01, 0.01])

    assert found.sd_log == 0.0
    assert found.mean_pct == pytest.approx(100 * math.expm1(0.01))
