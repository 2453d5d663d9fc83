import math

import numpy as np
import pytest
from scipy import stats

from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.logs import pct_of
from campaigns.stats.power import design_of_blocks, detectable_by, required_n
from campaigns.stats.verdict import judge, p_value

DATASETS = ["complete_6x5", "incomplete_6x5", "blocks_of_two"]


@pytest.fixture
def fitted(golden):
    """Fit a golden dataset: levels, fit, and what is expected."""

    def fit(name):
        dataset = golden("j")["datasets"][name]
        levels = list(dict.fromkeys(sorted((row["level"] for row in dataset["rows"]), key=_order)))
        runs = [
            BlockRun(levels.index(row["level"]), row["block"], row["value"])
            for row in dataset["rows"]
        ]
        return [str(level) for level in levels], fit_blocks(runs, len(levels)), dataset["expected"]

    return fit


def _order(level):
    return (isinstance(level, str), level)


def near(expected):
    return pytest.approx(expected, rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("name", DATASETS)
def test_noise_and_rank_are_as_published(fitted, name):
    levels, found, expected = fitted(name)

    assert (found.rank, found.fit.df) == (expected["rank"], expected["df"])
    assert found.fit.complete is expected["complete"]
    assert found.fit.sd == near(expected["sd_within_block_log"])
    assert found.block_sd == near(expected["block_sd_log"])
    effects = {str(b): pct_of(float(e)) for b, e in zip(found.blocks, found.effects, strict=True)}
    assert effects == near(expected["block_effects_pct"])
    means = {level: math.exp(mean) for level, mean in zip(levels, found.fit.means, strict=True)}
    assert means == near(expected["adjusted_means"])


@pytest.mark.parametrize("name", DATASETS)
def test_the_intervals_for_reading_are_as_published(fitted, name):
    levels, found, expected = fitted(name)

    for cell, level in enumerate(levels):
        interval = found.fit.reading_interval(cell, 0.05)
        assert list(interval) == near(expected["reading_ci"][level])


@pytest.mark.parametrize("name", DATASETS)
def test_contrasts_are_as_published(fitted, name):
    levels, found, expected = fitted(name)

    for key, wanted in expected["contrasts"].items():
        baseline, candidate = (levels.index(level) for level in key.split("->"))
        contrast = found.fit.contrast(baseline, candidate)
        verdict = judge(contrast, lower_is_better=True, p_adjusted=wanted["p_holm"])
        assert contrast.estimate == near(wanted["est_log"])
        assert contrast.standard_error == near(wanted["se"])
        assert p_value(contrast) == near(wanted["p"])
        assert list(verdict.ci_pct) == near(wanted["ci_pct"])
        assert verdict.word == wanted["verdict"]
        assert found.fit.effective_n(baseline, candidate) == near(wanted["n_eff"])
        mde = detectable_by(contrast.standard_error, contrast.df)
        assert mde == pytest.approx(wanted["mde_pct"], rel=1e-7)


@pytest.mark.parametrize("name", DATASETS)
def test_the_blocks_that_a_change_requires_are_as_published(fitted, name):
    levels, found, expected = fitted(name)
    design = design_of_blocks(len(levels))

    for delta, blocks in expected["required_blocks"].items():
        share = float(delta.rstrip("%")) / 100
        assert required_n(found.fit.sd, design=design, delta=share) == blocks


def test_blocks_of_two_are_the_paired_t_test(fitted):
    _, found, expected = fitted("blocks_of_two")
    contrast = found.fit.contrast(0, 1)

    assert contrast.estimate / contrast.standard_error == near(expected["paired_t"])
    assert p_value(contrast) == near(expected["paired_p"])
    assert found.fit.sd * math.sqrt(2) == near(expected["sd_log_ratio"])


def test_cells_that_never_share_a_block_are_not_compared(fitted):
    levels, found, expected = fitted("disconnected")
    groups = [
        [level for level, group in zip(levels, found.fit.groups, strict=True) if group == number]
        for number in (0, 1)
    ]

    assert (found.rank, found.fit.df) == (expected["rank"], expected["df"])
    assert groups == expected["groups"]
    assert found.fit.contrast(levels.index("b"), levels.index("c")) is None
    contrast = found.fit.contrast(levels.index("a"), levels.index("b"))
    assert contrast.n == 2
    assert contrast.estimate == pytest.approx(
        np.mean([math.log(11.0 / 10.0), math.log(11.2 / 10.5)])
    )


def test_the_drift_of_blocks_is_as_published(fitted):
    for name in DATASETS:
        _, found, expected = fitted(name)
        tau = stats.kendalltau(found.blocks, found.effects)
        assert tau.statistic == near(expected["drift_block_effects"]["kendall_tau"])
        assert tau.pvalue == near(expected["drift_block_effects"]["p"])


def test_the_order_of_the_runs_does_not_matter(golden, fitted):
    _, found, _ = fitted("incomplete_6x5")
    rows = golden("j")["datasets"]["incomplete_6x5"]["rows"]
    levels = sorted({row["level"] for row in rows})
    shuffled = [rows[i] for i in np.random.default_rng(3).permutation(len(rows))]

    again = fit_blocks(
        [BlockRun(levels.index(r["level"]), r["block"], r["value"]) for r in shuffled], len(levels)
    )

    assert again.fit.means == pytest.approx(found.fit.means, rel=1e-12)
    assert again.fit.sd == pytest.approx(found.fit.sd, rel=1e-10)


def test_a_design_that_is_kept_is_not_changed_by_a_fit():
    runs = [BlockRun(cell, block, 5.0 + cell * block) for cell in range(3) for block in range(4)]

    first, again = fit_blocks(runs, 3), fit_blocks(runs, 3)

    assert not first.fit.groups.flags.writeable
    assert np.array_equal(first.fit.covariance, again.fit.covariance)
    assert np.array_equal(first.effects, again.effects)


def test_equal_values_have_no_noise_at_all():
    runs = [BlockRun(cell, block, 5.0 + cell) for cell in range(3) for block in range(4)]

    found = fit_blocks(runs, 3)

    assert found.fit.sd == 0
    assert found.fit.contrast(0, 1).estimate == pytest.approx(math.log(6 / 5))
    assert found.efficiency is None


def test_one_run_a_cell_has_no_noise_to_judge_by():
    found = fit_blocks([BlockRun(0, 1, 1.0), BlockRun(1, 1, 2.0)], 2)

    assert found.fit.df == 0
    assert found.fit.contrast(0, 1) is None
    assert found.fit.reading_interval(0, 0.05) is None


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_values_without_a_log_are_refused(value):
    with pytest.raises(ValueError, match="above 0"):
        fit_blocks([BlockRun(0, 1, 1.0), BlockRun(1, 1, value)], 2)


def test_a_cell_without_runs_is_refused():
    with pytest.raises(ValueError, match="Every cell"):
        fit_blocks([BlockRun(0, 1, 1.0)], 2)


def test_nothing_is_fitted_to_nothing():
    assert fit_blocks([], 0) is None


def test_blocks_pay_where_they_differ():
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.02, (6, 4))

    def found(block_sd):
        effects = rng.normal(0, block_sd, 6)
        return fit_blocks(
            [
                BlockRun(cell, block, math.exp(effects[block] + noise[block, cell]))
                for block in range(6)
                for cell in range(4)
            ],
            4,
        ).efficiency

    assert found(0.2) > 5 > found(0.0)
