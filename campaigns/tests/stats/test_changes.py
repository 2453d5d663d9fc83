from typing import Any

import pytest

from campaigns.stats.changes import differences

FINDING: dict[str, Any] = {
    "verdict": {"word": "better", "pct_change": -15.1, "ci_pct": [-23.4, -6.0], "p": 0.0044},
    "badges": ["best_at_edge"],
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
