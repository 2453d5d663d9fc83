import math

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.criteria import Criteria
from campaigns.stats.verdict import Contrast, Word, judge


def welch(baseline, candidate):
    """Two independent arms on logs: only another way to a contrast, so that words can be tested."""
    logs = [np.log(np.array(values, dtype=float)) for values in (baseline, candidate)]
    parts = [log.var(ddof=1) / log.size for log in logs]
    df = sum(parts) ** 2 / sum(
        part**2 / (log.size - 1) for part, log in zip(parts, logs, strict=True)
    )
    return Contrast(
        estimate=float(logs[1].mean() - logs[0].mean()),
        standard_error=math.sqrt(sum(parts)),
        df=float(df),
        n=min(log.size for log in logs),
    )


def assert_as_golden(verdict, expected):
    assert verdict.word == expected["verdict"]
    assert verdict.no_worse_than_margin is expected["no_worse_than_margin"]
    for name in ("ratio", "pct_change", "ci_pct", "ci90_pct", "p", "p_tost"):
        assert getattr(verdict, name) == pytest.approx(expected[name], rel=1e-9), name


@pytest.mark.parametrize(
    "name",
    [
        "better",
        "worse",
        "equivalent",
        "no_difference_shown",
        "not_enough_data_noisy",
        "higher_is_better",
        "mde_small_but_interval_crosses_delta",
        "no_difference_rate",
    ],
)
def test_a_contrast_gets_the_published_word(golden, name):
    case = golden("g")["verdicts"][name]
    chosen = case["params"]
    criteria = Criteria(
        alpha=chosen["alpha"],
        power=chosen["power"],
        margin=chosen["margin"],
        delta=chosen["delta"],
        minimum_n=chosen["n_min"],
    )

    verdict = judge(
        welch(case["base"], case["cand"]),
        lower_is_better=chosen["lower_is_better"],
        criteria=criteria,
    )

    assert_as_golden(verdict, case["expected"])


def test_unequal_arms_get_the_published_word(golden):
    case = golden("g")["unequal_n"]

    verdict = judge(welch(case["base"], case["cand"]), lower_is_better=True)

    assert_as_golden(verdict, case["expected"]["verdict"])


def test_every_contrast_of_the_published_experiment_gets_its_word(golden):
    document = golden("a")
    runs: dict[str, list[float]] = {}
    for row in document["rows"]:
        runs.setdefault(str(row["concurrency"]), []).append(row["duration_s"])
    assert len(document["contrasts"]) == 8

    for step, expected in document["contrasts"].items():
        baseline, candidate = step.split("->")

        verdict = judge(welch(runs[baseline], runs[candidate]), lower_is_better=True)

        assert_as_golden(verdict, expected["alone"]["verdict"])


def test_the_words_are_the_closed_list(golden):
    assert [word.value for word in Word] == golden("g")["words_closed_list"]


def contrast(pct, half_width_pct, n=10):
    """Estimate and half width of the 95 % interval, in % of the ratio."""
    half = math.log1p(half_width_pct / 100)
    error = half / float(stats.t.ppf(0.975, n - 1))
    return Contrast(math.log1p(pct / 100), error, n - 1, n)


@pytest.mark.parametrize(
    ("pct", "half", "lower_word", "higher_word"),
    [
        (-10, 3, "better", "worse"),
        (10, 3, "worse", "better"),
        (0, 1, "equivalent", "equivalent"),
        (1, 3, "no_difference_shown", "no_difference_shown"),
        (4, 6, "not_enough_data", "not_enough_data"),
    ],
)
def test_the_word_turns_round_with_the_direction(pct, half, lower_word, higher_word):
    assert judge(contrast(pct, half), lower_is_better=True).word == lower_word
    assert judge(contrast(pct, half), lower_is_better=False).word == higher_word


def test_the_change_is_shown_as_measured_in_both_directions():
    lower = judge(contrast(8, 3), lower_is_better=True)
    higher = judge(contrast(8, 3), lower_is_better=False)

    assert (lower.pct_change, lower.ci_pct) == (higher.pct_change, higher.ci_pct)


def test_two_pairs_are_not_enough_however_clear_they_are():
    verdict = judge(Contrast(-0.5, 0.0001, 1, 2), lower_is_better=True)

    assert (verdict.word, verdict.reason) == ("not_enough_data", "n_below_minimum")


def test_a_real_difference_below_the_margin_is_equivalent_and_says_so():
    verdict = judge(contrast(1, 0.2), lower_is_better=True)

    assert verdict.word == "equivalent"
    assert verdict.badges == ("real_below_margin",)


def test_a_difference_that_the_family_does_not_bear_out_is_lost():
    verdict = judge(contrast(-6, 5), lower_is_better=True, p_adjusted=0.06)

    assert verdict.word == "not_enough_data"
    assert verdict.badges == ("lost_in_family", "no_worse_than_m")


def test_a_difference_that_the_family_bears_out_is_told():
    verdict = judge(contrast(-6, 5), lower_is_better=True, p_adjusted=0.04)

    assert (verdict.word, verdict.badges) == ("better", ())


def test_a_small_difference_lost_in_the_family_is_still_excluded_from_mattering():
    verdict = judge(contrast(-2.6, 1.5), lower_is_better=True, p_adjusted=0.06)

    assert verdict.word == "no_difference_shown"


def test_no_worse_than_the_margin_follows_the_direction():
    cheaper = contrast(-4, 4.5)

    assert "no_worse_than_m" in judge(cheaper, lower_is_better=True).badges
    assert "no_worse_than_m" not in judge(cheaper, lower_is_better=False).badges


def test_without_noise_the_interval_is_a_point():
    same = judge(Contrast(0.0, 0.0, 4, 5), lower_is_better=True)
    other = judge(Contrast(-0.1, 0.0, 4, 5), lower_is_better=True)

    assert (same.word, same.p, same.p_tost) == ("equivalent", 1.0, 0.0)
    assert (other.word, other.p, other.p_tost) == ("better", 0.0, 1.0)


def test_an_endless_interval_stays_a_number():
    verdict = judge(Contrast(0.0, 400.0, 1, 2), lower_is_better=True)

    assert verdict.ci_pct is not None
    assert verdict.ci_pct.low == -100
    assert math.isfinite(verdict.ci_pct.high)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0},
        {"alpha": 0.5},
        {"power": 1},
        {"margin": 0},
        {"delta": math.nan},
        {"minimum_n": 1},
        {"resamples": 0},
    ],
)
def test_criteria_out_of_range_are_a_mistake(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Criteria(**wrong)
