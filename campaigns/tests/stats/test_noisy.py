"""Levels that are noisier than the others."""

import numpy as np
import pytest

from campaigns.stats import noisy
from campaigns.stats.best import find_best
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.compared import Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.noisy import left_of_blocks, left_of_cells, noisy_cells
from campaigns.stats.verdict import Word

CELLS, NOISY = 6, 3
NEIGHBOURS = [(cell, cell + 1) for cell in range(CELLS - 1)]


def campaign(rng, n, times=1.0, levels=0.0):
    """Logs of a campaign, shape (n, cells), of which one is noisier."""
    sd = np.full(CELLS, 0.03)
    sd[NOISY] *= times
    return rng.normal(0, 1, (n, CELLS)) * sd + levels


def compared(logs, *, interleaved):
    blocks = tuple(range(len(logs))) if interleaved else ()
    return compare_cells(
        [CellRuns(np.exp(values).tolist(), blocks=blocks) for values in logs.T],
        NEIGHBOURS,
        interleaved=interleaved,
        lower_is_better=True,
        boards=[range(CELLS)],
    )


def decided(found):
    return any(verdict.word in (Word.BETTER, Word.WORSE) for verdict in found.pairs.values())


def runs_of(logs, holes=()):
    return [
        BlockRun(cell, block, float(np.exp(log)))
        for (block, cell), log in np.ndenumerate(logs)
        if (block, cell) not in holes
    ]


@pytest.mark.parametrize("interleaved", [True, False])
def test_one_very_noisy_level_makes_few_false_verdicts(interleaved):
    rng = np.random.default_rng(14)
    wrong = [decided(compared(campaign(rng, 5, 8.0), interleaved=interleaved)) for _ in range(150)]

    assert np.mean(wrong) < 0.06 + 2 * np.sqrt(0.06 * 0.94 / 150)


@pytest.mark.parametrize("holes", [(), ((0, 1), (4, 5))])
def test_equal_noise_is_taken_for_unequal_as_often_as_promised(holes):
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(400):
        runs = runs_of(campaign(rng, 5), holes)
        found = fit_blocks(runs, CELLS)
        seen.append(bool(noisy_cells(left_of_blocks(runs, found), CELLS)))

    assert np.mean(seen) == pytest.approx(noisy.OUT, abs=4 * np.sqrt(0.02 * 0.98 / 400))


@pytest.mark.parametrize("holes", [(), ((0, 1), (3, 5), (1, 1), (2, 0))])
def test_what_a_level_adds_is_what_a_fit_without_it_lacks(holes):
    runs = runs_of(campaign(np.random.default_rng(5), 4), holes)
    chosen = [0, 1, 3, 5]

    spread = left_of_blocks(runs, fit_blocks(runs, CELLS))(chosen)

    def refitted(cells):
        place = {cell: number for number, cell in enumerate(cells)}
        part = [BlockRun(place[r.cell], r.block, r.value) for r in runs if r.cell in place]
        fit = fit_blocks(part, len(cells)).fit
        return fit.sd**2 * fit.df, fit.df

    whole = refitted(chosen)
    assert spread.squares == pytest.approx(whole[0])
    assert spread.df == whole[1]
    for place, cell in enumerate(chosen):
        rest = refitted([other for other in chosen if other != cell])
        assert spread.own[place] == pytest.approx(whole[0] - rest[0])
        assert spread.own_df[place] == whole[1] - rest[1]


def test_several_noisy_levels_leave_one_after_another():
    rng = np.random.default_rng(6)
    logs = [rng.normal(0, sd, 10) for sd in (0.02, 1.0, 0.02, 0.3, 0.02)]

    assert noisy_cells(left_of_cells(logs), 5) == {1, 3}


def test_nothing_is_noisy_beside_cells_without_any_noise():
    logs = [np.zeros(3), np.zeros(3), np.array([0.0, 0.1, 0.2])]

    assert not noisy_cells(left_of_cells(logs), 3)


