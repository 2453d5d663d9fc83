import math

import pytest

from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.rounding import step_of, step_shares, within_resolution
from campaigns.stats.verdict import Verdict, Word


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([24.0, 150.0], 1.0),
        ([150.0, 1200.0], 10.0),
        ([0.0636, 0.06], 0.0001),
        ([0.1 + 0.2], 0.1),
        ([1.5e-6], 1e-7),
        ([1e18], 1e18),
        ([-2.5], 0.1),
    ],
)
def test_the_step_is_the_place_of_the_last_digit(values, step):
    assert step_of(values) == pytest.approx(step)


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf]])
def test_without_a_number_there_is_no_step(values):
    assert step_of(values) is None


def test_zero_is_written_in_ones():
    assert step_of([0.0]) == 1.0


def verdict_of(low, high, word=Word.EQUIVALENT, **rest):
    return Verdict(word, n=8, ci_pct=Interval(low, high), **rest)


def test_a_step_below_half_the_margin_takes_nothing_back():
    found = verdict_of(-1.0, 1.0)

    assert within_resolution(found, 0.009, Criteria()) is found


@pytest.mark.parametrize(("margin", "delta"), [(0.02, 0.5), (0.5, 0.05)])
def test_a_step_that_hides_margin_or_effect_takes_the_word_back(margin, delta):
    found = within_resolution(verdict_of(-1.0, 1.0), 0.013, Criteria(margin=margin, delta=delta))

    assert (found.word, found.reason) == (Word.NOT_ENOUGH_DATA, "resolution")


@pytest.mark.parametrize(("high", "word"), [(-40.0, "better"), (-20.0, "not_enough_data")])
def test_a_difference_stands_that_is_clear_of_0_by_a_step(high, word):
    found = within_resolution(verdict_of(-60.0, high, Word.BETTER), 0.33, Criteria())

    assert found.word == word


def test_whole_numbers_are_written_in_ones():
    assert step_shares([[10.0, 20.0], [40.0]]) == pytest.approx([1 / 15, 1 / 40])
    assert step_shares([[], [0.0]]) == [0.0, 0.0]
