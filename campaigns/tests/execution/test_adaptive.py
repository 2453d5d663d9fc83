"""A campaign that goes on block by block, until every interval is narrow enough."""

import numpy as np
import pytest

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.findings.compute import findings as storing
from campaigns.kinds.base import Health, Measured
from campaigns.kit.errors import Invalid
from campaigns.models import Attempt, Block, Campaign, LogLine, Run
from campaigns.planning import checking, lifecycle, storage
from campaigns.planning.analyses import request_analysis

pytestmark = pytest.mark.django_db


@pytest.fixture
def noisy(controlled):
    """Let runs vary by so much around their level."""

    def make(sd, seed=1):
        rng = np.random.default_rng(seed)

        def measure(target, parameters, context):
            value = float(parameters["level"] * np.exp(rng.normal(0, sd)))
            return Measured({"duration": value}, Health("healthy", (), {}), units_done=1)

        controlled.measure = measure

    return make


def go_on(campaign, most=400):
    """Run what is queued and analyse what is asked for, until the campaign ends or pauses."""
    for _ in range(most):
        dispatch.dispatch()
        campaign.refresh_from_db()
        if campaign.analysis_requested_at is not None:
            compute.analyse(campaign)
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is not None:
            execute(attempt.pk, "measure@here", "here")
        elif campaign.state != Campaign.State.RUNNING:
            return campaign
    raise AssertionError(f"still {campaign.state} after {most} steps")


def adaptive(launched, **changes):
    rule = {"stop_rule": "precision", "repetitions": 8, "stop_width_percent": 3, "stop_most": 30}
    return launched(**(rule | changes))


def told(campaign):
    return [line.text for line in LogLine.objects.filter(campaign=campaign).order_by("pk")]


def ended_of(campaign):
    compute.analyse(campaign)
    return answers_of([campaign.pk])[campaign.pk].ended


def test_quiet_runs_end_with_the_first_eight_blocks(launched, noisy):
    noisy(0.002)

    campaign = go_on(adaptive(launched))

    assert (campaign.state, campaign.repetitions) == ("finished", 8)
    assert campaign.stop_rule_text == "Until precise enough: ±3 %, at most 30 blocks"
    assert campaign.runs.count() == 16
    assert any(
        text.startswith("precise enough: the widest interval is ±0.") for text in told(campaign)
    )
    ended = ended_of(campaign)
    assert ended.startswith("Ended after 8 of at most 30 blocks: the widest interval is ±0.")
    assert "within the target of ±3 %" in ended
    assert "is computed as one of 9" in ended


def test_warm_up_runs_do_not_hold_its_end_back(launched, noisy):
    noisy(0.002)

    campaign = go_on(adaptive(launched, warm_ups=2))

    assert (campaign.state, campaign.repetitions) == ("finished", 8)
    assert campaign.runs.exclude(purpose=Run.Purpose.MEASURED).exists()


def test_noisy_runs_get_block_after_block_in_the_same_session(launched, noisy):
    noisy(0.06, seed=4)

    campaign = go_on(adaptive(launched, stop_width_percent=5))

    assert campaign.state == "finished"
    assert 8 < campaign.repetitions < 30
    assert campaign.runs.count() == 2 * campaign.repetitions
    assert campaign.sessions.count() == 1
    found = campaign.findings.get(name="outlook").result
    assert found["stop"] == "precise"
    assert found["half_width_pct"] <= 5
    orders = [
        tuple(block.runs.order_by("position").values_list("cell", flat=True))
        for block in Block.objects.filter(campaign=campaign)
    ]
    assert len(set(orders)) == 2  # each block is shuffled anew
    assert any("block 9 is added: the widest interval is ±" in text for text in told(campaign))


def test_it_never_goes_beyond_the_most_blocks(launched, noisy):
    noisy(0.5)

    campaign = go_on(adaptive(launched, stop_most=10))

    assert (campaign.state, campaign.repetitions) == ("finished", 10)
    assert campaign.findings.get(name="outlook").result["stop"] == "most_blocks"
    assert "that is the maximum" in ended_of(campaign)


