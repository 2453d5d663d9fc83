import pytest

from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.logs import pct_of
from campaigns.stats.split_plots import PlotRun, fit_split_plot
from campaigns.stats.verdict import judge, p_value


@pytest.fixture
def published(golden):
    return golden("j")["datasets"]["split_plot_2x3x4"]


@pytest.fixture
def runs(published):
    hard, easy = ["8GiB", "16GiB"], [4, 8, 16]
    return [
        PlotRun(row["block"], hard.index(row["memory"]), easy.index(row["threads"]), row["value"])
        for row in published["rows"]
    ]


def test_noise_of_both_kinds_is_as_published(published, runs):
    expected = published["expected"]

    found = fit_split_plot(runs)

    assert found.logs.shape == (expected["r"], expected["a"], expected["b"])
    assert found.whole == pytest.approx(expected["ms_whole_plot"], rel=1e-8)
    assert found.sub == pytest.approx(expected["ms_sub_plot"], rel=1e-8)
    assert (found.whole_df, found.sub_df) == (expected["df_whole_plot"], expected["df_sub_plot"])


def test_contrasts_are_as_published(published, runs):
    fit = fit_split_plot(runs)
    found = {
        "memory 8GiB->16GiB": fit.of_hard(0, 1),
        "threads 4->8": fit.of_easy(0, 1),
        "threads 8->16": fit.of_easy(1, 2),
        "memory at threads=16": fit.of_hard_at(2, 0, 1),
    }

    for name, expected in published["expected"]["contrasts"].items():
        contrast = found[name]
        assert contrast.estimate == pytest.approx(expected["est_log"], rel=1e-8)
        assert contrast.standard_error == pytest.approx(expected["se"], rel=1e-8)
        assert contrast.df == pytest.approx(expected["df"], rel=1e-8)
        assert p_value(contrast) == pytest.approx(expected["p"], rel=1e-8)
        assert pct_of(contrast.estimate) == pytest.approx(expected["pct_change"], rel=1e-8)
        interval = judge(contrast, lower_is_better=True).ci_pct
        assert list(interval) == pytest.approx(expected["ci_pct"], rel=1e-8)


def test_the_hard_factor_is_not_judged_by_the_noise_within_plots(published, runs):
    wrong = published["expected"]["not_this"]["memory_tested_against_sub_plot_error_p"]

    assert p_value(fit_split_plot(runs).of_hard(0, 1)) > 10 * wrong


def test_it_is_the_block_model_on_the_means_of_whole_plots(runs):
    fit = fit_split_plot(runs)
    plots = fit.logs.mean(axis=2)
    found = fit_blocks(
        [
            BlockRun(hard, block, float(2.718281828459045**log))
            for block, row in enumerate(plots)
            for hard, log in enumerate(row)
        ],
        2,
    )

    contrast = found.fit.contrast(0, 1)

    assert contrast.standard_error == pytest.approx(fit.of_hard(0, 1).standard_error)
    assert contrast.df == fit.of_hard(0, 1).df


def test_two_whole_plots_say_nothing_of_the_hard_factor(runs):
    fit = fit_split_plot([run for run in runs if run.block in (1, 2)])

    assert fit.of_hard(0, 1) is None
    assert fit.of_hard_at(0, 0, 1) is None
    assert fit.of_easy(0, 1) is not None


def test_holes_are_no_split_plot(runs):
    assert fit_split_plot(runs[1:]) is None
    assert fit_split_plot([]) is None


def test_a_run_twice_is_no_complete_plan(runs):
    assert fit_split_plot([*runs[1:], runs[5]]) is None


def test_values_without_a_log_are_refused():
    with pytest.raises(ValueError, match="above 0"):
        fit_split_plot([PlotRun(1, 0, 0, 0.0)])


def test_a_mean_of_pairs_has_the_noise_that_its_levels_have(runs):
    fit = fit_split_plot(runs)
    a, b = fit.logs.shape[1:]
    over_all = fit.of([((0, easy), (1, easy)) for easy in range(b)])
    for general, special in (
        (over_all, fit.of_hard(0, 1)),
        (fit.of([((0, 1), (1, 1))]), fit.of_hard_at(1, 0, 1)),
        (fit.of([((hard, 0), (hard, 1)) for hard in range(a)]), fit.of_easy(0, 1)),
    ):
        assert general.estimate == pytest.approx(special.estimate)
        assert general.standard_error == pytest.approx(special.standard_error)
        assert general.df == pytest.approx(special.df)
        assert general.n == special.n
    within = fit.of([((0, 0), (0, 1))])
    assert within.df == pytest.approx(fit.sub_df)
    assert within.standard_error == pytest.approx((2 * fit.sub / fit.blocks) ** 0.5)
