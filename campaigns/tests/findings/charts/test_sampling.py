from itertools import pairwise

import pytest

from campaigns.findings.charts import sampling


@pytest.mark.parametrize(("items", "most"), [(26, 25), (1000, 3), (50, 49)])
def test_items_are_taken_in_even_steps_with_both_ends(items, most):
    taken = sampling.evenly(range(items), most)

    assert len(set(taken)) == most
    assert (taken[0], taken[-1]) == (0, items - 1)
    steps = {after - before for before, after in pairwise(taken)}
    assert max(steps) - min(steps) <= 1


def test_few_items_are_all_taken():
    assert sampling.evenly([3, 1, 2], 3) == [3, 1, 2]
    assert sampling.evenly([], 3) == []


def test_a_group_of_49_is_whole_and_one_of_50_is_not():
    quota = sampling.quota_of([49, 50])

    assert len(quota.of(range(49))) == 49
    assert len(quota.of(range(50))) == 25


@pytest.mark.parametrize("groups", [1, 6, 200, 1000])
@pytest.mark.parametrize("size", [9, 40, 50, 1000])
def test_a_chart_holds_few_points_whatever_is_measured(groups, size):
    quota = sampling.quota_of([size] * groups)

    drawn = groups * len(quota.of(range(size)))
    assert drawn <= max(sampling.MOST_DRAWN, 9 * groups)


def test_the_note_is_empty_where_everything_is_drawn():
    assert sampling.note(12, 12, "run", "cell", sampling.quota_of([12])) == ""
