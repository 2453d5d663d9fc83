import dataclasses
import json
import math
import random

import numpy as np
import pytest

from campaigns.stats.criteria import Criteria
from campaigns.stats.paired import compare_strata
from campaigns.stats.pairs import Pair, Side, Stratum

MANIFESTS = ["100", "200", "300", "400", "500"]


def stratum_of(base, cand, name="", **rest):
    return Stratum(name, [Pair(b, c) for b, c in zip(base, cand, strict=False)], **rest)


def compared(stratum, **options):
    options.setdefault("lower_is_better", True)
    (comparison,) = compare_strata([stratum], **options).comparisons
    return comparison


@pytest.fixture(scope="module")
def strata(golden):
    return [
        Stratum(
            name,
            [
                Pair(baseline, candidate, first == "asyncio")
                for baseline, candidate, first in zip(
                    each["futures"], each["asyncio"], each["first"], strict=True
                )
            ],
        )
        for name, each in golden("b")["inputs"].items()
    ]


@pytest.fixture(scope="module")
def family(strata):
    return compare_strata(strata, lower_is_better=True)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_is_compared_as_published(golden, family, name):
    expected = golden("b")["per_manifest"][name]
    (comparison,) = (each for each in family.comparisons if each.name == name)
    ranks = comparison.hodges_lehmann

    got = {
        "n_pairs": comparison.n_pairs,
        "mean_base": comparison.mean_baseline,
        "mean_cand": comparison.mean_candidate,
        "sd_base": comparison.sd_baseline,
        "sd_cand": comparison.sd_candidate,
        "pct_change_of_means": comparison.pct_change_of_means,
        "mean_of_pair_pct_changes": comparison.mean_of_pair_pct_changes,
        "geo_pct_change": comparison.geo_pct_change,
        "sd_log": comparison.sd_log,
        "t_log": {"t": comparison.t, "df": comparison.df, "p": comparison.p},
        "geo_ci_pct": list(comparison.geo_ci_pct),
        "wilcoxon": {
            "V": min(comparison.v_plus, 55 - comparison.v_plus),
            "p": comparison.wilcoxon_p,
            "V_plus": comparison.v_plus,
        },
        "hl_pct": {
            "est": ranks.pct,
            "lo": ranks.ci_pct.low,
            "hi": ranks.ci_pct.high,
            "achieved": ranks.achieved,
            "sufficient": ranks.sufficient,
        },
        "min_attainable_wilcoxon_p": comparison.min_attainable_p,
    }

    for key, value in got.items():
        assert value == pytest.approx(expected[key], rel=1e-8), key
    assert set(expected) == {*got, "bca_pct_change_of_means", "verdict"}


@pytest.mark.parametrize("name", MANIFESTS)
def test_the_bootstrap_of_a_manifest_is_near_the_published_one(golden, family, name):
    (comparison,) = (each for each in family.comparisons if each.name == name)

    assert comparison.bca_ci_pct == pytest.approx(
        golden("b")["per_manifest"][name]["bca_pct_change_of_means"], abs=0.3
    )


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_gets_the_published_verdict(golden, family, name):
    expected = golden("b")["per_manifest"][name]["verdict"]
    (comparison,) = (each for each in family.comparisons if each.name == name)
    verdict = comparison.verdict

    got = {
        "verdict": verdict.word,
        "more_runs": verdict.more,
        **{
            key: getattr(verdict, key)
            for key in ("ratio", "pct_change", "p", "p_tost", "required_n")
        },
        "ci_pct": list(verdict.ci_pct),
        "ci90_pct": list(verdict.ci90_pct),
        "no_worse_than_margin": verdict.no_worse_than_margin,
    }

    assert got == {
        key: value if isinstance(value, str) else pytest.approx(value, rel=1e-8)
        for key, value in expected.items()
    }
    assert verdict.p_adjusted == pytest.approx(golden("b")["holm_p"][name], rel=1e-8)


