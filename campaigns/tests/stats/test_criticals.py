import numpy as np
import pytest
from scipy import stats

from campaigns.stats.best import one_sided_dunnett


def test_critical_values_are_as_published(golden):
    rows = golden("k")["datasets"]["critical_values"]["expected"]

    assert len(rows) == 9
    for row in rows:
        found = one_sided_dunnett(row["k"], row["df"], 0.05, row["rho"])
        assert found == pytest.approx(row["d"], abs=1e-5)


def test_one_comparison_is_students_t():
    assert one_sided_dunnett(1, 7, 0.05) == pytest.approx(stats.t.ppf(0.95, 7))


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_it_lies_between_one_comparison_and_bonferroni(rho):
    found = one_sided_dunnett(8, 12, 0.05, rho)

    assert stats.t.ppf(0.95, 12) - 1e-5 <= found <= stats.t.ppf(1 - 0.05 / 8, 12)


def test_it_covers_as_often_as_it_says():
    rng = np.random.default_rng(11)
    count, df, draws = 4, 9, 200_000
    common = rng.normal(size=(draws, 1))
    own = rng.normal(size=(draws, count))
    scale = np.sqrt(rng.chisquare(df, size=(draws, 1)) / df)
    largest = ((np.sqrt(0.5) * own + np.sqrt(0.5) * common) / scale).max(axis=1)

    share = (largest <= one_sided_dunnett(count, df)).mean()

    assert share == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / draws))


@pytest.mark.parametrize(("comparisons", "df"), [(0, 5), (3, 0)])
def test_nothing_to_compare_is_refused(comparisons, df):
    with pytest.raises(ValueError, match="needs"):
        one_sided_dunnett(comparisons, df)
