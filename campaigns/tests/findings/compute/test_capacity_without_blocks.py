"""Whether what is carried rests on a single block."""

import pytest

from campaigns.findings import compute
from campaigns.findings.store import findings_of
from campaigns.findings.wording.capacity_answer import CapacityAnswer
from campaigns.models import Campaign
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.verdict import Word
from campaigns.tests.findings.compute.loads import LIMIT, LOADS, launch, queue, store

pytestmark = pytest.mark.django_db
TWO = {"asyncio": 300.0, "futures": 150.0}


@pytest.fixture
def finished(target):
    """A finished campaign whose runs of one repetition are `spoilt` times as slow."""

    def make(repetitions, *, spoilt=1.0, state="finished", factors=None, loads=LOADS, **more):
        factors = {"concurrency": loads, **(factors or {})}
        campaign = launch(target, factors, repetitions=repetitions, criterion=LIMIT)
        usual = queue(TWO if "engine" in factors else None)

        def value_of(run):
            broken = run.block.repetition == 2 and more.get("only") in (
                None, run.cell.levels_by_factor.get("engine"),
            )  # fmt: skip
            return usual(run) * (spoilt if broken else 1.0)

        store(campaign, value_of)
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        campaign.refresh_from_db()
        compute.analyse(campaign)
        found = findings_of(campaign, campaign.primary_metric)
        assert found.failed_parts is None, found.failed_parts
        return found.capacity

    return make


def test_a_steady_capacity_rests_on_no_block(finished):
    (one,) = finished(5).settings
    (near,) = finished(5, loads=[200, 250, 310, 390, 480]).settings

    for each in (one, near):
        assert (each.without.tried, each.without.of, each.without.changes) == (5, 5, [])
    assert one.without.lowest is None  # no line is claimed over a gap of ratio 2
    assert near.without.lowest < near.capacity.estimate < near.without.highest


def test_one_unlucky_block_is_named(finished):
    found = finished(5, spoilt=2.2)

    (one,) = found.settings
    assert one.capacity.word == CapacityWord.BETWEEN
    changed = {each.block: (each.low, each.high) for each in one.without.changes}
    assert changed[2] == (200, 400)
    assert (one.capacity.low, one.capacity.high) != (200, 400)
    lines = [each.text for each in CapacityAnswer(found).statements()]
    assert any("without block 2: at least concurrency 200, below 400" in each for each in lines), (
        lines
    )


def test_the_verdict_of_a_ratio_may_rest_on_a_block(finished):
    found = finished(4, spoilt=3.0, factors={"engine": ["asyncio", "futures"]}, only="futures")

    (ratio,) = found.ratios
    assert ratio.ratio.word != Word.WORSE
    assert (2, "worse") in [(each.block, each.word) for each in ratio.without.changes], ratio
    assert "without block 2: carries fewer" in CapacityAnswer(found).ratio(ratio).remark


@pytest.mark.parametrize(("repetitions", "state"), [(3, "finished"), (1, "cancelled")])
def test_with_too_few_blocks_none_is_left_out(finished, repetitions, state):
    (one,) = finished(repetitions, state=state).settings

    assert (one.without.tried, one.without.of, one.without.changes) == (0, repetitions, [])


def test_an_open_campaign_is_not_tried(finished):
    assert finished(4, state="running").settings[0].without is None
