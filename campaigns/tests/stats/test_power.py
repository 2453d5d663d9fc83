import math
import re

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.power import (
    PAIRS,
    design_of_cells,
    detectable_pct,
    n_to_decide,
    power,
    required_n,
)
from campaigns.stats.ranks import signed_rank

DESIGNS = {"True": PAIRS, "False": design_of_cells(2), "one": PAIRS, "two": design_of_cells(2)}


def plans_of(plans):
    """Read keys such as `paired=True sd=0.02 delta=0.05`."""
    for key, value in plans.items():
        numbers = dict(re.findall(r"(\w+)=(\S+)", key))
        design = DESIGNS[numbers.pop("paired")]
        yield design, {name: float(text) for name, text in numbers.items()}, value


def test_the_runs_that_a_change_requires_are_as_published(golden):
    plans = list(plans_of(golden("h")["required_n"]))

    assert len(plans) == 18
    for design, numbers, expected in plans:
        assert required_n(numbers["sd"], design=design, delta=numbers["delta"]) == expected


def test_power_is_as_published(golden):
    cases = golden("h")["power"]

    assert len(cases) == 18
    for key, expected in cases.items():
        n, effect = re.findall(r"=(\S+)", key)
        found = power(int(n), float(effect), design=DESIGNS[key.split()[0]])
        assert found == pytest.approx(expected, rel=1e-7)


def test_the_detectable_change_is_as_published(golden):
    plans = list(plans_of(golden("h")["mde"]))

    assert len(plans) == 12
    for design, numbers, expected in plans:
        got = detectable_pct(int(numbers["n"]), numbers["sd"], design=design)
        assert got == pytest.approx(expected, rel=1e-7)


def test_the_plan_of_the_published_pulp_campaign_pools_its_noise(golden):
    published = golden("a")

    n = required_n(published["pooled_sd_log"], design=design_of_cells(6))
    mde = detectable_pct(3, published["pooled_sd_log"], design=design_of_cells(6))

    assert n == published["pooled_verdicts"]["required_n_per_level_for_5pct"]
    assert mde == pytest.approx(published["pooled_verdicts"]["mde_pct"], rel=1e-7)


def test_the_published_example_needs_more_pairs(golden):
    example = golden("h")["more_pairs_example"]

    assert required_n(example["sd_log"], delta=example["delta"]) == example["need"]


def test_no_rank_test_of_pairs_goes_below_its_smallest_p(golden):
    for n, expected in golden("h")["min_attainable_p"]["signed_rank"].items():
        ranks = signed_rank(np.arange(1.0, int(n) + 1))

        assert ranks.min_attainable_p == pytest.approx(expected, rel=1e-7)
        assert ranks.p == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("effect_size", [16.0, 50.0, 1e6, math.inf])
def test_a_huge_effect_is_always_found(effect_size):
    assert power(10, effect_size) == pytest.approx(1.0)


def test_no_effect_is_found_as_often_as_alpha_says():
    assert power(7, 0.0, alpha=0.03) == pytest.approx(0.03)


def test_without_noise_two_pairs_detect_anything():
    assert required_n(0.0) == 2
    assert detectable_pct(2, 0.0) == 0.0


def test_hopeless_noise_has_no_plan():
    assert required_n(100.0) is None
    assert n_to_decide(0.0, 100.0) is None


@pytest.mark.parametrize(("estimate", "sd_log"), [(0.0, 0.1), (0.02, 0.06), (0.045, 0.3)])
def test_the_pairs_to_decide_are_the_fewest_whose_interval_is_narrow_enough(estimate, sd_log):
    room = max(estimate, math.log(1.05) - estimate)

    n = n_to_decide(estimate, sd_log)

    assert n is not None

    def half(pairs):
        return stats.t.ppf(0.975, pairs - 1) * sd_log / math.sqrt(pairs)

    assert half(n) <= room < half(n - 1)
