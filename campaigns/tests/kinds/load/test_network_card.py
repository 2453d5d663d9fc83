import pytest

from campaigns.kinds.load.network_card import Reading, read, share

GIGABIT = 1e9


def reading(seconds: float, **passed: tuple[int, int]) -> Reading:
    return Reading(seconds, passed, dict.fromkeys(passed, GIGABIT))


def test_the_busier_way_of_the_busiest_card_counts():
    first = reading(10.0, one=(0, 0), other=(100, 100))
    last = reading(12.0, one=(1_000, 50_000_000), other=(200_000_100, 100))

    assert share(first, last) == pytest.approx(0.8)


def test_no_card_with_a_speed_gives_no_share():
    assert share(reading(1.0), reading(2.0)) is None


def test_a_card_that_went_away_is_left_out():
    assert share(reading(1.0, one=(0, 0)), reading(2.0)) is None


def test_this_machine_can_be_read():
    found = read()

    assert found.passed.keys() == found.speeds.keys()
    assert "lo" not in found.speeds