def test_who_ran_first_did_not_matter(golden, family):
    expected = golden("b")["order_effect"]
    effect = family.order_effect

    assert (effect.candidate_first, effect.baseline_first) == (25, 25)
    assert (effect.df, effect.flagged) == (expected["df"], expected["flag"])
    for key in ("difference_pct", "t", "p"):
        assert getattr(effect, key) == pytest.approx(expected[key], rel=1e-8)


def test_the_order_of_strata_and_pairs_does_not_matter(strata, family):
    shuffled = [
        dataclasses.replace(each, pairs=random.Random(1).sample(each.pairs, len(each.pairs)))
        for each in reversed(strata)
    ]

    again = compare_strata(shuffled, lower_is_better=True)

    for before, after in zip(family.comparisons, reversed(again.comparisons), strict=True):
        assert after.bca_ci_pct == before.bca_ci_pct
        assert after.verdict.p_adjusted == pytest.approx(before.verdict.p_adjusted, rel=1e-9)


@pytest.mark.parametrize("name", ["n1", "n2", "identical"])
def test_pairs_at_the_edge_are_as_published(golden, name):
    case = golden("g")["pairs"][name]

    comparison = compared(stratum_of(case["base"], case["cand"]))

    got = {
        "n_pairs": comparison.n_pairs,
        "verdict": comparison.verdict.word,
        "sd_log": comparison.sd_log,
        "pct": comparison.geo_pct_change,
        "ci_pct": comparison.geo_ci_pct,
        "flags": list(comparison.flags),
    }
    for key, value in case["expected"].items():
        if isinstance(value, str) or key == "flags":
            assert got[key] == value
        else:
            assert got[key] == pytest.approx(value, rel=1e-9), key


def test_blocks_of_two_are_pairs():
    off = [77.138, 95.245, 80.85, 99.046, 90.989, 94.885]
    on = [74.211, 86.219, 74.022, 91.445, 86.971, 90.201]

    comparison = compared(stratum_of(off, on))

    assert comparison.t == pytest.approx(-6.46596526534, rel=1e-8)
    assert comparison.p == pytest.approx(0.00131770682375, rel=1e-8)
    assert comparison.sd_log == pytest.approx(0.0253887178066, rel=1e-8)
    assert comparison.geo_ci_pct == pytest.approx((-8.94103414099, -3.95710411743), rel=1e-8)
    assert comparison.verdict.mde_pct == pytest.approx(3.70926325077, rel=1e-7)
    assert comparison.verdict.required_n == 5


def published(golden, name):
    (case,) = (each for each in golden("g")["words"] if each["name"] == name)
    return case


def side_of(arm):
    return Side(
        key=arm.get("key", {}),
        units=sum(arm.get("units", [])),
        failed_units=sum(arm.get("failed_units", [])),
    )


@pytest.mark.parametrize(
    "name",
    [
        "too_many_failures_units_of_work",
        "too_many_failures_runs",
        "lost_runs_are_not_failures",
        "not_comparable",
        "invalid_values_zero",
        "two_runs",
        "order_of_rules",
    ],
)
def test_a_refusal_is_as_published(golden, name):
    case = published(golden, name)
    baseline, candidate = case["base"], case["cand"]
    stratum = stratum_of(
        baseline["values"],
        candidate["values"],
        incomplete_by_failure=candidate.get("n_failed", 0),
        incomplete_by_loss=candidate.get("n_lost", 0),
        baseline=side_of(baseline),
        candidate=side_of(candidate),
    )

    verdict = compared(stratum).verdict

    expected = case["expected"]
    assert verdict.word == expected["verdict"]
    assert verdict.reason == expected.get("reason", "")
    assert list(verdict.fields) == expected.get("fields", [])
    assert list(verdict.positions) == expected.get("positions", [])
    if verdict.side:
        assert {"baseline": "base", "candidate": "cand"}[verdict.side] == expected["side"]
    shares = [value for key, value in expected.items() if key.endswith("_share") and value]
    if shares:
        assert verdict.share == pytest.approx(shares[0])


