"""Factors that are hard to change: the order that they make, and what a definition may say of them."""

from collections import Counter
from itertools import groupby
from typing import Any

import pytest

from campaigns.planning.plan import Design, plan_runs


def design(**changes):
    usual: dict[str, Any] = {
        "factors": {"workers": [2, 4, 8], "threads": [5, 16], "hosts": [10, 20]},
        "order": "interleaved",
        "repetitions": 20,
        "seed": 3,
        "hard": ("workers",),
    }
    return Design(**(usual | changes))


def levels_of(plan, name, block):
    return [plan.cells[run.cell][name] for run in plan.runs if run.block == block]


def test_each_block_sets_a_hard_level_once():
    plan = plan_runs(design())
    for block in range(1, 21):
        seen = levels_of(plan, "workers", block)
        assert len([level for level, _ in groupby(seen)]) == 3
        assert Counter(seen) == {2: 4, 4: 4, 8: 4}


def test_hard_levels_and_what_is_within_them_come_in_random_order():
    plan = plan_runs(design())
    first = {levels_of(plan, "workers", block)[0] for block in range(1, 21)}
    inner = {tuple(levels_of(plan, "hosts", block)[:4]) for block in range(1, 21)}
    assert first == {2, 4, 8}
    assert len(inner) > 3


def test_two_hard_levels_take_turns_in_being_first():
    plan = plan_runs(design(hard=("hosts",)))
    first = Counter(levels_of(plan, "hosts", block)[0] for block in range(1, 21))
    assert set(first) == {10, 20}


def test_combinations_of_several_hard_factors_follow_one_another():
    plan = plan_runs(design(hard=("workers", "threads")))
    both = [
        (plan.cells[run.cell]["workers"], plan.cells[run.cell]["threads"])
        for run in plan.runs
        if run.block == 1
    ]
    assert len([each for each, _ in groupby(both)]) == 6


def test_pairs_are_sorted_by_what_is_hard_among_their_strata():
    plan = plan_runs(design(order="paired", paired_factor="hosts", repetitions=2))
    seen = [plan.cells[run.cell]["workers"] for run in plan.runs[:12]]
    assert len([level for level, _ in groupby(seen)]) == 3


def test_without_a_hard_factor_the_order_is_the_one_it_always_was():
    plan = plan_runs(design(hard=(), repetitions=1))
    assert [run.cell for run in plan.runs] == [
        run.cell for run in plan_runs(design(hard=("nothing",), repetitions=1)).runs
    ]


@pytest.mark.parametrize("hard", [(), ("workers",)])
def test_every_cell_is_in_every_block_once(hard):
    plan = plan_runs(design(hard=hard))
    for block in range(1, 21):
        cells = [run.cell for run in plan.runs if run.block == block]
        assert sorted(cells) == list(range(12))
