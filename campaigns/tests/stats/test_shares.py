import pytest

from campaigns.stats.comparison_cells import failed_share


def test_failed_shares_are_as_published(golden):
    rows = golden("k")["datasets"]["failed_share"]["expected"]

    assert len(rows) == 5
    for row in rows:
        found = failed_share(row["failed"], row["units"])
        assert found.share == pytest.approx(row["share"], rel=1e-8)
        assert found.design_effect == pytest.approx(row["phi"], rel=1e-8)
        assert found.effective_n == pytest.approx(row["n_eff"], rel=1e-8)
        assert list(found.ci) == pytest.approx(row["ci"], rel=1e-8, abs=1e-12)
        assert found.within_run is (row["scope"] == "within_run")


def test_failures_in_few_runs_are_called_clumped():
    found = failed_share([2, 40, 5, 1, 30], [500] * 5)

    assert found.clumped
    assert found.runs_with_failures == 5
    assert not failed_share([12, 9, 15], [500] * 3).clumped


def test_runs_without_units_are_left_out():
    assert failed_share([0, 3], [0, 100]).n == 1
    assert failed_share([], []) is None
    assert failed_share([0], [0]) is None


def test_more_failed_units_than_units_are_refused():
    with pytest.raises(ValueError, match="more failed units"):
        failed_share([5], [4])


def test_all_failed_stays_within_bounds():
    found = failed_share([10, 20], [10, 20])

    assert found.share == 1
    assert 0 < found.ci.low < found.ci.high == 1
