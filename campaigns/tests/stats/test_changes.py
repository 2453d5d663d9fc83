from typing import Any

import pytest

from campaigns.stats.changes import MISSING, Change, differences, exactly
from campaigns.stats.changes import changed as changes

FINDING: dict[str, Any] = {
    "verdict": {"word": "better", "pct_change": -15.1, "ci_pct": [-23.4, -6.0], "p": 0.0044},
    "badges": ["best_at_edge"],
    "best": {"seen": 4, "possibly": [2, 3]},
    "knee": {"interval": [5.0, 8.0], "l_shares": {"5.0": 0.9}},
}


def changed(**verdict):
    return {**FINDING, "verdict": {**FINDING["verdict"], **verdict}}


def test_equal_findings_do_not_differ():
    assert differences(FINDING, {**FINDING}) == []


def test_another_word_is_a_change():
    assert differences(FINDING, changed(word="worse")) == ["verdict.word"]


def test_numbers_are_measured_by_their_interval():
    width = 17.4

    assert differences(FINDING, changed(pct_change=-15.1 + 0.9e-6 * width)) == []
    assert differences(FINDING, changed(pct_change=-15.1 + 2e-6 * width)) == ["verdict.pct_change"]
    assert differences(FINDING, changed(ci_pct=[-23.4, -6.01])) == ["verdict.ci_pct.1"]


def test_p_values_are_measured_by_themselves():
    assert differences(FINDING, changed(p=0.0044 * (1 + 1e-7))) == []
    assert differences(FINDING, changed(p=0.0045)) == ["verdict.p"]
    assert differences(changed(p=1e-15), changed(p=1e-13)) == []


def test_a_percentage_that_rounding_makes_of_zero_is_zero():
    """A processor gives 1.5e-08, another one 2.6e-08."""
    drift = {"drift": {"block_sd_pct": 1.4725502861669333e-08}}

    assert differences(drift, {"drift": {"block_sd_pct": 2.5505319124786897e-08}}) == []
    assert differences(drift, {"drift": {"block_sd_pct": 0.0}}) == []
    assert differences(drift, {"drift": {"block_sd_pct": 1e-4}}) == ["drift.block_sd_pct"]


def test_bootstraps_may_move_by_a_twentieth_of_their_width():
    def knee(interval, share):
        return {**FINDING, "knee": {"interval": interval, "l_shares": {"5.0": share}}}

    assert differences(FINDING, knee([5.1, 7.9], 0.93)) == []
    assert differences(FINDING, knee([5.2, 8.0], 0.9)) == ["knee.interval.0"]
    assert differences(FINDING, knee([5.0, 8.0], 0.85)) == ["knee.l_shares.5.0"]


@pytest.mark.parametrize(
    ("other", "places"),
    [
        ({**FINDING, "badges": []}, ["badges"]),
        ({**FINDING, "more": 1}, ["more"]),
        ({**FINDING, "badges": ["rough_interval"]}, ["badges.0"]),
        (changed(p=None), ["verdict.p"]),
    ],
)
def test_what_came_or_went_is_a_change(other, places):
    assert differences(FINDING, other) == places


@pytest.mark.parametrize(
    ("other", "path"),
    [
        (changed(word="worse"), "verdict.word"),
        ({**FINDING, "badges": ["rough_interval"]}, "badges.0"),
        ({**FINDING, "badges": []}, "badges"),
        (changed(p=0.0045), "verdict.p"),
        (changed(pct_change=-15.2), "verdict.pct_change"),
        ({**FINDING, "best": {"seen": 3, "possibly": [2, 3]}}, "best.seen"),
    ],
)
def test_a_word_or_a_number_re_opens(other, path):
    assert [change.path for change in changes(FINDING, other)] == [path]


@pytest.mark.parametrize(
    "other",
    [
        {**FINDING, "standing": {"standing": "confirmed", "reason": "otherwise"}},
        {**FINDING, "said_since": 3},
        changed(required_n=7),
        {**FINDING, "sentence": "Put otherwise."},
    ],
)
def test_sentences_plans_and_what_is_said_in_addition_do_not(other):
    before = {
        **FINDING,
        "sentence": "As it was.",
        "standing": {"standing": "confirmed", "reason": "so far"},
        "verdict": {**FINDING["verdict"], "required_n": 5},
    }
    after = {**before, **other, "verdict": {**before["verdict"], **other["verdict"]}}

    assert changes(before, after) == []


def test_a_change_says_what_was_and_what_is():
    assert changes(FINDING, changed(word="worse")) == [Change("verdict.word", "better", "worse")]
    gone = {name: value for name, value in FINDING.items() if name != "badges"}
    assert changes(FINDING, gone) == [Change("badges", ["best_at_edge"], MISSING)]


def test_a_ratio_is_measured_as_a_ratio_and_a_mean_in_its_unit():
    def finding(ratio, mean):
        summary = {"mean": mean, "mean_ci": [9.9, 10.1], "sd": 0.1}
        return {"ratio": ratio, "ci_pct": [-23.4, -6.0], "summary": summary}

    before = finding(0.85, 10.0)

    assert changes(before, finding(0.85 + 1e-7, 10.0 + 1e-7)) == []
    assert [each.path for each in changes(before, finding(0.85 + 1e-6, 10.0 + 1e-6))] == [
        "ratio",
        "summary.mean",
    ]


def test_a_count_is_what_it_is():
    assert changes({"n": 10**9, "ci": [0.0, 1e12]}, {"n": 10**9 + 1, "ci": [0.0, 1e12]}) != []


def test_a_whole_number_that_a_database_made_of_a_large_float_is_that_number():
    large = 5.189879085429907e95

    assert exactly([large], [int(f"{5189879085429907}{'0' * 80}")]) == []
    assert exactly([1.0], [1]) == []
    assert exactly([large], [5 * 10**95]) != []
    assert exactly([1.0], [10**400]) != []
    assert exactly([True], [1]) != []


def test_to_the_last_bit_nothing_is_small():
    assert [each.path for each in exactly({"p": 0.1}, {"p": 0.1 + 2e-17})] == ["p"]
    assert differences({"p": 0.1}, {"p": 0.1 + 2e-17}) == []
