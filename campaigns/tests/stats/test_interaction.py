"""Against the textbook: F of the two-way analysis of variance, from sums of squares."""

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.matrix import find_interaction
from campaigns.stats.pooled import fit_pooled

ROWS, COLUMNS, RUNS = 3, 4, 5
AT = [(row, column) for row in range(ROWS) for column in range(COLUMNS)]


def logs(interaction=0.0, noise=0.05, seed=1):
    rng = np.random.default_rng(seed)
    return [
        0.3 * row - 0.2 * column + interaction * row * column + noise * rng.standard_normal(RUNS)
        for row, column in AT
    ]


def judged(fit, at=AT, places=None):
    return find_interaction(
        fit,
        [row for row, _ in at],
        [column for _, column in at],
        places=range(len(at)) if places is None else places,
    )


def test_it_is_the_f_of_the_two_way_analysis_of_variance():
    samples = logs(interaction=0.01)
    means = np.array([sample.mean() for sample in samples]).reshape(ROWS, COLUMNS)
    rest = means - means.mean(0) - means.mean(1)[:, None] + means.mean()
    within = sum(((sample - sample.mean()) ** 2).sum() for sample in samples)
    df, noise_df = (ROWS - 1) * (COLUMNS - 1), ROWS * COLUMNS * (RUNS - 1)
    expected = (RUNS * (rest**2).sum() / df) / (within / noise_df)

    found = judged(fit_pooled(samples))

    assert found.f == pytest.approx(expected, rel=1e-9)
    assert (found.df, found.noise_df) == (df, noise_df)
    assert found.p == pytest.approx(stats.f.sf(expected, df, noise_df), rel=1e-9)


def test_blocks_take_their_share_of_the_noise_away():
    samples = logs(interaction=0.06)
    shifts = np.array([0.0, 1.0, -1.0, 2.0, 0.5])
    runs = [
        BlockRun(cell, block, float(np.exp(value + shifts[block])))
        for cell, sample in enumerate(samples)
        for block, value in enumerate(sample)
    ]

    by_blocks = judged(fit_blocks(runs, len(AT)).fit)
    without = judged(fit_pooled([sample + shifts for sample in samples]))

    assert by_blocks.p < 1e-6
    assert without.p > 0.5


def test_it_holds_its_level_where_nothing_interacts():
    rejected = sum(judged(fit_pooled(logs(seed=seed))).p < 0.05 for seed in range(400))

    assert stats.binomtest(rejected, 400, 0.05).pvalue > 0.001


def test_cells_that_are_missing_leave_fewer_contrasts():
    samples = logs(interaction=0.05)
    kept = [place for place, at in enumerate(AT) if at not in ((0, 3), (2, 0))]

    found = judged(fit_pooled(samples), [AT[place] for place in kept], kept)

    assert found.df == 4
    assert found.p < 0.001


def test_rows_without_two_common_columns_have_nothing_to_test():
    samples = logs()
    kept = [0, 1, 6, 7]

    assert judged(fit_pooled(samples), [AT[place] for place in kept], kept) is None


def test_without_noise_there_is_no_test():
    samples = [np.full(3, float(row - column)) for row, column in AT]

    assert judged(fit_pooled(samples)) is None
