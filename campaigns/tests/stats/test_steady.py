import math

import pytest

from campaigns.stats.little import change_of_halves, is_steady


def test_the_halves_are_compared_without_the_ends():
    assert change_of_halves([0.0, 10, 10, 10, 11, 11, 11, 3]) == pytest.approx(0.1)
    assert change_of_halves([0.0, 10, 10, 10, 99, 11, 11, 11, 3]) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("second", "steady"), [(10.0, True), (10.5, True), (10.6, False), (9.6, True), (9.4, False)]
)
def test_five_percent_is_the_limit(second, steady):
    assert is_steady([10.0, 10, 10, 10, second, second, second, second]) is steady


def test_few_steps_say_nothing():
    assert is_steady([]) is None
    assert is_steady([10.0] * 7) is None


def test_a_run_that_carried_nothing_is_steady_and_one_that_began_late_is_not():
    assert is_steady([0.0] * 10) is True
    assert change_of_halves([0.0, 0, 0, 0, 5, 5, 5, 5]) == math.inf