@pytest.mark.parametrize("interleaved", [True, False])
def test_quiet_levels_share_their_noise_without_the_noisy_one(interleaved):
    logs = campaign(np.random.default_rng(8), 10, 30.0)

    found = compared(logs, interleaved=interleaved)

    own = Model.PAIRED if interleaved else Model.WELCH
    models = [each.model for each in found.comparisons]
    assert models == [found.model, found.model, own, own, found.model]
    assert found.fit.sd == pytest.approx(0.03, rel=0.3)
    assert found.fit.df == 4 * 9 if interleaved else 5 * 9
    assert found.fit.reading_interval(NOISY, 0.05) is None
    quiet, loud = found.comparisons[0], found.comparisons[2]
    assert loud.verdict.mde_pct > 10 * quiet.verdict.mde_pct


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_noisy_level_may_be_the_best_and_costs_the_others_nothing(interleaved):
    levels = np.array([0.3, 0.2, 0.0, 0.02, 0.25, 0.3])
    logs = campaign(np.random.default_rng(9), 10, 15.0, levels)

    found = compared(logs, interleaved=interleaved)
    best = find_best(found.fit, lower_is_better=True)

    words = {pair: verdict.word for pair, verdict in found.pairs.items()}
    assert words[2, NOISY] == Word.NOT_ENOUGH_DATA
    assert {words[pair] for pair in ((0, 2), (1, 2))} == {Word.BETTER}
    assert {words[2, other] for other in (4, 5)} == {Word.WORSE}
    assert best.upper_pct[NOISY] > 15
    assert best.sd > 5 * found.fit.sd


def test_part_of_a_fit_keeps_the_contrasts_of_its_cells():
    whole = compared(campaign(np.random.default_rng(8), 10, 30.0), interleaved=True).fit

    part = whole.part([4, 3, 0])

    assert part.out == {1}
    assert part.contrast(1, 0) == whole.contrast(3, 4)
    assert part.contrast(0, 1) == whole.contrast(4, 3)
    assert part.contrast(0, 2) == whole.contrast(4, 0)


def test_where_only_a_noisy_level_connects_blocks_each_pair_stands_alone():
    rng = np.random.default_rng(2)
    cells = [
        CellRuns(np.exp(rng.normal(0, sd, len(blocks))).tolist(), blocks=blocks)
        for sd, blocks in (
            (0.001, range(6)),
            (0.001, range(6)),
            (1.0, range(12)),
            (0.001, range(6, 12)),
            (0.001, range(6, 12)),
        )
    ]

    found = compare_cells(cells, [(0, 1), (3, 4)], interleaved=True, lower_is_better=True)

    assert found.model == Model.PAIRED
    assert {each.verdict.word for each in found.comparisons} == {Word.EQUIVALENT}


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_noisy_level_beside_one_without_values_is_not_compared(interleaved):
    rng = np.random.default_rng(4)
    blocks = range(3) if interleaved else ()
    cells = [
        CellRuns(np.exp(rng.normal(0, sd, 3)).tolist(), blocks=blocks)
        for sd in (0.01, 0.01, 0.01, 2.0)
    ]
    nothing = CellRuns([])

    found = compare_cells(
        [*cells, nothing], [(3, 4)], interleaved=interleaved, lower_is_better=True
    )

    assert found.comparisons[0].verdict.word == Word.NOT_ENOUGH_DATA


@pytest.mark.parametrize(("blocks", "out"), [(3, set()), (5, {2})])
def test_a_cell_stays_where_the_others_would_say_too_little_of_their_noise(blocks, out):
    logs = np.random.default_rng(1).normal(0, 1, (blocks, 3)) * [0.01, 0.01, 5.0]
    runs = runs_of(logs)

    assert noisy_cells(left_of_blocks(runs, fit_blocks(runs, 3)), 3) == out
