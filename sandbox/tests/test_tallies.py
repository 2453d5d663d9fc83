import random

from sandbox.tallies import Rate


def counted(moments: list[float]) -> int:
    rate = Rate()
    for moment in moments:
        rate.count(moment)
    return rate.most


def test_what_comes_at_equal_distances_has_its_own_rate() -> None:
    assert counted([1000 + i / 20 for i in range(200)]) == 20


def test_a_burst_across_two_seconds_is_seen_whole() -> None:
    assert counted([7.9 + i / 1000 for i in range(200)]) == 200


def test_what_is_more_than_a_second_old_counts_no_more() -> None:
    assert counted([5.0] * 30 + [6.01] * 10 + [500.0] * 20) == 30


def test_the_most_is_that_of_some_second_between_99_hundredths_and_a_whole_one() -> None:
    moments = sorted(random.Random(7).uniform(100, 110) for _ in range(500))

    def most(length: float) -> int:
        return max(sum(start <= m < start + length for m in moments) for start in moments)

    assert most(0.99) <= counted(moments) <= most(1.0)
