import numpy as np
import pytest

from campaigns.stats.best import find_best
from campaigns.stats.blocks import BlockRun, fit_blocks
from campaigns.stats.pooled import fit_pooled

BLOCKED = ["mcb_complete", "mcb_incomplete_rate", "mcb_too_noisy"]


def fit_of(rows):
    levels = sorted({row["level"] for row in rows})
    runs = [BlockRun(levels.index(row["level"]), row["block"], row["value"]) for row in rows]
    return levels, fit_blocks(runs, len(levels)).fit


@pytest.fixture
def dataset(golden):
    def load(name):
        found = golden("k")["datasets"][name]
        rows = found.get("rows") or golden("j")["datasets"]["complete_6x5"]["rows"]
        levels, fit = fit_of(rows)
        return levels, fit, found

    return load


@pytest.mark.parametrize("name", BLOCKED)
def test_recommendations_are_as_published(dataset, name):
    levels, fit, published = dataset(name)

    best = find_best(fit, lower_is_better=published["lower_is_better"])

    for share, expected in published["expected"].items():
        x = float(share.rstrip("%")) / 100
        cell = best.recommended(x)
        assert levels[best.seen] == expected["best_seen"]
        assert best.at_edge is expected["best_at_edge"]
        assert (None if cell is None else levels[cell]) == expected["recommended"]
        assert [levels[cell] for cell in best.within(x)] == expected["passing"]
        for cell, level in enumerate(levels):
            cost, upper = expected["cost_pct"][str(level)], expected["upper_pct"][str(level)]
            assert best.cost_pct[cell] == pytest.approx(cost, rel=1e-8)
            assert best.upper_pct[cell] == pytest.approx(upper, rel=1e-5)


def test_each_possible_best_has_a_critical_value_of_its_own(dataset):
    levels, fit, published = dataset("mcb_incomplete_rate")
    expected = published["expected"]["5%"]

    best = find_best(fit, lower_is_better=False)

    for cell, level in enumerate(levels):
        assert best.rho[cell] == pytest.approx(expected["rho"][str(level)], abs=1e-6)
        value = expected["critical_value"][str(level)]
        assert best.critical[cell] == pytest.approx(value, abs=1e-5)


def test_the_published_campaign_of_pulp_is_read_without_blocks(golden):
    published = golden("k")["datasets"]["mcb_unblocked_seed"]["expected"]
    rows = golden("a")["rows"]
    levels = sorted({row["concurrency"] for row in rows})
    logs = [
        np.log([row["duration_s"] for row in rows if row["concurrency"] == level])
        for level in levels
    ]

    best = find_best(fit_pooled(logs), lower_is_better=True)

    assert best.df == published["df"]
    assert best.critical[0] == pytest.approx(published["critical_value"], abs=1e-5)
    for cell, level in enumerate(levels):
        upper = published["upper_pct"][str(level)]
        assert best.upper_pct[cell] == pytest.approx(upper, rel=1e-5, abs=1e-9)
    for share, level in published["recommended"].items():
        assert levels[best.recommended(float(share.rstrip("%")) / 100)] == level


def test_where_no_level_passes_the_smallest_share_does(dataset):
    _, fit, _ = dataset("mcb_too_noisy")
    best = find_best(fit, lower_is_better=True)

    assert best.recommended(0.05) is None
    assert best.recommended(best.smallest_share) is not None
    assert best.blocks_needed(0.05) > fit.n[0]
    assert best.blocks_needed(0) is None


def test_the_direction_of_a_metric_changes_no_recommendation(dataset):
    _, fit, _ = dataset("mcb_complete")
    flipped = type(fit)(
        means=-fit.means,
        covariance=fit.covariance,
        sd=fit.sd,
        df=fit.df,
        groups=fit.groups,
        n=fit.n,
        complete=fit.complete,
    )

    assert (
        find_best(fit, lower_is_better=True).upper_pct
        == find_best(flipped, lower_is_better=False).upper_pct
    )


@pytest.mark.parametrize("cells", [1, 2])
def test_too_little_is_no_ground_for_a_recommendation(cells):
    fit = fit_pooled([np.log([1.0, 1.1]) for _ in range(cells)])

    assert find_best(fit, lower_is_better=True) is None


def test_cells_that_never_share_a_block_have_no_best(golden):
    rows = golden("j")["datasets"]["disconnected"]["rows"]

    assert find_best(fit_of(rows)[1], lower_is_better=True) is None


def test_a_level_truly_worse_is_rarely_recommended():
    rng = np.random.default_rng(7)
    truth = np.log([1.30, 1.12, 1.07, 1.0, 1.01])
    wrong = 0
    for _ in range(400):
        logs = truth + rng.normal(0, 0.03, (5, 5))
        best = find_best(fit_pooled(list(logs.T)), lower_is_better=True)
        cell = best.recommended(0.05)
        wrong += cell is not None and truth[cell] > np.log(1.05)
    assert wrong / 400 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