def test_what_is_to_come_is_known_in_the_middle(launched, noisy):
    noisy(0.05)
    campaign = adaptive(launched, stop_width_percent=2)
    for _ in range(60):
        dispatch.dispatch()
        if attempt := Attempt.objects.filter(state=Attempt.State.QUEUED).first():
            execute(attempt.pk, "measure@here", "here")
        if not campaign.runs.filter(state__in=Run.OPEN).exists():
            break
    compute.analyse(campaign)

    found = campaign.findings.get(name="outlook").result

    assert found["stop"] == ""
    assert found["more"] > 0
    assert found["half_width_pct"] > found["expected_pct"] > 0
    assert found["seconds"] >= 0


def test_the_words_are_judged_by_the_smaller_alpha(launched, noisy):
    noisy(0.02)
    campaign = go_on(adaptive(launched))

    def width():
        (row,) = campaign.findings.get(name="levels").result["groups"][0]["comparisons"]
        low, high = row["comparison"]["verdict"]["ci_pct"]
        return high - low

    adaptive_width = width()
    Campaign.objects.filter(pk=campaign.pk).update(stop_rule="fixed")
    compute.analyse(campaign)
    assert width() < 0.95 * adaptive_width


def test_a_paused_campaign_waits_for_its_next_block(launched, noisy):
    noisy(0.3)
    campaign = adaptive(launched, stop_most=12)
    for _ in range(16):
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        execute(attempt.pk, "measure@here", "here")
    lifecycle.pause(campaign, None)

    for _ in range(2):  # what is analysed in the first one asks for a block in the second one
        campaign = go_on(campaign)

    assert (campaign.state, campaign.repetitions) == ("paused", 8)
    lifecycle.resume(campaign, None)
    assert go_on(campaign).repetitions == 12


def test_no_block_is_added_on_an_analysis_that_is_asked_for_anew(launched, noisy):
    noisy(0.3)
    campaign = adaptive(launched)
    for _ in range(16):
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        execute(attempt.pk, "measure@here", "here")
    compute.analyse(campaign)

    request_analysis(campaign)
    dispatch.dispatch()
    campaign.refresh_from_db()
    assert campaign.repetitions == 8

    compute.analyse(campaign)
    dispatch.dispatch()
    campaign.refresh_from_db()
    assert campaign.repetitions == 9


def test_a_cancelled_campaign_gets_no_further_block(launched, noisy):
    noisy(0.3)
    campaign = adaptive(launched)
    dispatch.dispatch()
    lifecycle.cancel(campaign, "enough")

    campaign = go_on(campaign)

    assert (campaign.state, campaign.repetitions) == ("cancelled", 8)


def test_runs_without_any_value_end_at_the_most_blocks(launched, controlled):
    campaign = adaptive(
        launched,
        parameters={"manners": "refusing"},
        stop_most=9,
        max_failed_percent=100,
        max_consecutive_failures=1000,
    )

    campaign = go_on(campaign)

    assert campaign.state == "finished"
    assert campaign.repetitions == 9


def test_an_analysis_that_fails_ends_it_and_is_not_asked_for_again_and_again(
    launched, noisy, monkeypatch
):
    noisy(0.01)
    campaign = adaptive(launched)
    for _ in range(16):
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        execute(attempt.pk, "measure@here", "here")

    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(storing, "outlook", broken)
    dispatch.dispatch()
    with pytest.raises(ZeroDivisionError):
        compute.analyse(campaign)

    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == "finished"
    assert sum(text.startswith("the analysis failed") for text in told(campaign)) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"order": "blocked"}, "stop_rule"),
        ({"order": "random"}, "stop_rule"),
        ({"repetitions": 7}, "repetitions"),
        ({"repetitions": 12, "stop_most": 11}, "stop_most"),
        ({"stop_width_percent": 0}, "stop_width_percent"),
        ({"stop_most": 7}, "stop_most"),
    ],
)
def test_a_stop_by_precision_that_cannot_be_kept_is_refused(controlled, target, changes, field):
    data = {
        "question": "What happens?",
        "kind": "controlled",
        "target": target.pk,
        "factors": {"level": [1, 2]},
        "stop_rule": "precision",
        "repetitions": 8,
    }

    with pytest.raises(Invalid) as refused:
        checking.check(data | changes)

    assert list(refused.value.errors) == [field]


def test_a_fixed_number_of_blocks_keeps_the_hash_that_it_had(launched):
    campaign = launched()

    assert campaign.stop_rule_text == "Fixed number of blocks"
    assert "stop_most" not in storage.definition_of(campaign)