NUMBERS = ("ratio", "pct_change", "ci_pct", "p", "required_n", "mde_pct")


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e300])
def test_no_number_is_made_of_an_invalid_value(bad):
    comparison = compared(stratum_of([10.0, 11.0, 12.0], [9.0, bad, 11.0]))

    assert comparison.verdict.word == "invalid_values"
    assert (comparison.verdict.side, comparison.verdict.positions) == ("candidate", (1,))
    assert all(getattr(comparison.verdict, name) is None for name in NUMBERS)
    assert comparison.mean_candidate is None


def test_no_number_is_made_of_survivors():
    comparison = compared(stratum_of([10.0, 11.0, 12.0], [5.0, 6.0, 7.0], incomplete_by_failure=1))

    assert comparison.verdict.word == "too_many_failures"
    assert comparison.verdict.share == 0.25
    assert comparison.geo_pct_change is None


def test_one_failed_pair_of_twenty_is_told_and_one_of_five_is_too_many():
    baseline = [10.0, 11.0, 12.0, 13.0] * 5
    candidate = [5.0, 5.4, 6.1, 6.6] * 5

    of_twenty = compared(stratum_of(baseline[:19], candidate[:19], incomplete_by_failure=1))
    of_five = compared(stratum_of(baseline[:4], candidate[:4], incomplete_by_failure=1))

    assert of_twenty.verdict.word == "better"
    assert of_twenty.flags == ("incomplete_pairs",)
    assert (of_five.verdict.word, of_five.verdict.reason) == ("too_many_failures", "failed_runs")
    assert of_five.geo_pct_change is None


def test_lost_runs_keep_the_numbers_and_take_the_word():
    comparison = compared(stratum_of([10.0, 11.0, 12.0], [5.0, 5.4, 6.1], incomplete_by_loss=1))

    assert (comparison.verdict.word, comparison.verdict.reason) == (
        "not_enough_data",
        "lost_runs",
    )
    assert comparison.verdict.ci_pct.high < 0


def test_no_pairs_at_all_are_not_enough():
    comparison = compared(Stratum("all failed", [], incomplete_by_loss=0))

    assert (comparison.n_pairs, comparison.verdict.word) == (0, "not_enough_data")


def test_no_strata_make_an_empty_family():
    family = compare_strata([], lower_is_better=True)

    assert (family.comparisons, family.order_effect) == ((), None)


def noisy(rng, pct, n=5, sd=0.03, name=""):
    return stratum_of(
        [100.0] * n, [100 * (1 + pct / 100) * math.exp(rng.gauss(0, sd)) for _ in range(n)], name
    )


def test_a_difference_may_be_lost_in_its_family():
    borderline = stratum_of([100.0] * 5, [91.0, 99.0, 92.5, 97.5, 95.0], "borderline")
    rng = random.Random(3)
    others = [noisy(rng, 0, name=str(index)) for index in range(4)]

    alone = compared(borderline)
    family = compare_strata([borderline, *others], lower_is_better=True)

    assert alone.verdict.word == "better"
    assert "lost_in_family" in family.comparisons[0].verdict.badges
    assert family.comparisons[0].verdict.word != "better"
    assert family.comparisons[0].verdict.p_adjusted > alone.verdict.p


def test_what_cannot_get_a_word_is_no_member_of_the_family():
    clear = stratum_of([100.0] * 3, [80.0, 81.0, 79.0], "clear")
    two = stratum_of([100.0] * 2, [80.0, 81.0], "two")
    failing = stratum_of([100.0] * 3, [80.0, 81.0, 79.0], "failing", incomplete_by_failure=3)
    lost = stratum_of([100.0] * 5, [80.0, 81.0, 79.0, 82.0, 78.0], "lost", incomplete_by_loss=3)

    family = compare_strata([clear, two, failing, lost], lower_is_better=True)

    assert family.comparisons[0].verdict.p_adjusted == family.comparisons[0].verdict.p
    assert [each.verdict.p_adjusted for each in family.comparisons[1:]] == [None, None, None]


