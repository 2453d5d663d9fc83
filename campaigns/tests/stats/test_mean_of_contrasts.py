import math

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.compared import Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.mean_of_contrasts import mean_of
from campaigns.stats.paired import compare_strata
from campaigns.stats.pairs import Pair, Side, Stratum
from campaigns.stats.verdict import Contrast, Word

PAIRS = [(0, 1), (2, 3)]


def cells(sds, n=12, blocks=True, seed=1, change=0.1):
    """Four cells: two baselines, each followed by its candidate."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.1, n) if blocks else np.zeros(n)
    return [
        CellRuns(
            values=list(np.exp(3 + change * (place % 2) + shared + rng.normal(0, sd, n))),
            blocks=list(range(1, n + 1)) if blocks else (),
        )
        for place, sd in enumerate(sds)
    ]


def compared(taken, *, interleaved, mean=PAIRS, wanted=()):
    return compare_cells(taken, wanted, interleaved=interleaved, lower_is_better=True, means=[mean])


def logs_of(taken):
    return np.log([cell.values for cell in taken])


def test_in_blocks_it_is_the_contrast_of_an_analysis_of_variance():
    taken = cells([0.02] * 4)
    logs = logs_of(taken)

    found = compared(taken, interleaved=True)

    mean = found.means[0]
    assert (found.model, mean.df) == (Model.BLOCKS, 33)
    residuals = logs - logs.mean(0) - logs.mean(1)[:, None] + logs.mean()
    sd = math.sqrt((residuals**2).sum() / 33)
    assert mean.standard_error == pytest.approx(sd * math.sqrt(1 / 12))
    by_block = ((logs[1] - logs[0]) + (logs[3] - logs[2])) / 2
    assert math.log(mean.verdict.ratio) == pytest.approx(by_block.mean())
    assert mean.verdict.word == Word.WORSE
    assert mean.verdict.n == 12


def test_unlike_noise_is_judged_by_the_differences_within_blocks():
    taken = cells([0.001, 0.001, 0.4, 0.001], n=20)
    logs = logs_of(taken)

    found = compared(taken, interleaved=True)

    by_block = ((logs[1] - logs[0]) + (logs[3] - logs[2])) / 2
    assert (found.model, found.means[0].model) == (Model.BLOCKS, Model.PAIRED)
    assert found.means[0].verdict.p == pytest.approx(stats.ttest_1samp(by_block, 0).pvalue)
    assert found.means[0].sensitivity.model == Model.BLOCKS


def test_without_blocks_each_pair_has_its_own_noise_where_they_differ():
    taken = cells([0.001, 0.2, 0.03, 0.01], n=20, blocks=False)
    logs = logs_of(taken)

    found = compared(taken, interleaved=False)

    assert found.model == Model.WELCH
    error = math.sqrt(sum(row.var(ddof=1) / 20 for row in logs)) / 2
    assert found.means[0].standard_error == pytest.approx(error)
    assert found.means[0].ranks is None


def test_one_pair_is_that_pair():
    taken = cells([0.02] * 4)

    found = compared(taken, interleaved=True, mean=[(0, 1)], wanted=[(0, 1)])

    assert found.means[0].verdict.ratio == found.comparisons[0].verdict.ratio
    assert found.means[0].standard_error == found.comparisons[0].standard_error


def test_it_is_one_test_beside_the_family_of_pairs():
    taken = cells([0.05] * 4, change=0.02)

    found = compared(taken, interleaved=True, wanted=PAIRS)

    assert found.means[0].verdict.p_adjusted == found.means[0].verdict.p
    smallest = min(each.verdict.p for each in found.comparisons)
    adjusted = min(each.verdict.p_adjusted for each in found.comparisons)
    assert adjusted == pytest.approx(min(1, 2 * smallest))


def test_a_pair_that_may_not_be_judged_takes_the_mean_with_it():
    taken = cells([0.02] * 4)
    taken[3] = CellRuns(values=taken[3].values[:2], blocks=(1, 2), failed=10)

    found = compared(taken, interleaved=True).means[0]

    assert found.verdict.word == Word.TOO_MANY_FAILURES
    assert found.standard_error is None


def test_pairs_that_share_no_block_are_not_connected():
    values = [10.0, 11.0, 10.5, 11.5]
    taken = [CellRuns(values=values, blocks=blocks) for blocks in ([1, 2, 3, 4], [5, 6, 7, 8])]
    taken += [CellRuns(values=values, blocks=[1, 2, 3, 4]) for _ in range(2)]

    found = compared(taken, interleaved=True).means[0]

    assert (found.verdict.word, found.verdict.reason) == (Word.NOT_ENOUGH_DATA, "not_connected")


def test_a_mean_over_strata_is_one_test():
    rng = np.random.default_rng(1)
    side = Side(key={})

    def stratum(name, n, sd):
        pairs = [
            Pair(10.0, float(10 * math.exp(0.05 + rng.normal(0, sd))), False) for _ in range(n)
        ]
        return Stratum(name, pairs, 0, 0, side, side)

    strata = [stratum("a", 8, 0.01), stratum("b", 6, 0.05)]
    logs = [np.log([pair.candidate / pair.baseline for pair in each.pairs]) for each in strata]

    found = compare_strata(strata, lower_is_better=True, criteria=Criteria(), together=[0, 1])

    mean = found.together
    variances = [log.var(ddof=1) / log.size for log in logs]
    assert mean.contrast.standard_error == pytest.approx(math.sqrt(sum(variances)) / 2)
    df = sum(variances) ** 2 / (variances[0] ** 2 / 7 + variances[1] ** 2 / 5)
    assert mean.contrast.df == pytest.approx(df)
    assert mean.verdict.word == Word.WORSE
    assert mean.verdict.p_adjusted is None
    assert compare_strata(strata, lower_is_better=True).together is None


def test_without_noise_the_freedoms_add_up():
    still = Contrast(0.1, 0.0, 4, 5)

    found = mean_of([still, still])

    assert (found.standard_error, found.df, found.n) == (0.0, 8, 5)
    assert mean_of([]) is None
