"""One family of comparisons: adjusted p values of all pairs, and the settings that may be the best."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from campaigns.stats.compared import Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.family import MOST_SETTINGS, adjust, multipliers, tail_of_range, unbeaten
from campaigns.stats.verdict import Word

CASES = (
    "s1_pooled",
    "two_equal",
    "three_one_better",
    "six_equal",
    "six_last_minus_7",
    "twelve",
    "higher_is_better",
)
DECIDED = (Word.BETTER, Word.WORSE)


def compared(values, wanted=(), *, in_blocks=True, lower_is_better=True, boards=None, **kwargs):
    cells = [CellRuns(each, blocks=tuple(range(len(each))) if in_blocks else ()) for each in values]
    return compare_cells(
        cells,
        wanted,
        interleaved=in_blocks,
        lower_is_better=lower_is_better,
        boards=[range(len(cells))] if boards is None else boards,
        **kwargs,
    )


@pytest.mark.parametrize("name", CASES)
def test_adjusted_p_values_and_best_set_are_as_computed_apart(golden, name):
    case = golden("n")["cases"][name]
    names, expected = list(case["values"]), case["expected"]
    lower = case["lower_is_better"]

    found = compared(case["values"].values(), in_blocks=case["blocks"], lower_is_better=lower)

    assert list(multipliers((len(names),))) == expected["multipliers"]
    assert len(found.pairs) == len(expected["pairs"])
    beaten = set()
    for pair in expected["pairs"]:
        one, other = names.index(pair["a"]), names.index(pair["b"])
        verdict = found.pairs[one, other]
        assert verdict.p == pytest.approx(pair["p"], rel=1e-6)
        assert verdict.p_adjusted == pytest.approx(pair["adjusted_p"], rel=1e-6)
        assert verdict.pct_change == pytest.approx(pair["change_pct"])
        if pair["adjusted_p"] < 0.05:
            beaten.add((one, other) if (pair["change_pct"] < 0) == lower else (other, one))
    assert [names[each] for each in unbeaten(range(len(names)), beaten)] == expected["best_set"]


def test_the_published_experiment_says_what_was_published(golden):
    values = golden("n")["cases"]["s1_pooled"]["values"]
    levels = sorted(values, key=int)
    steps = [(place, place + 1) for place in range(5)]

    found = compared([values[level] for level in levels], steps, in_blocks=False)

    assert found.model == Model.POOLED
    assert [each.verdict.word for each in found.comparisons] == [
        Word.BETTER,
        Word.BETTER,
        Word.BETTER,
        Word.NOT_ENOUGH_DATA,
        Word.BETTER,
    ]
    assert found.comparisons[2].verdict.p_adjusted == pytest.approx(0.024, abs=5e-4)


@pytest.mark.parametrize(
    ("sizes", "factors"),
    [
        ((2,), (1,)),
        ((3,), (3, 1, 1)),
        ((6,), (15, 10, 10, 10, 10, 10, 7, 7, 7, 6, 4, 4, 3, 2, 1)),
        ((2, 2), (2, 1)),
        ((3, 3), (6, 4, 4, 3, 2, 1)),
        ((2, 3), (4, 3, 2, 1)),
        ((), ()),
    ],
)
def test_what_is_known_to_differ_leaves_fewer_pairs_that_can_be_equal(sizes, factors):
    assert multipliers(sizes) == factors


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
def test_multipliers_are_those_of_all_ways_to_be_equal(size):
    possible = set()

    def split(left, most, pairs):
        if not left:
            possible.add(pairs)
        for part in range(1, min(left, most) + 1):
            split(left - part, part, pairs + comb(part, 2))

    split(size, size, 0)
    pairs = comb(size, 2)

    assert multipliers((size,)) == tuple(
        max(each for each in possible if each <= pairs - different) for different in range(pairs)
    )


def test_of_very_many_settings_each_p_counts_for_all_pairs():
    count = MOST_SETTINGS + 1

    assert adjust([1e-5, 0.2], [count], largest_t=9.0, df=9) == [
        pytest.approx(1e-5 * comb(count, 2)),
        1.0,
    ]


def test_an_adjusted_p_is_never_below_that_of_a_smaller_p():
    assert adjust([0.02, 0.01, 0.9], [3]) == pytest.approx([0.03, 0.03, 0.9])


def test_two_models_count_each_p_twice():
    assert adjust([0.01], [2], models=2) == pytest.approx([0.02])


def test_the_range_over_two_groups_is_that_of_both():
    one = tail_of_range(3.0, [4], 10)

    assert tail_of_range(3.0, [4, 4], 10) == pytest.approx(1 - (1 - one) ** 2)
    assert tail_of_range(3.0, [4, 1], 10) == pytest.approx(one)


def test_more_p_values_than_pairs_are_refused():
    with pytest.raises(ValueError, match="at most the pairs"):
        adjust([0.1, 0.2], [2])


def test_who_is_beaten_by_one_of_another_group_is_not_left_out():
    assert unbeaten([1, 2], {(1, 3)}) == (1, 2)
    assert unbeaten([1, 2], {(1, 2)}) == (2,)


def noise(seed, n=5, count=6, sd=0.02):
    return np.random.default_rng(seed).normal(0, sd, (count, n))


def test_cells_that_differ_in_two_factors_are_compared():
    """2 x 16 against 4 x 8: every pair of cells that did the same work has a word."""
    logs = noise(1, count=4) + np.array([0.0, 0.3, 0.0, -0.3])[:, None]

    found = compared(np.exp(logs))

    assert set(found.pairs) == set(combinations(range(4), 2))
    assert found.pairs[1, 3].word == Word.BETTER


def test_a_pair_has_the_same_word_as_a_step_and_in_the_family():
    logs = noise(2, count=5) + np.array([0.0, 0.05, 0.055, 0.1, 0.3])[:, None]
    steps = [(1, 0), (1, 2), (3, 4), (0, 4)]

    found = compared(np.exp(logs), steps)

    turned = {Word.BETTER: Word.WORSE, Word.WORSE: Word.BETTER}
    for pair, each in zip(steps, found.comparisons, strict=True):
        verdict = found.pairs[min(pair), max(pair)]
        assert each.verdict.p_adjusted == verdict.p_adjusted
        word = verdict.word if pair[0] < pair[1] else turned.get(verdict.word, verdict.word)
        assert each.verdict.word == word


def test_boards_are_one_family_and_are_not_compared_with_each_other():
    logs = noise(3, count=4)

    found = compared(np.exp(logs), boards=[(0, 1), (2, 3)])

    assert set(found.pairs) == {(0, 1), (2, 3)}
    smallest, other = sorted(found.pairs.values(), key=lambda each: each.p)
    assert smallest.p_adjusted == pytest.approx(1 - (1 - smallest.p) ** 2)
    assert other.p_adjusted == max(smallest.p_adjusted, other.p)


def test_a_noisy_level_is_compared_by_its_own_noise_and_every_p_counts_twice():
    logs = noise(4, n=10) * np.array([1, 1, 1, 20, 1, 1])[:, None]

    found = compared(np.exp(logs))

    assert found.fit.out == {3}
    smallest = min(found.pairs.values(), key=lambda each: each.p)
    assert smallest.p_adjusted == pytest.approx(min(1.0, 2 * 15 * smallest.p))


def test_holes_leave_the_other_pairs_as_they_are():
    logs = noise(5, n=6, count=4) + np.array([0.0, 0.2, 0.4, 0.6])[:, None]
    cells = [CellRuns(np.exp(each).tolist(), blocks=tuple(range(6))) for each in logs]
    cells[1] = CellRuns(cells[1].values[:4], blocks=(0, 2, 3, 5))

    found = compare_cells(cells, [], interleaved=True, lower_is_better=True, boards=[range(4)])

    assert {verdict.word for verdict in found.pairs.values()} == {Word.WORSE}
    t = abs(np.log(found.pairs[0, 3].ratio)) / found.fit.contrast(0, 3).standard_error
    assert found.pairs[0, 3].p_adjusted == pytest.approx(tail_of_range(t, [4], found.fit.df))


@pytest.mark.parametrize(
    "out",
    [
        {"failed": 2},
        {"lost": 4},
        {"values": [1.0, 1.0]},
        {"values": [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]},
        {"values": []},
    ],
)
def test_who_takes_no_part_widens_the_family_of_nobody(out):
    values = np.exp(noise(6, n=6, count=3)).tolist()
    fields = {"values": values[2], **out}
    cells = [CellRuns(values[0]), CellRuns(values[1]), CellRuns(**fields)]

    found = compare_cells(
        cells, [(0, 2)], interleaved=False, lower_is_better=True, boards=[range(3)]
    )

    assert set(found.pairs) == {(0, 1)}
    assert found.pairs[0, 1].p_adjusted == pytest.approx(found.pairs[0, 1].p)
    assert found.comparisons[0].verdict.word not in DECIDED


def test_the_best_measured_of_very_many_settings_is_compared_with_each():
    count = MOST_SETTINGS + 2
    logs = noise(7, n=4, count=count, sd=0.005) + 0.05 * np.arange(count)[:, None]

    found = compared(np.exp(logs), [(3, 4)])

    assert set(found.pairs) == {(0, other) for other in range(1, count)} | {(3, 4)}
    assert unbeaten(range(count), {(other, 0) for (_, other) in found.pairs if other != 4})[:1] == (
        0,
    )


@pytest.mark.parametrize("count", [2, 3, 6])
def test_an_equal_level_is_seldom_left_out(count):
    """The whole world is in the self-check; here one in twenty, within what 400 campaigns tell."""
    rng = np.random.default_rng(count)
    out = []
    for _ in range(400):
        logs = rng.normal(0, 0.03, (count, 3)) + rng.normal(0, 0.05, 3)
        found = compared(np.exp(logs), criteria=Criteria(margin=1e-6))
        out.append(any(each.word in DECIDED for each in found.pairs.values()))

    assert np.mean(out) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
