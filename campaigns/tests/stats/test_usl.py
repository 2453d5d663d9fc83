import math

import numpy as np
import pytest

from campaigns.stats.little import check_little
from campaigns.stats.usl import Usl, bound_laws, bound_usl, fit_usl

NAMES = {
    "gamma": "g",
    "sigma": "s",
    "kappa": "k",
    "n_star": "peak",
    "x_max": "most",
    "n_power": "power_point",
    "n_linear_limit": "linear_limit",
    "n_star_int": "whole_peak",
    "recommended": "throttle",
    "rule75_of_n_star": "rule_of_thumb",
}


@pytest.mark.parametrize(("name", "rel"), [("noiseless", 1e-6), ("noisy", 1e-4)])
def test_the_law_is_as_published(golden, name, rel):
    document = golden("d")
    case = document[name]
    expected = case["expected"]

    law = fit_usl(case.get("N", document["levels"]), case["X"])

    for key, attribute in NAMES.items():
        assert getattr(law, attribute) == pytest.approx(expected[key], rel=rel), key
    assert law.lowest_for(0.95) == pytest.approx(expected["n_lowest_95pct"], rel=rel)
    share = law.throughput(0.75 * law.peak) / law.most
    assert share == pytest.approx(expected["throughput_at_75pct_n_star"], rel=rel)
    response = law.response(0.75 * law.peak) / law.response(law.peak)
    assert response == pytest.approx(expected["response_at_75pct_over_at_n_star"], rel=rel)
    ratio = law.throttle / law.peak
    assert ratio == pytest.approx(expected["recommended_share_of_n_star"], rel=rel)
    assert law.peak_reached
    assert not law.extrapolated


def test_the_bounds_are_near_the_published_ones(golden):
    case = golden("d")["noisy"]
    x, y = np.array(case["N"], dtype=float), np.array(case["X"])
    by_level = [np.flatnonzero(x == level) for level in np.unique(x)]

    def within_levels(rng):
        return np.concatenate([y[rng.choice(rows, rows.size)] for rows in by_level])

    found = bound_usl(case["N"], within_levels, resamples=400, seed=1)

    published = case["bootstrap95"]
    for key, interval in (("n_star", found.peak), ("x_max", found.most), ("gamma", found.g)):
        assert list(interval) == pytest.approx(published[key], rel=0.05)
    assert list(found.throttle) == pytest.approx(published["n_lowest_95pct"], rel=0.05)
    assert found.with_peak == 1


def test_without_coherency_there_is_no_peak(golden):
    case = golden("d")["kappa_zero"]

    law = fit_usl(golden("d")["levels"], case["X"])

    assert law.k == pytest.approx(0, abs=1e-9)
    exact = Usl(case["gamma"], case["sigma"], case["kappa"], 8)
    assert math.isinf(exact.peak)
    assert exact.whole_peak is None
    assert exact.most == pytest.approx(case["expected"]["x_max"])
    assert exact.power_point == pytest.approx(case["expected"]["n_power"])
    assert exact.linear_limit == pytest.approx(case["expected"]["n_linear_limit"])
    assert not exact.peak_reached
    assert exact.throughput(exact.lowest_for(0.95)) == pytest.approx(0.95 * exact.most)


def test_linear_growth_has_no_limit_at_all():
    law = Usl(100.0, 0.0, 0.0, 8)

    assert math.isinf(law.most)
    assert law.throttle is None
    assert law.extrapolated


def test_the_rule_of_75_percent_costs_at_most_4_percent(golden):
    published = golden("d")["rule75"]
    for s in (0.0, 0.01, 0.2, 0.9):
        for k in (1e-6, 1e-3, min(s, 0.5)):
            if not 0 < k <= s:
                continue
            law = Usl(1.0, s, k, 100)
            share = law.throughput(published["f"] * law.peak) / law.most
            assert share >= published["lower_bound"] - 1e-12
            response = law.response(published["f"] * law.peak) / law.response(law.peak)
            assert response <= published["response_upper_bound"] + 1e-12


def test_few_levels_have_no_law():
    assert fit_usl([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]) is None


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan])
def test_what_is_no_throughput_is_refused(bad):
    with pytest.raises(ValueError, match="above 0"):
        fit_usl([1, 2, 3, 4, 5], [1.0, 2.0, 3.0, 4.0, bad])


def test_the_unit_of_the_throughput_changes_no_advice(golden):
    case = golden("d")["noisy"]

    law = fit_usl(case["N"], [x / 3600 for x in case["X"]])

    assert law.throttle == case["expected"]["recommended"]
    assert law.peak == pytest.approx(case["expected"]["n_star"], rel=1e-4)


def test_littles_law_finds_who_waits_unseen(golden):
    published = golden("i")["little"]

    found = check_little(published["N"], published["X_per_s"], published["R_ms"] / 1000)

    assert found.effective == pytest.approx(published["XR"], rel=1e-6)
    assert found.ratio == pytest.approx(published["ratio"], rel=1e-6)
    assert found.consistent is not published["flag"]


def test_a_throttle_hides_its_queue_as_published(golden):
    for row in golden("d")["throttled"]["little"]:
        found = check_little(row["N"], row["X"], row["R_reported_ms"] / 1000)
        assert found.effective == pytest.approx(row["N_eff"], abs=0.01)
        assert found.consistent is row["consistent"]


def test_nobody_has_no_littles_law():
    with pytest.raises(ValueError, match="above 0"):
        check_little(0, 1.0, 1.0)


def test_draws_near_a_law_have_the_bounds_that_they_have_without_it(golden):
    case = golden("d")["noisy"]
    n, x = np.array(case["N"], dtype=float), np.array(case["X"])
    rng = np.random.default_rng(1)
    draws = [(n, x * np.exp(rng.normal(0, 0.02, n.size))) for _ in range(60)]

    alone, near = bound_laws(draws), bound_laws(draws, near=fit_usl(n.tolist(), x.tolist()))

    assert alone is not None
    assert near is not None
    for name in ("g", "s", "k", "peak", "most", "power_point", "throttle"):
        assert getattr(near, name) == pytest.approx(getattr(alone, name), rel=1e-6)
    assert near.with_peak == alone.with_peak


def test_where_nobody_adds_anything_the_most_is_that_of_one():
    law = Usl(10.0, 1.0, 0.01, 8.0)

    assert (law.peak, law.most, law.throttle) == (0.0, 10.0, 1)
