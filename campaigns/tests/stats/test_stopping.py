import math

import numpy as np
import pytest

from campaigns.stats.stopping import Stop, StopRule, alpha_for, blocks_for, half_width, look_ahead
from campaigns.stats.verdict import Contrast


def contrast_of(sd, n, cells=2):
    return Contrast(-0.1, sd * math.sqrt(2 / n), (cells - 1) * (n - 1), n)


def outlook(rule, sd, n, **kwargs):
    return look_ahead(rule, contrast_of(sd, n), sd_log=sd, cells=2, blocks=n, **kwargs)


def test_a_narrow_interval_stops_but_not_before_eight_blocks():
    rule = StopRule(target=0.03)

    assert outlook(rule, 0.001, 7).stop is None
    assert outlook(rule, 0.001, 7).more == 1
    assert outlook(rule, 0.001, 8).stop == Stop.PRECISE


def test_a_wide_interval_goes_on_to_the_most():
    rule = StopRule(target=0.03, most=30)

    assert outlook(rule, 0.5, 29).stop is None
    assert outlook(rule, 0.5, 29).more == 1
    assert outlook(rule, 0.5, 30).stop == Stop.MOST_BLOCKS


def test_it_says_how_many_blocks_are_to_come_and_how_precise_that_will_be():
    found = outlook(StopRule(target=0.03), 0.03, 8, block_seconds=480.0)

    n = blocks_for(0.03, 0.03, 2, alpha_for(2), fewest=8)
    assert found.more == n - 8 > 0
    assert found.expected <= 0.03 < found.half_width
    assert found.seconds == found.more * 480


def test_a_budget_of_time_ends_it_before_the_block_that_would_break_it():
    rule = StopRule(seconds=1000.0)

    assert outlook(rule, 0.1, 9, block_seconds=100.0, spent_seconds=901.0).stop == Stop.OUT_OF_TIME
    found = outlook(rule, 0.1, 9, block_seconds=100.0, spent_seconds=650.0)
    assert (found.stop, found.more) == (None, 3)


def test_without_a_contrast_it_goes_on_to_the_fewest():
    found = look_ahead(StopRule(), None, sd_log=0.0, cells=3, blocks=1)

    assert (found.stop, found.more, found.expected) == (None, 7, None)


def test_the_blocks_for_a_width_are_the_fewest():
    n = blocks_for(0.03, 0.05, 6, 0.05)

    assert half_width(contrast_of(0.05, n, 6), 0.05) <= 0.03
    assert half_width(contrast_of(0.05, n - 1, 6), 0.05) > 0.03


def test_hopeless_noise_has_no_plan():
    assert blocks_for(1e-6, 5.0, 2, 0.05) is None
    assert look_ahead(StopRule(), contrast_of(9.0, 9), sd_log=9.0, cells=2, blocks=9).more == 21


def test_few_cells_are_judged_by_a_smaller_alpha():
    assert [alpha_for(cells) for cells in (2, 5, 6)] == [0.035, 0.035, 0.05]


@pytest.mark.parametrize("bad", [{"target": 0}, {"target": 1}, {"fewest": 2}, {"most": 7}])
def test_rules_that_cannot_be_kept_are_refused(bad):
    with pytest.raises(ValueError, match=r"target|3 blocks"):
        StopRule(**bad)


def test_the_interval_after_a_stop_covers_the_truth_as_often_as_it_says():
    rng, rule, hits, campaigns = np.random.default_rng(5), StopRule(), 0, 300
    for _ in range(campaigns):
        ratios = rng.normal(0, 0.04, 30)
        for n in range(rule.fewest, 31):
            sd = ratios[:n].std(ddof=1)
            contrast = Contrast(float(ratios[:n].mean()), sd / math.sqrt(n), n - 1, n)
            if look_ahead(rule, contrast, sd_log=sd / math.sqrt(2), cells=2, blocks=n).stop:
                break
        half = half_width(contrast, alpha_for(2))
        hits += abs(contrast.estimate) <= math.asinh(half)
    assert hits / campaigns > 0.95 - 3 * math.sqrt(0.05 * 0.95 / campaigns)
