import numpy as np
import pytest

from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.resamples import WholeBlocks, WithinLevels, of_blocks, of_levels

RNG = np.random.default_rng(5)


def test_levels_of_five_runs_are_drawn_from_themselves_as_wide_as_their_noise():
    levels = [RNG.normal(level, 0.1, 5 + level) for level in range(3)]
    resampler = of_levels(levels)
    assert isinstance(resampler, WithinLevels)

    draws = list(resampler.draws(200, 1))

    for level, values in enumerate(levels):
        drawn = np.array([draw.logs[draw.cells == level] for draw in draws])
        assert drawn.shape == (200, values.size)
        wide = values.mean() + (values - values.mean()) * np.sqrt(values.size / (values.size - 1))
        assert set(drawn.ravel()) == set(wide)
        assert wide.std() == pytest.approx(values.std(ddof=1))
        counts = [(drawn == value).mean() for value in wide]
        assert np.allclose(counts, 1 / values.size, atol=0.06)


def test_twelve_blocks_are_drawn_whole_and_leave_no_cell_empty():
    runs = [BlockRun(cell, block, 1.0 + cell + block / 7) for block in range(12) for cell in (0, 1)]
    runs += [BlockRun(2, block, 3.0 + block / 7) for block in (2, 5)]
    resampler = of_blocks(fit_blocks(runs, 3), runs)
    assert isinstance(resampler, WholeBlocks)

    draws = list(resampler.draws(100, 1))

    assert len(draws) == 100
    for draw in draws:
        counts = np.bincount(draw.cells, minlength=3)
        assert (counts > 0).all()
        assert counts[0] == counts[1] == 12
        assert np.isfinite(draw.means(3)).all()