def test_a_higher_rate_is_better():
    stratum = stratum_of([100.0, 101.0, 99.0], [120.0, 122.0, 119.0])

    assert compared(stratum, lower_is_better=False).verdict.word == "better"
    assert compared(stratum, lower_is_better=True).verdict.word == "worse"


def test_tests_that_disagree_are_told():
    baseline = [100.0] * 12
    candidate = [99 + step / 100 for step in range(11)] + [115.0]

    comparison = compared(stratum_of(baseline, candidate))

    assert comparison.p > 0.05 > comparison.wilcoxon_p
    assert "tests_disagree" in comparison.verdict.badges


def test_a_rank_test_that_cannot_reach_alpha_does_not_disagree():
    comparison = compared(stratum_of([100.0] * 4, [80.0, 81.0, 79.0, 80.5]))

    assert comparison.p < 0.05 < comparison.wilcoxon_p
    assert "tests_disagree" not in comparison.verdict.badges


def test_an_estimate_between_zero_and_the_interesting_change_gets_a_number_of_pairs():
    comparison = compared(stratum_of([100.0] * 6, [102.0, 107.0, 98.5, 104.5, 100.0, 105.5]))

    verdict = comparison.verdict
    assert verdict.word == "not_enough_data"
    assert verdict.required_n <= verdict.n < verdict.n_to_decide


def test_equal_ratios_are_suspicious_and_still_judged():
    comparison = compared(stratum_of([10.0, 20.0, 30.0], [9.0, 18.0, 27.0]))

    assert comparison.verdict.word == "better"
    assert comparison.verdict.badges == ("zero_variance",)
    assert (comparison.sd_log, comparison.t, comparison.bca_ci_pct) == (0.0, None, None)


def test_the_order_effect_is_found_among_uneven_pairs():
    rng = random.Random(5)
    strata = []
    for name in MANIFESTS:
        pairs = []
        for first in (True, False, True):
            log = -0.2 + (0.1 if first else 0.0) + rng.gauss(0, 0.01)
            pairs.append(Pair(100.0, 100 * math.exp(log), first))
        strata.append(Stratum(name, pairs))

    effect = compare_strata(strata, lower_is_better=True).order_effect

    assert effect is not None
    assert effect.flagged
    assert effect.difference_pct == pytest.approx(10.5, abs=1.5)
    assert (effect.candidate_first, effect.baseline_first, effect.df) == (10, 5, 9)


@pytest.mark.parametrize("firsts", [[None, None, None], [True, True, True]])
def test_orders_that_cannot_be_told_apart_have_no_effect(firsts):
    stratum = Stratum("", [Pair(10.0, 9.0 + i / 10, first) for i, first in enumerate(firsts)])

    assert compare_strata([stratum], lower_is_better=True).order_effect is None


def test_pooled_noise_finds_what_three_pairs_alone_do_not():
    rng = random.Random(11)
    strata = [noisy(rng, -8, n=3, name=name) for name in MANIFESTS]

    own = compare_strata(strata, lower_is_better=True)
    pooled = compare_strata(strata, lower_is_better=True, pool_noise=True)

    assert (own.pooled, pooled.pooled) == (False, True)
    assert {each.df for each in pooled.comparisons} == {10}
    assert pooled.comparisons[0].sd_log == pytest.approx(
        math.sqrt(np.mean([(each.sd_log or 0) ** 2 for each in own.comparisons]))
    )
    assert all("pooled_noise" in each.verdict.badges for each in pooled.comparisons)
    assert any(each.verdict.word == "not_enough_data" for each in own.comparisons)
    assert all(each.verdict.word == "better" for each in pooled.comparisons)


