import numpy as np
import pytest
from scipy import stats

from campaigns.stats.logs import pct_of
from campaigns.stats.pooled import equal_noise, fit_pooled, levene, may_be_pooled, welch
from campaigns.stats.verdict import judge, p_value


@pytest.fixture
def levels(golden):
    rows = golden("a")["rows"]
    found = sorted({row["concurrency"] for row in rows})
    return {
        str(level): np.log([r["duration_s"] for r in rows if r["concurrency"] == level])
        for level in found
    }


def test_the_noise_of_the_published_campaign_is_pooled(golden, levels):
    published = golden("a")

    fit = fit_pooled(list(levels.values()))

    assert may_be_pooled(list(levels.values()))
    assert fit.sd == pytest.approx(published["pooled_sd_log"], rel=1e-9)
    assert fit.df == published["pooled_df"]


def test_pooled_contrasts_are_as_published(golden, levels):
    fit, names = fit_pooled(list(levels.values())), list(levels)

    for key, contrast in golden("a")["contrasts"].items():
        expected = contrast["pooled"]
        found = fit.contrast(*(names.index(level) for level in key.split("->")))
        verdict = judge(found, lower_is_better=True)
        assert pct_of(found.estimate) == pytest.approx(expected["pct"], rel=1e-9)
        assert found.estimate / found.standard_error == pytest.approx(expected["t"], rel=1e-9)
        assert p_value(found) == pytest.approx(expected["p"], rel=1e-9)
        assert list(verdict.ci_pct) == pytest.approx(expected["ci_pct"], rel=1e-9)


def test_welch_is_as_published(golden, levels):
    for key, contrast in golden("a")["contrasts"].items():
        expected = contrast["alone"]["welch_log"]
        found = welch(*(levels[level] for level in key.split("->")))
        assert found.estimate == pytest.approx(expected["est"], rel=1e-9)
        assert found.standard_error == pytest.approx(expected["se"], rel=1e-9)
        assert found.df == pytest.approx(expected["df"], rel=1e-9)
        assert p_value(found) == pytest.approx(expected["p"], rel=1e-9)


def test_welch_agrees_with_scipy_on_unequal_numbers():
    rng = np.random.default_rng(2)
    one, other = rng.normal(0, 1, 4), rng.normal(0.5, 3, 9)

    expected = stats.ttest_ind(other, one, equal_var=False)

    assert p_value(welch(one, other)) == pytest.approx(expected.pvalue, rel=1e-12)


def test_one_value_has_no_noise_of_its_own():
    assert welch(np.log([2.0]), np.log([2.0, 3.0])) is None


def test_equal_values_on_both_sides_differ_without_noise():
    found = welch(np.zeros(3), np.ones(3))

    assert (found.standard_error, found.df) == (0.0, 4)


def test_noise_is_not_pooled_where_it_differs_or_where_there_is_little_of_it():
    rng = np.random.default_rng(4)
    quiet, loud = [rng.normal(0, 0.01, 20) for _ in range(3)], rng.normal(0, 1, 20)

    assert may_be_pooled(quiet)
    assert not may_be_pooled([*quiet, loud])
    assert not may_be_pooled(quiet[:2])
    assert not may_be_pooled([np.array([0.0, 1.0])] * 3)


def test_samples_without_spread_are_equal():
    assert equal_noise([np.zeros(3), np.ones(4)])


def test_a_cell_without_values_is_refused():
    with pytest.raises(ValueError, match="Every cell"):
        fit_pooled([np.zeros(2), np.empty(0)])


def test_levene_is_that_of_scipy_to_the_digit():
    rng = np.random.default_rng(3)
    for cells in range(2, 9):
        for _ in range(20):
            samples = [rng.normal(0, rng.exponential(), rng.integers(1, 14)) for _ in range(cells)]
            assert levene(samples) == stats.levene(*samples).pvalue
