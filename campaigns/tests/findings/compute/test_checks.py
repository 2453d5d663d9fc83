import math
from datetime import timedelta

import numpy as np
import pytest

from campaigns.models import Attempt, Campaign, EnvironmentFact, Proof, Run
from campaigns.results.importing import demonstration
from campaigns.tests.findings.compute.conftest import findings, store

pytestmark = pytest.mark.django_db


def checks(campaign):
    return {check["name"]: check for check in findings(campaign)["checks"]["checks"]}


def test_the_published_campaign_is_found_blocked_and_its_drift_unseen():
    campaign, _ = demonstration.published_campaign(None)

    found = checks(campaign)

    assert (found["interleaving"]["outcome"], found["interleaving"]["value"]) == ("warn", 0.0)
    assert "drift" not in found
    assert found["drift_within"]["outcome"] == "pass"
    assert found["rows"]["outcome"] == "pass"
    assert len(found["rows"]["positions"]) == 2
    assert found["saturation"]["outcome"] == "not_possible"
    assert found["environment"]["outcome"] == "warn"
    assert found["autocorrelation"]["outcome"] == "not_possible"
    assert found["equal_noise"]["outcome"] == "pass"
    assert found["equal_noise"]["figures"]["apart"] == 0


def test_interleaved_runs_are_checked_block_by_block(interleaved):
    campaign = interleaved([2, 4, 8])
    rng = np.random.default_rng(1)
    store(
        campaign,
        lambda run: float(10 * math.exp(0.2 * run.block.repetition + rng.normal(0, 0.01))),
    )

    found = checks(campaign)

    assert found["block_drift"]["outcome"] == "not_possible"  # of three blocks
    assert found["interleaving"]["outcome"] == "pass"
    assert found["order_in_block"]["value"] > 0.05
    assert found["equal_noise"]["figures"]["largest_pct"] < 5
    assert "drift" not in found


def test_equal_values_are_suspected(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)

    found = checks(campaign)

    assert (found["identical"]["outcome"], found["identical"]["value"]) == ("warn", 2.0)
    assert found["equal_noise"]["outcome"] == "not_possible"


def test_a_proof_that_does_not_hold_and_a_changed_fact_fail(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0 + run.position / 100)
    attempts = list(Attempt.objects.order_by("run__position"))
    for attempt in attempts:
        Proof.objects.create(
            attempt=attempt, name="files", expected=1, measured=1, unit="", ok=True
        )
        EnvironmentFact.objects.create(
            attempt=attempt,
            side="target",
            name="version",
            value="1" if attempt != attempts[-1] else "2",
        )

    found = checks(campaign)

    assert (found["proofs"]["outcome"], found["proofs"]["figures"]) == ("pass", {"readings": 6.0})
    assert (found["environment"]["outcome"], found["environment"]["value"]) == ("fail", 1.0)


def test_a_campaign_without_runs_has_nothing_to_check(interleaved):
    found = checks(interleaved([2, 4]))

    assert {check["outcome"] for check in found.values()} <= {"not_possible", "pass"}


def test_two_levels_in_blocks_cannot_show_another_noise(interleaved):
    campaign = interleaved([2, 4])
    rng = np.random.default_rng(1)
    store(campaign, lambda run: float(10 * math.exp(rng.normal(0, 0.02))))

    assert checks(campaign)["equal_noise"]["outcome"] == "not_possible"


@pytest.mark.parametrize("order", ["interleaved", "random", "blocked"])
@pytest.mark.parametrize(
    ("apart", "outcomes"), [(0.0, {"not_possible"}), (0.001, {"pass", "warn"})]
)
def test_runs_of_one_instant_have_a_finite_trend_or_none(interleaved, order, apart, outcomes):
    campaign = interleaved([2, 4], repetitions=8)
    store(campaign, lambda run: 5.0 + run.position)
    Campaign.objects.filter(pk=campaign.pk).update(order=order)
    campaign.refresh_from_db()
    first = campaign.runs.order_by("position")[0].started_at
    for run in campaign.runs.all():
        at = first + timedelta(seconds=apart * run.position)
        Run.objects.filter(pk=run.pk).update(started_at=at)

    (drift,) = [check for name, check in checks(campaign).items() if "drift" in name]

    assert drift["outcome"] in outcomes
    assert all(math.isfinite(figure) for figure in drift["figures"].values())
