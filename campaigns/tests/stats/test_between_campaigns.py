import numpy as np
import pytest

from campaigns.stats.between_campaigns import between, over_cells
from campaigns.stats.compared import Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.pooled import welch
from campaigns.stats.verdict import Word, interval_of

RNG = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def same_numbers():
    """Let no test depend on those before it."""
    RNG.bit_generator.state = np.random.default_rng(4).bit_generator.state


def cell(values, blocks=None):
    return CellRuns(values=list(values), blocks=list(blocks or range(1, len(values) + 1)))


def drawn(mean, n, sd=0.03, shared=None):
    noise = RNG.normal(0, sd, n) if shared is None else RNG.normal(0, sd, n) + shared
    return mean * np.exp(noise)


def test_cells_that_stand_alone_are_compared_by_welch_however_many_there_are():
    cells = [cell(drawn(mean, 5)) for mean in (10, 20, 30, 9, 18, 27)]

    found = compare_cells(
        cells, [(0, 3), (1, 4)], interleaved=False, lower_is_better=True, alone=True
    )

    assert found.model == Model.WELCH
    contrast = welch(np.log(cells[0].array), np.log(cells[3].array))
    bounds = interval_of(contrast, 0.05)
    assert found.comparisons[0].verdict.ci_pct.low == pytest.approx(100 * np.expm1(bounds.low))


def test_the_interval_over_cells_without_blocks_is_that_of_independent_cells():
    pairs = [(cell(drawn(10, 6)), cell(drawn(9, 6))), (cell(drawn(40, 6)), cell(drawn(36, 6)))]

    found = over_cells(pairs, in_blocks=(False, False))

    logs = [[np.log(each.array) for each in pair] for pair in pairs]
    assert found.geometric_pct == pytest.approx(
        100 * np.expm1(np.mean([c.mean() - b.mean() for b, c in logs]))
    )
    variance = sum(side.var(ddof=1) / 6 for pair in logs for side in pair) / 4
    half = np.log1p(found.ci_pct.high / 100) - np.log1p(found.geometric_pct / 100)
    assert 2.0 < half / variance**0.5 < 2.6
    assert found.low_pct <= found.geometric_pct <= found.high_pct


def test_what_a_block_did_to_all_its_cells_is_not_averaged_away():
    shared = RNG.normal(0, 0.2, 8)
    pairs = [
        (cell(drawn(mean, 8, 0.01, shared)), cell(drawn(mean, 8, 0.01)))
        for mean in (10, 20, 30, 40)
    ]

    naive = over_cells(pairs, in_blocks=(False, False)).ci_pct
    honest = over_cells(pairs, in_blocks=(True, True)).ci_pct

    assert honest.high - honest.low > 1.5 * (naive.high - naive.low)


def test_with_every_cell_in_every_block_it_is_the_variance_of_the_means_of_blocks():
    base = [cell(drawn(10, 5)), cell(drawn(20, 5))]
    same = [cell([7.0] * 5), cell([7.0] * 5)]

    found = over_cells(list(zip(base, same, strict=True)), in_blocks=(True, True))

    means = np.mean([np.log(each.array) for each in base], axis=0)
    half = np.log1p(found.ci_pct.high / 100) - np.log1p(found.geometric_pct / 100)
    t_of_4 = 2.7764451
    assert half == pytest.approx(t_of_4 * means.std(ddof=1) / 5**0.5, rel=1e-6)


def test_blocks_with_holes_still_give_an_interval():
    pairs = [
        (cell(drawn(10, 4)), cell(drawn(9, 4), [1, 2, 3, 4])),
        (cell(drawn(20, 4)), cell(drawn(18, 3), [1, 3, 5])),
    ]

    assert over_cells(pairs, in_blocks=(True, True)).ci_pct is not None


def test_one_cell_and_cells_without_values_have_no_average():
    good, empty = cell([1.0, 2.0]), cell([])

    assert over_cells([(good, good)], in_blocks=(True, True)) is None
    assert over_cells([(good, good), (good, empty)], in_blocks=(True, True)) is None
    assert over_cells([(good, cell([1.0])), (good, good)], in_blocks=(False, False)).ci_pct is None


def in_sessions(*sessions):
    return CellRuns(
        values=[value for values in sessions for value in values],
        sessions=[number for number, values in enumerate(sessions) for _ in values],
    )


def judged(baseline, candidate, **options):
    options.setdefault("lower_is_better", True)
    (found,) = compare_cells(
        [baseline, candidate], [(0, 1)], interleaved=False, alone=True, **options
    ).comparisons
    return found.verdict


def test_two_sessions_on_a_side_are_too_few_for_an_interval_between_them():
    session = [10.0, 10.1, 9.9]

    assert between(in_sessions(*[session] * 2), in_sessions(*[session] * 5)) is None


def test_sessions_that_differ_hide_what_the_runs_alone_would_show():
    base = [[10.0 * factor, 10.1 * factor] for factor in (1.0, 1.3, 0.8)]
    candidate = [[0.9 * value for value in each] for each in base]

    verdict = judged(in_sessions(*base), in_sessions(*candidate))

    assert (verdict.word, verdict.n) == (Word.NOT_ENOUGH_DATA, 3)


def test_sessions_that_agree_give_the_word():
    base = [[10.0, 10.1], [10.1, 10.1], [9.9, 10.0]]
    half = [[value / 2 for value in each] for each in base]

    assert judged(in_sessions(*base), in_sessions(*half), lower_is_better=False).word == Word.WORSE


def test_two_sessions_of_a_cell_that_differ_leave_the_word_open():
    once = in_sessions([5.0, 5.1, 4.9, 5.0])
    twice = in_sessions([10.0, 10.1, 9.9, 10.0], [8.0, 8.1, 7.9, 8.0])
    alike = in_sessions([10.0, 10.1, 9.9, 10.0], [10.1, 10.0, 10.0, 9.9])

    open_one, settled = judged(once, twice), judged(once, alike)

    assert (open_one.word, open_one.reason) == (Word.NOT_ENOUGH_DATA, "sessions_disagree")
    assert settled.word == Word.WORSE


def test_over_cells_it_is_sessions_that_are_the_sample_where_each_cell_has_three():
    factors = (1.0, 1.2, 0.9)
    base = [in_sessions(*([10.0 * f, 10.1 * f, 9.9 * f] for f in factors)) for _ in range(2)]
    candidate = [in_sessions(*([9.0, 9.1, 8.9],) * 3) for _ in range(2)]
    runs = [(CellRuns(b.values), CellRuns(c.values)) for b, c in zip(base, candidate, strict=True)]

    between_them = over_cells(list(zip(base, candidate, strict=True)), in_blocks=(False, False))
    by_runs = over_cells(runs, in_blocks=(False, False))

    assert by_runs.ci_pct.high < 0
    assert between_them.ci_pct.high > 0
