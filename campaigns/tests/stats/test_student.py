import pytest
from scipy import stats

from campaigns.stats import student


@pytest.mark.parametrize("df", [1, 2, 3.7, 20, 1000, 1e6])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.95, 0.975, 0.9825])
def test_quantiles_and_tails_are_those_of_scipy(share, df):
    t = student.quantile(share, df)

    assert t == stats.t.ppf(share, df)
    assert student.upper_tail(t, df) == stats.t.sf(t, df)
