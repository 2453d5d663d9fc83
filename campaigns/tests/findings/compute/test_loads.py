"""Loads are never ranked; settings are compared at each of them."""

import pytest

from campaigns.findings import compute
from campaigns.findings.compared import sides_of
from campaigns.findings.compute.compared import cells_of, compare_campaigns, compare_chosen
from campaigns.findings.store import findings_of
from campaigns.models import Block, Campaign, Factor
from campaigns.stats.verdict import Word
from campaigns.tests.findings.compute.loads import LOADS, launch, queue, store
from campaigns.tests.people import everywhere

pytestmark = pytest.mark.django_db

TWO = {"asyncio": 300.0, "futures": 150.0}


def analysed(campaign):
    compute.analyse(campaign)
    return findings_of(campaign, campaign.primary_metric)


def test_where_only_load_varies_nothing_is_compared(target):
    campaign = launch(target, {"concurrency": LOADS})
    store(campaign)

    found = analysed(campaign)

    assert (found.levels, found.matrix, found.pairs, found.failed_parts) == (None,) * 4
    assert "sensitivity" not in campaign.findings.values_list("name", flat=True)
    assert "within_blocks" not in campaign.findings.values_list("name", flat=True)
    assert list(found.answer.loads) == ["concurrency"]
    (curve,) = found.curves.groups
    assert (list(curve.values), curve.comparisons, curve.best) == (
        LOADS,
        [],
        None,
    )
    assert found.curves.noise.blocks == 3
    assert all(found.curves.groups[0].reading)


def test_a_curve_over_load_has_its_knee(target):
    loads = [1, 2, 4, 6, 10, 16]
    campaign = launch(target, {"concurrency": loads}, repetitions=5)
    store(campaign, lambda run: 10.0 * max(6, run.cell.levels_by_factor["concurrency"]))

    (curve,) = analysed(campaign).curves.groups

    assert curve.knee.at == pytest.approx(6, rel=0.1)


def test_pairs_of_two_loads_are_not_compared(target):
    campaign = launch(
        target,
        {"concurrency": [50, 400], "engine": ["asyncio"]},
        order="paired",
        paired_factor="concurrency",
        baseline=50,
        roles={},
    )
    campaign.factors.filter(name="concurrency").update(role=Factor.Role.LOAD)
    store(campaign)

    found = analysed(campaign)

    assert (found.pairs, found.levels, found.sensitivity) == (None, None, None)


def test_settings_are_compared_at_each_load_as_one_family(target):
    campaign = launch(target, {"concurrency": [100, 200, 400], "engine": ["asyncio", "futures"]})
    store(campaign, queue(TWO, seed=4))

    found = analysed(campaign)

    levels = found.levels
    assert (levels.factor, list(levels.loads)) == ("engine", ["concurrency"])
    assert [group.levels["concurrency"] for group in levels.groups] == [100, 200, 400]
    rows = [row for group in levels.groups for row in group.comparisons]
    assert [row.comparison.verdict.word for row in rows] == [Word.WORSE] * 3
    verdicts = sorted((row.comparison.verdict for row in rows), key=lambda each: each.p)
    assert verdicts[0].p_adjusted == pytest.approx(3 * verdicts[0].p)
    (mean,) = levels.over_loads
    assert (mean.baseline, mean.candidate, mean.over, list(mean.left_out)) == (
        "asyncio",
        "futures",
        3,
        [],
    )
    assert mean.comparison.verdict.pct_change == pytest.approx(100, abs=10)
    assert mean.comparison.verdict.p_adjusted == mean.comparison.verdict.p
    assert mean.differs_p is not None
    assert not mean.differs
    assert found.matrix.factors["engine"].interaction is not None
    assert list(found.matrix.factors) == ["engine"]


def test_a_mean_over_loads_tells_where_the_change_differs(target):
    campaign = launch(target, {"concurrency": [100, 400], "engine": ["asyncio", "futures"]}, 5)
    base = queue()

    def value_of(run):
        levels = run.cell.levels_by_factor
        return base(run) * (1.5 if levels == {"engine": "futures", "concurrency": 400} else 1.0)

    store(campaign, value_of)

    (mean,) = analysed(campaign).levels.over_loads

    assert mean.differs


def test_a_load_at_which_a_side_fails_stays_in_the_table_and_out_of_the_mean(target):
    campaign = launch(target, {"concurrency": [100, 200, 400], "engine": ["asyncio", "futures"]})

    def failed(run):
        levels = run.cell.levels_by_factor
        return 100 if levels == {"engine": "futures", "concurrency": 400} else 0

    store(campaign, queue(TWO), failed=failed)

    levels = analysed(campaign).levels

    words = [group.comparisons[0].comparison.verdict.word for group in levels.groups]
    assert words == [Word.WORSE, Word.WORSE, Word.TOO_MANY_FAILURES]
    (mean,) = levels.over_loads
    assert (mean.over, list(mean.left_out)) == (2, [{"concurrency": 400}])


