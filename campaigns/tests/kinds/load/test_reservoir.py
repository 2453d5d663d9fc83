"""A sample of rows: each has the same chance, also after several samples were added."""

from collections import Counter

import pytest

from campaigns.kinds.load.reservoir import Reservoir, columns_of, merged

pytestmark = pytest.mark.unit


def filled(count: int, most: int, seed: int = 1, first: int = 0) -> Reservoir:
    sample = Reservoir(most, seed)
    for number in range(first, first + count):
        place = sample.place()
        if place >= 0:
            sample.put(place, (number,))
    return sample


def test_few_rows_are_all_kept():
    assert filled(3, 5).stored() == {"seen": 3, "most": 5, "rows": [[0], [1], [2]]}


def test_of_many_rows_each_has_the_same_chance():
    kept = Counter(
        row[0] // 25 for seed in range(400) for row in filled(100, 10, seed).stored()["rows"]
    )

    assert kept.total() == 4000
    assert all(850 < count < 1150 for count in kept.values()), kept


def test_added_samples_have_rows_in_proportion_to_what_each_saw():
    one, other = filled(300, 40).stored(), filled(100, 40, first=1000).stored()

    both = merged([one, other])

    assert (both["seen"], len(both["rows"])) == (400, 40)
    assert sum(row[0] >= 1000 for row in both["rows"]) == 10


def test_rows_are_given_as_columns():
    assert columns_of(filled(2, 5).stored(), ["number"]) == {"number": [0, 1]}
