import numpy as np
import pytest

from campaigns.stats import validity
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.neighbours import expected_correlation, left_of
from campaigns.stats.validity import Outcome


def flagged(check):
    return check.outcome == Outcome.WARN


def test_residuals_of_independent_runs_are_not_called_alike():
    rng = np.random.default_rng(4)
    alarms, before = 0, 0
    for _ in range(200):
        order = [int(cell) for _ in range(10) for cell in rng.permutation(6)]
        places = [place // 6 for place in range(60)]
        runs = [
            BlockRun(c, b, float(np.exp(rng.normal()))) for c, b in zip(order, places, strict=True)
        ]
        residuals = list(fit_blocks(runs, 6).residuals)
        before += flagged(validity.autocorrelation(residuals))
        alarms += flagged(validity.autocorrelation(residuals, expected_correlation(order, places)))

    assert before / 200 > 0.15
    assert alarms / 200 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_what_neighbours_share_by_construction_is_the_mean_of_simulations():
    rng = np.random.default_rng(7)
    cells = [0, 1, 2, 2, 0, 1, 1, 2, 0, 0, 1]
    blocks = [4, 4, 4, 5, 5, 5, 9, 9, 9, 10, 10]
    design = np.array([[c == i for i in range(3)] + [b == k for k in (4, 5, 9, 10)]
                       for c, b in zip(cells, blocks, strict=True)], dtype=float)  # fmt: skip
    left = np.eye(11) - design @ np.linalg.pinv(design)
    noise = rng.normal(size=(20_000, 11)) @ left
    simulated = (noise[:, :-1] * noise[:, 1:]).sum() / np.square(noise).sum()

    assert expected_correlation(cells, blocks) == pytest.approx(simulated, abs=0.01)
    assert expected_correlation([0, 0, 0, 1, 1, 1]) == pytest.approx(-1 / 3)
    assert expected_correlation([0, 1]) == 0


def test_what_is_left_of_a_series_is_what_least_squares_leaves():
    rng = np.random.default_rng(2)
    cells = [int(cell) for _ in range(4) for cell in rng.permutation(3)][:-1]
    blocks = [place // 3 for place in range(11)]
    runs = [BlockRun(c, b, float(np.exp(rng.normal()))) for c, b in zip(cells, blocks, strict=True)]
    fitted = fit_blocks(runs, 3)

    left, df = left_of([float(np.log(run.value)) for run in runs], cells, blocks)

    assert left == pytest.approx(fitted.residuals)
    assert df == fitted.fit.df


def test_the_order_in_blocks_of_independent_runs_raises_few_alarms():
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(600):
        cells = [int(cell) for _ in range(3) for cell in rng.permutation(6)]
        blocks = [place // 6 for place in range(18)]
        runs = [
            BlockRun(c, b, float(np.exp(rng.normal()))) for c, b in zip(cells, blocks, strict=True)
        ]
        fitted = fit_blocks(runs, 6)
        positions, df = left_of([place % 6 for place in range(18)], cells, blocks)
        alarms += flagged(validity.order_in_block(fitted.residuals, positions, df))

    assert alarms / 600 == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 600))


def test_thousands_of_blocks_are_judged_as_quickly_as_a_few():
    rng = np.random.default_rng(3)
    cells, blocks = list(range(2)) * 4000, [place // 2 for place in range(8000)]
    values = np.exp(rng.normal(size=8000))

    fit = fit_blocks([BlockRun(*one) for one in zip(cells, blocks, values, strict=True)], 2)
    differences = np.log(values[1::2] / values[::2])
    left, df = left_of(np.log(values), cells, blocks)

    assert fit.fit.means[1] - fit.fit.means[0] == pytest.approx(differences.mean())
    assert fit.fit.sd == pytest.approx(differences.std(ddof=1) / np.sqrt(2))
    assert left == pytest.approx(fit.residuals)
    assert df == fit.fit.df == 3999
    assert expected_correlation(cells, blocks) == pytest.approx(-0.5, abs=1e-3)
