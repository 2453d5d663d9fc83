import numpy as np
import pytest
from scipy import stats

from campaigns.stats.kendall import kendall

LIGHTNESS = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
PANEL = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
"""The tuna of Hollander, Wolfe and Chicken, example 8.1."""


def test_tau_is_scipys_with_ties_and_without():
    rng = np.random.default_rng(1)
    levels = np.repeat([3, 5, 8, 12], 5)
    shares = levels / 20 + rng.normal(0, 0.2, levels.size).round(1)
    for x, y in ((LIGHTNESS, PANEL), (levels, shares)):
        found = kendall(list(x), list(y), 0.05)
        assert found is not None
        assert found.tau == pytest.approx(stats.kendalltau(x, y).statistic)


def test_the_interval_is_that_of_the_formula():
    n = len(PANEL)
    counts = [
        sum(np.sign((LIGHTNESS[i] - LIGHTNESS[j]) * (PANEL[i] - PANEL[j])) for j in range(n))
        for i in range(n)
    ]
    spread = sum((count - np.mean(counts)) ** 2 for count in counts)
    tau = 4 / 9
    variance = 2 / (n * (n - 1)) * (2 * (n - 2) / (n * (n - 1) ** 2) * spread + 1 - tau**2)

    found = kendall(LIGHTNESS, PANEL, 0.10)

    assert found is not None
    assert found.tau == pytest.approx(tau)
    half = 1.6448536 * variance**0.5
    assert found.interval == pytest.approx((tau - half, min(tau + half, 1)))


def test_the_interval_holds_tau_and_covers_it():
    rng = np.random.default_rng(7)
    truth = 2 / np.pi * np.arcsin(0.5)  # of a normal distribution with correlation 0.5
    within = 0
    for _ in range(300):
        x = rng.normal(size=30)
        y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=30)
        found = kendall(x.tolist(), y.tolist(), 0.05)
        assert found is not None
        assert found.interval is not None
        assert -1 <= found.interval.low <= found.tau <= found.interval.high <= 1
        within += found.interval.low <= truth <= found.interval.high
    assert 0.90 <= within / 300 <= 0.99


def test_few_pairs_in_order_are_no_proof():
    four = kendall([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], 0.05)
    assert four is not None
    assert (four.tau, four.interval) == (1, None)
    assert four.p == pytest.approx(2 / 24)

    twos = kendall([1, 1, 2, 2], [0.1, 0.2, 0.3, 0.4], 0.05)
    assert twos is not None
    assert twos.interval is not None
    assert twos.interval.low > 0
    assert twos.p == pytest.approx(1 / 3)


def test_the_probability_is_scipys_without_ties_and_near_that_of_ranks_with():
    rng = np.random.default_rng(3)
    for n in range(4, 31):
        x, y = rng.permutation(n).astype(float), np.arange(n) + rng.normal(0, n / 2, n)
        found = kendall(x.tolist(), y.tolist(), 0.05)
        assert found is not None
        exact = stats.kendalltau(x, y, method="exact").pvalue
        assert found.p == pytest.approx(exact, abs=1e-9 if n <= 8 else 0.01)

    apart = kendall([1] * 7 + [2] * 2, list(range(9)), 0.05)  # two of nine are the largest
    assert apart is not None
    assert apart.p == pytest.approx(2 / 36, abs=0.005)


def test_without_variation_or_with_few_pairs_there_is_none():
    assert kendall([1, 2, 3], [1, 2, 3], 0.05) is None
    assert kendall([1, 1, 1, 1], [1, 2, 3, 4], 0.05) is None
    assert kendall([1, 2, 3, 4], [0.5] * 4, 0.05) is None
