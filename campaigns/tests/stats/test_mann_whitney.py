import numpy as np
import pytest
from scipy import stats

from campaigns.stats.mann_whitney import rank_sum, shift


def samples(golden):
    """Golden pairs of samples with what is published of them."""
    rows = golden("a")["rows"]

    def level(number):
        return [r["duration_s"] for r in rows if str(r["concurrency"]) == number]

    for key, contrast in golden("a")["contrasts"].items():
        yield (*(level(number) for number in key.split("->")), contrast["alone"])
    unequal = golden("g")["unequal_n"]
    yield unequal["base"], unequal["cand"], unequal["expected"]
    raw = golden("c")["raw_cells"]
    yield raw["inputs"]["base"], raw["inputs"]["cand"], raw["expected"]["cand"]


def test_the_test_is_as_published(golden):
    cases = list(samples(golden))

    assert len(cases) == 10
    for base, cand, expected in cases:
        found = rank_sum(np.array(base, dtype=float), np.array(cand, dtype=float))
        assert found.u == expected["mwu"]["U_base"]
        assert found.p == pytest.approx(expected["mwu"]["p"], rel=1e-9)
        attainable = expected["mwu"]["min_attainable_p"]
        assert found.min_attainable_p == pytest.approx(attainable, rel=1e-9)
        assert found.cles == pytest.approx(expected["cles_base_greater"], rel=1e-9)
        assert found.delta == pytest.approx(expected["cliffs_delta"], rel=1e-9)


def test_the_shift_is_as_published(golden):
    for base, cand, expected in samples(golden):
        found = shift(np.log(base), np.log(cand), 0.95)
        published = expected["hl_pct"]
        assert found.pct == pytest.approx(published["est"], rel=1e-9)
        assert found.sufficient is published["sufficient"]
        if published["sufficient"]:
            assert list(found.ci_pct) == pytest.approx([published["lo"], published["hi"]], rel=1e-9)
            assert found.achieved == pytest.approx(published["achieved"], rel=1e-9)


def test_smallest_p_values_are_as_published(golden):
    for key, expected in golden("h")["min_attainable_p"]["mann_whitney"].items():
        m, n = (int(number) for number in key.split("x"))
        found = rank_sum(np.arange(m) + 100.0, np.arange(n) + 1.0)
        assert found.min_attainable_p == pytest.approx(expected, rel=1e-9)
        assert found.p == pytest.approx(expected, rel=1e-9)


def test_without_ties_it_is_exact_at_any_size_up_to_fifty():
    rng = np.random.default_rng(1)
    one, other = rng.normal(0, 1, 10), rng.normal(1.5, 1, 10)

    exact = stats.mannwhitneyu(one, other, method="exact").pvalue

    assert rank_sum(one, other).p == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("base", "cand"), [([1, 2, 2], [2, 3, 4]), ([3, 3, 4, 5], [1, 3])])
def test_with_ties_it_is_what_scipy_finds_by_all_permutations(base, cand):
    one, other = np.array(base, dtype=float), np.array(cand, dtype=float)

    permuted = stats.mannwhitneyu(one, other, method=stats.PermutationMethod()).pvalue

    assert rank_sum(one, other).p == pytest.approx(min(1.0, permuted), rel=1e-12)


@pytest.mark.parametrize(
    ("base", "cand", "p"),
    [([3], [1, 1, 2], 0.5), ([2], [2, 2], 1.0), ([1], [1], 1.0), ([1, 2, 2, 3], [0.5], 0.4)],
)
def test_ties_beside_a_single_value_are_permuted_too(base, cand, p):
    found = rank_sum(np.array(base, dtype=float), np.array(cand, dtype=float))

    assert found.p == pytest.approx(p, rel=1e-12)
    assert found.p >= found.min_attainable_p - 1e-12


def test_equal_samples_do_not_differ():
    found = rank_sum(np.ones(4), np.ones(4))

    assert (found.p, found.cles, found.size) == (1.0, 0.5, "negligible")


@pytest.mark.parametrize(
    ("moved", "size"), [(0.0, "negligible"), (0.6, "small"), (0.8, "medium"), (5.0, "large")]
)
def test_cliffs_delta_has_a_word(moved, size):
    grid = stats.norm.ppf((np.arange(40) + 0.5) / 40)

    assert rank_sum(grid + moved + 1e-6, grid).size == size


def test_many_values_do_without_the_exact_interval():
    assert shift(np.arange(51.0), np.arange(51.0), 0.95) is None
