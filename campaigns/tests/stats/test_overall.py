import numpy as np
import pytest
from scipy import stats

from campaigns.stats.overall import over_strata
from campaigns.stats.verdict import p_value


@pytest.fixture
def strata(golden):
    return [
        (np.array(each["futures"]), np.array(each["asyncio"]))
        for each in golden("b")["inputs"].values()
    ]


def test_the_average_of_changes_is_the_published_one(golden, strata):
    published = golden("b")["headline"]

    found = over_strata(strata)

    assert found.average_pct == pytest.approx(published["average_pct_change"], abs=1e-6)
    changes = [100 * (asyncio.mean() / futures.mean() - 1) for futures, asyncio in strata]
    of_spread = stats.t.interval(0.95, 4, np.mean(changes), stats.sem(changes))
    assert list(found.average_ci) == pytest.approx(list(of_spread), rel=1e-8)


def test_where_manifests_differ_they_are_a_sample(strata):
    differing, alike = over_strata(strata), over_strata([strata[0]] * 5)

    assert differing.geometric_ci == differing.sample_ci
    assert alike.geometric_ci == alike.fixed_ci


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("spread", [0.0, 0.03])
def test_the_interval_beside_the_geometric_mean_holds(n, spread):
    rng = np.random.default_rng(n)
    held = []
    for _ in range(400):
        changes = rng.normal(0, spread, 5)
        found = over_strata([(np.ones(n), np.exp(rng.normal(c, 0.03, n))) for c in changes])
        low, high = (np.log1p(bound / 100) for bound in found.geometric_ci)
        held.append(low <= changes.mean() <= high)

    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)


def test_the_geometric_readings_are_as_published(golden, strata):
    published = golden("b")["overall_geometric"]

    found = over_strata(strata)

    assert found.geometric_pct == pytest.approx(published["pct"], rel=1e-8)
    for contrast, interval, expected in (
        (found.fixed, found.fixed_ci, published["fixed_strata"]),
        (found.sample, found.sample_ci, published["random_strata"]),
    ):
        assert contrast.standard_error == pytest.approx(expected["se"], rel=1e-8)
        assert contrast.df == pytest.approx(expected["df"], rel=1e-8)
        assert p_value(contrast) == pytest.approx(expected["p"], rel=1e-8)
        assert list(interval) == pytest.approx(expected["ci_pct"], rel=1e-8)
    assert found.q == pytest.approx(published["cochran_Q"], rel=1e-8)
    assert found.q_p == pytest.approx(published["Q_p"], rel=1e-8)
    assert found.i2 == pytest.approx(published["I2"], rel=1e-8)
    assert found.heterogeneous


def test_the_other_readings_are_as_published(golden, strata):
    published = golden("b")["other_readings"]

    found = over_strata(strata)

    assert found.total_pct == pytest.approx(published["total_time_pct"], rel=1e-8)
    assert found.rate_pct == pytest.approx(published["average_rate_increase_pct"], rel=1e-8)


def test_one_manifest_is_no_sample(strata):
    found = over_strata(strata[:1])

    assert found.sample is None
    assert found.q is None
    assert not found.heterogeneous
    assert found.fixed.df == 9


def test_single_pairs_have_no_noise_of_their_own():
    found = over_strata([(np.array([2.0]), np.array([1.0])), (np.array([2.0]), np.array([1.5]))])

    assert found.fixed is None
    assert found.average_ci is None
    assert found.average_pct == pytest.approx(-37.5)


def test_equal_pairs_raise_nothing():
    still = (np.array([2.0, 2.0]), np.array([1.0, 1.0]))

    found = over_strata([still, still])

    assert found.geometric_pct == pytest.approx(-50)
    assert found.fixed.standard_error == 0
    assert found.q is None


def test_nothing_has_no_overall_number():
    assert over_strata([]) is None
    assert over_strata([(np.empty(0), np.empty(0))]) is None


def test_few_pairs_of_like_manifests_rarely_look_unlike():
    rng = np.random.default_rng(8)
    found = [
        over_strata([(np.ones(3), np.exp(rng.normal(0, 0.03, 3))) for _ in range(5)])
        for _ in range(400)
    ]

    assert np.mean([each.heterogeneous for each in found]) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)
    assert np.mean([each.q_p < 0.05 for each in found]) > 0.2


def test_welchs_test_of_two_manifests_is_that_of_scipy():
    rng = np.random.default_rng(9)
    logs = rng.normal(0, 1, 6), rng.normal(1, 3, 9)

    found = over_strata([(np.ones(each.size), np.exp(each)) for each in logs])

    assert found.differ_p == pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue)
