import math

import numpy as np
import pytest

from campaigns.stats.sessions import SessionEstimate, Standing, estimate_of, over_sessions
from campaigns.stats.verdict import Word, withheld

NAMES = ["sessions_1", "sessions_2_agree", "sessions_2_disagree", "sessions_4_between"]


@pytest.mark.parametrize("name", NAMES)
def test_sessions_are_as_published(golden, name):
    dataset = golden("k")["datasets"][name]
    expected = dataset["expected"]

    found = over_sessions(
        [estimate_of(np.array(values)) for values in dataset["d_log"]], lower_is_better=True
    )

    assert found.standing == expected["standing"]
    if found.differ and len(found.each) == 2:  # published before two sessions could contradict
        assert (found.verdict.word, found.verdict.reason) == (
            "not_enough_data",
            "sessions_disagree",
        )
    else:
        assert found.verdict.word == expected["verdict"]
    assert found.verdict.pct_change == pytest.approx(expected["pct_change"], rel=1e-8)
    assert [each.word for each in found.each] == expected["verdict_each_session"]
    assert found.differ is ("sessions_differ" in expected["badges"])
    assert found.variance_within == pytest.approx(expected["S1_sq"], rel=1e-8)
    for name_of, interval in (("within", found.within), ("between", found.between)):
        if name_of in expected:
            assert interval.estimate == pytest.approx(expected["est"], rel=1e-8)
            assert interval.standard_error == pytest.approx(expected[name_of]["se"], rel=1e-8)
            assert interval.df == expected[name_of]["df"]
    if "T2_sq" in expected:
        assert found.variance_between == pytest.approx(expected["T2_sq"], rel=1e-8)
        assert found.differ_f == pytest.approx(expected["F"], rel=1e-8)
        assert found.differ_p == pytest.approx(expected["F_p"], rel=1e-8)


def test_one_session_never_confirms():
    found = over_sessions([estimate_of(np.full(20, -0.3) + 0.001)], lower_is_better=True)

    assert (found.verdict.word, found.standing) == (Word.BETTER, Standing.ONE_SESSION)


def test_two_sessions_confirm_no_word_that_neither_of_them_said():
    """Each alone shows no difference, both together one of 1.6 %."""
    each = SessionEstimate(math.log(1.016), 0.0005, 8, 7)

    found = over_sessions([each, each], lower_is_better=True)

    assert {one.word for one in found.each} == {Word.NO_DIFFERENCE_SHOWN}
    assert found.verdict.word == Word.WORSE
    assert found.standing == Standing.NOT_CONFIRMED


def test_the_standing_is_that_of_the_word_that_is_said():
    each = estimate_of(np.array([-0.1, -0.11, -0.09, -0.1]))
    found = over_sessions([each, each], lower_is_better=True)

    other = found.of(withheld(found.verdict, "resolution"))

    assert (found.verdict.word, found.standing) == (Word.BETTER, Standing.CONFIRMED)
    assert (other.verdict.word, other.standing) == (Word.NOT_ENOUGH_DATA, Standing.NOT_CONFIRMED)


def test_two_still_sessions_that_say_something_else_contradict_each_other():
    sessions = [SessionEstimate(each, 0.0, 5, 4) for each in (-0.1, -0.2)]

    found = over_sessions(sessions, lower_is_better=True)

    assert (found.verdict.word, found.reason) == (Word.NOT_ENOUGH_DATA, "sessions_disagree")
    assert "two_sessions" in found.verdict.badges


def test_three_sessions_of_one_pair_each_have_an_interval_between_them():
    sessions = [estimate_of(np.array([each])) for each in (-0.10, -0.11, -0.09)]

    found = over_sessions(sessions, lower_is_better=True)

    assert found.within is None
    assert (found.verdict.word, found.verdict.n) == (Word.BETTER, 3)


def test_two_sessions_that_know_nothing_confirm_nothing():
    noisy = estimate_of(np.array([-0.3, 0.3, 0.1, -0.2]))

    found = over_sessions([noisy, noisy], lower_is_better=True)

    assert (found.standing, found.reason) == (Standing.NOT_CONFIRMED, "not_enough_sessions")


def test_a_session_of_one_block_has_no_word_of_its_own():
    whole = estimate_of(np.array([-0.1, -0.11, -0.09, -0.1]))

    found = over_sessions([whole, estimate_of(np.array([-0.1]))], lower_is_better=True)

    assert found.each[1].word == Word.NOT_ENOUGH_DATA
    assert found.standing == Standing.NOT_CONFIRMED


def test_sessions_without_any_noise_have_no_test_of_it():
    still = SessionEstimate(estimate=-0.1, variance=0.0, n=5, df=4)

    found = over_sessions([still, still], lower_is_better=True)

    assert found.differ_p is None
    assert not found.differ


def test_without_degrees_of_freedom_there_is_no_finding():
    assert over_sessions([], lower_is_better=True) is None
    assert over_sessions([estimate_of(np.array([0.1]))], lower_is_better=True) is None