def test_noise_that_differs_is_not_pooled():
    rng = random.Random(2)
    strata = [noisy(rng, 0, n=10, sd=sd, name=str(sd)) for sd in (0.005, 0.005, 0.2)]

    assert not compare_strata(strata, lower_is_better=True, pool_noise=True).pooled


@pytest.mark.parametrize("count", [0, 2])
def test_fewer_than_three_strata_are_not_pooled(count):
    rng = random.Random(2)
    strata = [noisy(rng, 0) for _ in range(count)]

    assert not compare_strata(strata, lower_is_better=True, pool_noise=True).pooled


def test_identical_strata_are_not_pooled():
    strata = [stratum_of([10.0, 10.0], [9.0, 9.0], name) for name in "abc"]

    assert not compare_strata(strata, lower_is_better=True, pool_noise=True).pooled


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(1.0, 1.0)],
        [(1e-300, 1e140), (1.0, 2.0)],
        [(1.0, 1.0)] * 6,
        [(1.0, 1.0), (1.0, 1.0), (1.0, 2.0), (1.0, 0.5), (2.0, 2.0), (1.0, 1.0)],
        [(1.0, 1e149), (1e149, 1.0), (1.0, 1.0), (1e-149, 1e149), (2.0, 2.0)],
    ],
)
def test_a_result_is_json_whatever_the_values(pairs):
    comparison = compared(Stratum("", [Pair(*pair) for pair in pairs]))

    json.dumps(dataclasses.asdict(comparison), allow_nan=False)


def test_many_pairs_do_without_the_exact_interval():
    rng = random.Random(4)

    comparison = compared(noisy(rng, -5, n=1001), criteria=Criteria(resamples=100))

    assert comparison.hodges_lehmann is None
    assert comparison.verdict.word == "better"


def test_ranks_at_sixty_pairs_have_their_exact_interval():
    comparison = compared(noisy(random.Random(4), -5, n=60), criteria=Criteria(resamples=100))

    assert comparison.hodges_lehmann.achieved == pytest.approx(0.95, abs=0.01)


def of_sessions(*changes, n=8, sd=0.01, seed=2, name=""):
    rng = np.random.default_rng(seed)
    return Stratum(
        name,
        [
            Pair(10.0, 10 * math.exp(change + rng.normal(0, sd)), session=number)
            for number, change in enumerate(changes)
            for _ in range(n)
        ],
    )


def test_pairs_of_three_sessions_are_judged_by_what_differs_between_them():
    found = compared(of_sessions(-0.062, 0.01, -0.057))

    assert found.geo_ci_pct.high < 0
    assert found.verdict.ci_pct.high > 5
    assert (found.verdict.word, found.verdict.n, found.n_pairs) == ("not_enough_data", 3, 24)
    assert found.sessions.standing == "not_confirmed"


def test_pairs_of_two_sessions_that_agree_are_confirmed_and_marked():
    found = compared(of_sessions(-0.1, -0.1))

    assert (found.verdict.word, found.sessions.standing) == ("better", "confirmed")
    assert "two_sessions" in found.verdict.badges


def test_the_mean_over_strata_is_judged_between_sessions_too():
    strata = [
        of_sessions(-0.10, 0.04, -0.09, name="a"),
        of_sessions(-0.08, 0.03, -0.1, seed=5, name="b"),
    ]

    found = compare_strata(strata, lower_is_better=True, together=(0, 1)).together

    each = [
        np.mean(
            [
                s.sessions.estimates
                for s in compare_strata(strata, lower_is_better=True).comparisons
            ],
            axis=0,
        )
    ]
    assert found.sessions.estimates == pytest.approx(each[0])
    assert (found.verdict.word, found.verdict.n) == ("not_enough_data", 3)


def test_a_stratum_that_is_noisier_keeps_its_noise_to_itself():
    rng = random.Random(3)
    strata = [noisy(rng, 0, n=3, sd=sd) for sd in (0.01, 0.01, 0.4, 0.01, 0.01)]

    assert not compare_strata(strata, lower_is_better=True, pool_noise=True).pooled
