import math
import re

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.power import (
    detectable_pct,
    pairs_to_decide,
    power_paired,
    required_pairs,
)
from campaigns.stats.ranks import signed_rank


def paired_plans(plans):
    """Read keys such as `paired=True sd=0.02 delta=0.05`."""
    for key, value in plans.items():
        numbers = dict(re.findall(r"(\w+)=(\S+)", key))
        if numbers.pop("paired") == "True":
            yield {name: float(text) for name, text in numbers.items()}, value


def test_the_pairs_that_a_change_requires_are_as_published(golden):
    plans = list(paired_plans(golden("h")["required_n"]))

    assert len(plans) == 9
    for numbers, expected in plans:
        assert required_pairs(numbers["sd"], delta=numbers["delta"]) == expected


def test_the_power_of_pairs_is_as_published(golden):
    cases = {k: v for k, v in golden("h")["power"].items() if k.startswith("one")}

    assert len(cases) == 9
    for key, expected in cases.items():
        n, effect = re.findall(r"=(\S+)", key)
        assert power_paired(int(n), float(effect)) == pytest.approx(expected, rel=1e-7)


def test_the_detectable_change_is_as_published(golden):
    plans = list(paired_plans(golden("h")["mde"]))

    assert len(plans) == 6
    for numbers, expected in plans:
        got = detectable_pct(int(numbers["n"]), numbers["sd"])
        assert got == pytest.approx(expected, rel=1e-7)


def test_the_published_example_needs_more_pairs(golden):
    example = golden("h")["more_pairs_example"]

    assert required_pairs(example["sd_log"], delta=example["delta"]) == example["need"]


def test_no_rank_test_of_pairs_goes_below_its_smallest_p(golden):
    for n, expected in golden("h")["min_attainable_p"]["signed_rank"].items():
        ranks = signed_rank(np.arange(1.0, int(n) + 1))

        assert ranks.min_attainable_p == pytest.approx(expected, rel=1e-7)
        assert ranks.p == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("effect_size", [16.0, 50.0, 1e6, math.inf])
def test_a_huge_effect_is_always_found(effect_size):
    assert power_paired(10, effect_size) == pytest.approx(1.0)


def test_no_effect_is_found_as_often_as_alpha_says():
    assert power_paired(7, 0.0, alpha=0.03) == pytest.approx(0.03)


def test_without_noise_two_pairs_detect_anything():
    assert required_pairs(0.0) == 2
    assert detectable_pct(2, 0.0) == 0.0


def test_hopeless_noise_has_no_plan():
    assert required_pairs(100.0) is None
    assert pairs_to_decide(0.0, 100.0) is None


@pytest.mark.parametrize(("estimate", "sd_log"), [(0.0, 0.1), (0.02, 0.06), (0.045, 0.3)])
def test_the_pairs_to_decide_are_the_fewest_whose_interval_is_narrow_enough(estimate, sd_log):
    room = max(estimate, math.log(1.05) - estimate)

    n = pairs_to_decide(estimate, sd_log)

    assert n is not None

    def half(pairs):
        return stats.t.ppf(0.975, pairs - 1) * sd_log / math.sqrt(pairs)

    assert half(n) <= room < half(n - 1)
