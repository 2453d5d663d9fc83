import math

import pytest

from campaigns.stats.rounding import step_of


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
