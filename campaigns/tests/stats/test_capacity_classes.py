import math

import pytest

from campaigns.stats.capacity_classes import capacities_of_classes

SMALL, LARGE = (100.0, 110.0, 121.0), (200.0, 200.0, 266.2)


def test_two_classes_are_pooled_as_calculated_by_hand():
    """Log deviations are multiples of ln 1.1 = .0953102: squares 2 + 6 = 8 times .00908403, over 6 - 2 = 4.

    s = .134789, t(.975, 4) = 2.776445, half width 2.776445 x .134789 / sqrt 3 = .216064, a factor of 1.241181.
    """
    found = capacities_of_classes({"small": SMALL, "large": LARGE})

    small, large = found["small"], found["large"]
    assert (small.targets, small.df) == (3, 4)
    assert (small.estimate, small.low, small.high) == pytest.approx(
        (110, 110 / 1.241181, 110 * 1.241181), rel=1e-5
    )
    assert (large.estimate, large.low, large.high) == pytest.approx(
        (220, 220 / 1.241181, 220 * 1.241181), rel=1e-5
    )


def test_a_class_of_two_targets_is_none_and_lends_nothing_to_the_others():
    alone = capacities_of_classes({"small": SMALL})

    assert capacities_of_classes({"small": SMALL, "large": LARGE[:2]}) == alone
    assert alone["small"].df == 2
    assert capacities_of_classes({"large": LARGE[:2]}) == {}
    assert capacities_of_classes({}) == {}


def test_equal_capacities_have_an_interval_without_width():
    (found,) = capacities_of_classes({"small": (100.0, 100.0, 100.0)}).values()

    assert (found.low, found.high) == pytest.approx((100, 100))


def test_capacities_far_apart_leave_finite_ends():
    (found,) = capacities_of_classes({"odd": (1.0, 1e150, 1e150)}).values()

    assert 0 <= found.low < found.high < math.inf
