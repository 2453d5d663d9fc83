"""Comparisons of cells in whole plots: levels that are hard to change get the noise between plots."""

import numpy as np
import pytest

from campaigns.stats.compared import Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells

BLOCKS, HARD, EASY = 6, 2, 3
PLACES = [(hard, easy) for hard in range(HARD) for easy in range(EASY)]


def cells(seed=1, plot_sd=0.10, missing=()):
    """Values in which whole plots differ by far more than the runs within them; no effect at all."""
    rng = np.random.default_rng(seed)
    plots = rng.normal(0, plot_sd, (BLOCKS, HARD))
    noise = rng.normal(0, 0.01, (BLOCKS, HARD, EASY))
    found = []
    for index, (hard, easy) in enumerate(PLACES):
        blocks = [block for block in range(BLOCKS) if (block, index) not in missing]
        values = [float(np.exp(plots[b, hard] + noise[b, hard, easy])) for b in blocks]
        found.append(CellRuns(values=tuple(values), blocks=tuple(blocks)))
    return found


def compared(found, wanted, places=PLACES, means=()):
    return compare_cells(
        found,
        wanted,
        interleaved=True,
        lower_is_better=True,
        places=places,
        means=means,
    )


def test_a_hard_level_gets_the_noise_of_whole_plots_and_an_easy_one_that_within_them():
    result = compared(cells(), [(0, 3), (0, 1)])
    hard, easy = result.comparisons
    assert result.model == hard.model == Model.SPLIT_PLOT
    assert hard.standard_error > 4 * easy.standard_error
    assert hard.df < easy.df
    assert easy.df == pytest.approx(HARD * (BLOCKS - 1) * (EASY - 1))


def test_without_whole_plots_a_difference_of_nothing_is_found_far_too_often():
    def found(places):
        pairs = [(0, 3), (1, 4), (2, 5)]
        return sum(
            compared(cells(seed), pairs, places, means=[pairs]).means[0].verdict.p < 0.05
            for seed in range(25)
        )

    assert found(None) > 7
    assert found(PLACES) <= 4


def test_holes_are_judged_by_the_blocks_of_each_pair():
    result = compared(cells(missing={(2, 1)}), [(0, 3), (0, 1)])
    assert result.model == Model.PAIRED
    hard, easy = result.comparisons
    assert (hard.df, easy.df) == (BLOCKS - 1, BLOCKS - 2)
    assert hard.sensitivity is None
    assert "unequal_noise" not in hard.verdict.badges


def test_two_whole_plots_a_level_say_nothing_of_the_hard_factor():
    few = [CellRuns(values=cell.values[:2], blocks=cell.blocks[:2]) for cell in cells()]
    hard = compared(few, [(0, 3)]).comparisons[0]
    assert hard.verdict.reason in ("whole_plots", "n_below_minimum")
    assert str(hard.verdict.word) == "not_enough_data"
