"""The order of runs."""

from collections import Counter
from typing import Any

import pytest

from campaigns.planning.plan import Design, Unplannable, cells_of, number_of_cells, plan_runs

LEVELS: dict[str, list[Any]] = {"concurrency": [3, 5, 7], "engine": ["asyncio", "futures"]}


def design(**changes):
    values: dict[str, Any] = {
        "factors": LEVELS,
        "order": "interleaved",
        "repetitions": 4,
        "seed": 7,
    }
    return Design(**(values | changes))


def test_cells_are_all_combinations_in_the_order_of_the_levels():
    cells = cells_of(design())

    assert cells[0] == {"concurrency": 3, "engine": "asyncio"}
    assert cells[1] == {"concurrency": 3, "engine": "futures"}
    assert len(cells) == 6 == number_of_cells(LEVELS)


def test_a_campaign_without_factors_has_one_cell():
    plan = plan_runs(design(factors={}, repetitions=2))

    assert plan.cells == ({},)
    assert len(plan.runs) == 2


def test_an_exclusion_takes_out_every_cell_that_matches_it():
    cells = cells_of(design(excluded=[{"engine": "futures"}, {"concurrency": 7}]))

    assert cells == (
        {"concurrency": 3, "engine": "asyncio"},
        {"concurrency": 5, "engine": "asyncio"},
    )


def test_an_exclusion_that_names_nothing_takes_out_nothing():
    assert len(cells_of(design(excluded=[{}]))) == 6


def test_excluding_everything_is_refused():
    with pytest.raises(Unplannable, match=r"\AEvery combination is excluded; leave") as caught:
        cells_of(design(excluded=[{"engine": "asyncio"}, {"engine": "futures"}]))
    assert caught.value.field == "excluded"


def test_every_interleaved_block_holds_each_cell_once_in_another_order():
    plan = plan_runs(design())

    blocks = [[run.cell for run in plan.runs if run.block == block.number] for block in plan.blocks]
    assert all(sorted(block) == list(range(6)) for block in blocks)
    assert len({tuple(block) for block in blocks}) > 1
    assert [run.position for run in plan.runs] == list(range(1, 25))


@pytest.mark.parametrize("order", ["interleaved", "blocked", "random"])
def test_every_order_runs_each_cell_as_often_as_asked(order):
    plan = plan_runs(design(order=order))

    assert Counter(run.cell for run in plan.runs) == dict.fromkeys(range(6), 4)


def test_a_random_plan_is_drawn_over_all_of_its_repetitions():
    orders = [[run.cell for run in plan_runs(design(order="random", seed=n)).runs] for n in (1, 2)]

    assert orders[0] != orders[1]
    for cells in orders:
        assert cells != sorted(cells)
        assert any(len(set(cells[start : start + 6])) < 6 for start in range(0, 24, 6))


def test_a_blocked_plan_runs_level_after_level():
    plan = plan_runs(design(order="blocked"))

    assert [run.cell for run in plan.runs] == [cell for cell in range(6) for _ in range(4)]


def test_the_same_seed_gives_the_same_plan_and_another_one_does_not():
    assert plan_runs(design()) == plan_runs(design())
    assert plan_runs(design()) != plan_runs(design(seed=8))


def test_pairs_run_back_to_back_and_alternate_within_each_stratum():
    plan = plan_runs(design(order="paired", paired_factor="engine"))

    pairs = list(zip(plan.runs[::2], plan.runs[1::2], strict=True))
    firsts: dict[int, list[str]] = {}
    for first, second in pairs:
        assert first.block == second.block
        one, other = plan.cells[first.cell], plan.cells[second.cell]
        assert one["concurrency"] == other["concurrency"]
        assert {one["engine"], other["engine"]} == {"asyncio", "futures"}
        firsts.setdefault(one["concurrency"], []).append(one["engine"])
    assert all(
        begins[index] != begins[index + 1] for begins in firsts.values() for index in range(3)
    )


def test_who_begins_the_first_pair_is_drawn_for_each_stratum():
    drawn = []
    for seed in range(40):
        plan = plan_runs(design(order="paired", paired_factor="engine", repetitions=1, seed=seed))
        begins = {plan.cells[run.cell]["concurrency"]: run.cell for run in plan.runs[::2]}
        drawn.append([plan.cells[begins[level]]["engine"] for level in LEVELS["concurrency"]])

    for of_stratum in zip(*drawn, strict=True):
        assert 10 <= Counter(of_stratum)["asyncio"] <= 30
    assert any(len(set(of_seed)) == 2 for of_seed in drawn)


def test_a_pair_names_its_stratum():
    plan = plan_runs(design(order="paired", paired_factor="engine"))

    assert {block.stratum["concurrency"] for block in plan.blocks} == {3, 5, 7}


def test_an_extension_goes_on_alternating_and_numbering():
    whole = plan_runs(design(order="paired", paired_factor="engine", repetitions=2))
    more = plan_runs(
        design(order="paired", paired_factor="engine", repetitions=1),
        session=2,
        first_repetition=3,
        first_position=13,
        first_block=7,
    )

    def begins(plan, repetition):
        blocks = {
            b.number: b.stratum["concurrency"] for b in plan.blocks if b.repetition == repetition
        }
        found: dict[int, str] = {}
        for run in plan.runs:
            if run.block in blocks:
                found.setdefault(blocks[run.block], plan.cells[run.cell]["engine"])
        return found

    assert begins(more, 3) == begins(whole, 1)
    assert more.runs[0].position == 13
    assert min(block.number for block in more.blocks) == 7


def test_a_paired_factor_needs_exactly_two_levels():
    with pytest.raises(Unplannable, match="exactly two levels"):
        plan_runs(design(order="paired", paired_factor="concurrency"))


def test_a_pair_that_lost_a_side_to_an_exclusion_is_refused():
    with pytest.raises(Unplannable, match="concurrency 5"):
        plan_runs(
            design(
                order="paired",
                paired_factor="engine",
                excluded=[{"engine": "futures", "concurrency": 5}],
            )
        )


def test_warm_ups_come_first_in_a_block_of_their_own():
    plan = plan_runs(design(warm_ups=8, repetitions=1), first_position=5)

    assert [run.position for run in plan.runs] == list(range(5, 5 + 8 + 6))
    assert (plan.blocks[0].repetition, plan.blocks[0].stratum) == (0, {})
    assert [run.warm_up for run in plan.runs] == [True] * 8 + [False] * 6
    assert {run.block for run in plan.runs[:8]} == {0}
    assert [block.number for block in plan.blocks] == [0, 1]