def test_the_primary_contrast_is_one_test_over_loads(target):
    campaign = launch(
        target,
        {"concurrency": [100, 200, 400], "engine": ["asyncio", "futures"]},
        primary_contrast={"factor": "engine", "baseline": "asyncio", "candidate": "futures"},
    )

    def failed(run):
        return 400 if run.cell.levels_by_factor["concurrency"] == 400 else 0

    store(campaign, queue(TWO), failed=failed)

    primary = analysed(campaign).levels.primary

    assert (primary.over, list(primary.left_out)) == (2, [{"concurrency": 400}])
    assert primary.comparison.verdict.p_adjusted == primary.comparison.verdict.p


def test_rows_at_all_loads_are_one_family(target):
    """Of 21 loads with two settings each, 21 pairs may differ, and each p counts for those that are left."""
    loads = list(range(10, 220, 10))
    campaign = launch(target, {"concurrency": loads, "engine": ["asyncio", "futures"]})
    store(campaign, queue({"asyncio": 300.0, "futures": 297.0}))

    levels = analysed(campaign).levels

    rows = [row.comparison.verdict for group in levels.groups for row in group.comparisons]
    smallest = min(rows, key=lambda each: each.p)
    assert len(rows) == len(levels.pairs) == 21
    assert smallest.p_adjusted == pytest.approx(21 * smallest.p)


def test_the_best_over_all_factors_is_at_one_load(target):
    factors = {
        "concurrency": [100, 400],
        "engine": ["asyncio", "futures"],
        "event_loop": ["asyncio", "uvloop"],
    }
    campaign = launch(target, factors)
    store(campaign, queue(TWO))

    overall = analysed(campaign).levels.overall

    assert [each.levels for each in overall] == [{"concurrency": 100}, {"concurrency": 400}]
    assert all("concurrency" not in each.setting for each in overall)


def test_in_pairs_strata_are_loads(target):
    campaign = launch(
        target,
        {"concurrency": [100, 200, 400], "engine": ["asyncio", "futures"]},
        repetitions=4,
        order="paired",
        paired_factor="engine",
        baseline="asyncio",
        primary_contrast={"factor": "engine", "baseline": "asyncio", "candidate": "futures"},
    )

    def failed(run):
        return 400 if run.cell.levels_by_factor["concurrency"] == 400 else 0

    store(campaign, queue(TWO), failed=failed)

    pairs = analysed(campaign).pairs

    assert pairs.strata[2].comparison.verdict.word == Word.TOO_MANY_FAILURES
    assert pairs.overall.strata == 2
    assert pairs.primary.comparison.verdict.word == Word.WORSE
    assert pairs.primary.comparison.verdict.p_adjusted in (None, pairs.primary.comparison.verdict.p)


def test_an_adaptive_campaign_of_loads_ends_when_its_capacity_is_decided(target):
    fields = {"stop_rule": "precision", "stop_width_percent": 3, "stop_most": 12}
    criterion = {"conditions": [{"metric": "duration", "at_most": 40.0}]}
    campaign = launch(target, {"concurrency": LOADS}, 8, criterion=criterion, **fields)
    store(campaign, skip=[run.position for run in campaign.runs.filter(block__repetition__gt=1)])

    assert analysed(campaign).outlook.stop == ""

    other = launch(target, {"concurrency": LOADS}, 8, criterion=criterion, **fields)
    store(other)
    assert analysed(other).outlook.stop == "precise"


def test_cells_of_campaigns_are_compared_at_one_load_only(target):
    one, two = (
        launch(target, {"concurrency": [100, 200], "engine": ["asyncio", "futures"]})
        for _ in range(2)
    )
    for campaign in (one, two):
        store(campaign)
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
        compute.analyse(campaign)
    sides = sides_of([one.pk, two.pk], everywhere().see, "")

    matched = compare_campaigns(sides)
    here, there = (
        next(cell for cell in cells_of(side) if cell.levels["concurrency"] == load)
        for side, load in zip(sides, (100, 200), strict=True)
    )
    chosen = compare_chosen(sides, [(0, here), (1, there)])

    assert len(matched.rows) == 4
    assert not any(row.refused for row in matched.rows)
    (row,) = chosen.rows
    assert row.comparison.verdict.word == Word.NOT_COMPARABLE
    assert [(each.baseline, each.candidate) for each in row.refused] == [("100", "200")]


def test_loads_at_which_a_search_only_explored_are_in_no_table(target):
    campaign = launch(target, {"concurrency": [100, 200, 400], "engine": ["asyncio", "futures"]})
    store(campaign, queue(TWO))
    block = campaign.blocks.order_by("number").last()
    other = Block.objects.create(
        campaign=campaign, session=block.session, number=99, repetition=1, phase=Block.Phase.EXPLORE
    )
    campaign.runs.filter(cell__levels_by_factor__concurrency=400).update(block=other)

    found = analysed(campaign)

    assert found.failed_parts is None
    assert [group.levels["concurrency"] for group in found.levels.groups] == [100, 200]
    (mean,) = found.levels.over_loads
    assert (mean.over, list(mean.left_out)) == (2, [])
    assert len(found.matrix.factors["engine"].rows) == 2
    assert len(found.capacity.explored) == 6
