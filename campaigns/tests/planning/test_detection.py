import math
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from campaigns.findings import compute
from campaigns.models import Campaign
from campaigns.planning import checking, drafts, lifecycle, preview
from campaigns.tests.findings.compute.conftest import interleaved, paired, store, target

__all__ = ["interleaved", "paired", "target"]

pytestmark = pytest.mark.django_db


def remarks(target, **changes):
    data = {
        "question": "How many connections?",
        "kind": "downloader",
        "target": target.pk,
        "factors": {"concurrency": [2, 4, 8]},
        "repetitions": 3,
    }
    planned = preview.preview(checking.check(data | changes))
    return {text: tone for tone, text in planned.remarks}


def measured(campaign, sd, seed=1):
    rng = np.random.default_rng(seed)
    store(campaign, lambda run: float(10 * math.exp(rng.normal(0, sd))))
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    compute.analyse(campaign)


def test_without_earlier_campaigns_nobody_knows_what_a_design_can_see(target):
    said = remarks(target)

    assert any(text.startswith("The run-to-run variation is unknown") for text in said)


def test_quiet_runs_let_three_blocks_find_five_per_cent(interleaved, target):
    measured(interleaved([2, 4, 8]), 0.005)

    (text,) = [
        text for text in remarks(target) if "Based on the noise of the last campaign" in text
    ]

    assert remarks(target)[text] == "pass"
    assert text.endswith("% and more, with 80 % power.")


def test_noisy_runs_say_how_many_repetitions_it_would_take(interleaved, target):
    measured(interleaved([2, 4, 8]), 0.1, seed=1)
    measured(interleaved([2, 4, 8]), 0.1, seed=2)

    said = remarks(target)
    (text,) = [text for text in said if "Based on the noise of the last 2 campaigns" in text]

    assert said[text] == "warn"
    assert "5 % would take about" in text
    fewer = [
        text for text in remarks(target, smallest_effect_percent=50) if "Based on the noise" in text
    ]
    assert "would take" not in fewer[0]


def test_pairs_tell_the_noise_of_a_design_in_blocks(paired, target):
    campaign = paired(["http://127.0.0.1:9/a"], 4)
    measured(campaign, 0.02)

    assert any("Based on the noise of the last campaign" in text for text in remarks(target))


def test_another_server_tells_nothing(interleaved, target):
    measured(interleaved([2, 4]), 0.02)
    target.pk, target.name, target.address = None, "other", "127.0.0.2:9"
    target.save()

    assert any("unknown before the first campaign" in text for text in remarks(target))


def calibrated(target, sd, *, days_ago=0):
    data = {
        "question": "How large a difference?",
        "kind": "downloader",
        "target": target.pk,
        "order": "paired",
        "paired_factor": "blind_label",
        "repetitions": 10,
    }
    campaign = lifecycle.launch(drafts.create(checking.check(data), None), None)
    measured(campaign, sd)
    closed_at = timezone.now() - timedelta(days=days_ago)
    Campaign.objects.filter(pk=campaign.pk).update(closed_at=closed_at)
    return f"{closed_at:%Y-%m-%d}"


def offered(target, **changes):
    data = {
        "question": "How many connections?",
        "kind": "downloader",
        "target": target.pk,
        "factors": {"concurrency": [2, 4, 8]},
        "repetitions": 3,
    }
    return preview.preview(checking.check(data | changes)).calibrate


def test_a_calibration_is_preferred_to_what_other_campaigns_say(interleaved, target):
    measured(interleaved([2, 4, 8]), 0.2)
    day = calibrated(target, 0.005)

    (text,) = [text for text in remarks(target) if text.startswith("Based on the ")]

    assert text.startswith(f"Based on the A/A calibration of {day} here (0.")
    assert remarks(target)[text] == "pass"
    assert not offered(target)


def test_an_old_calibration_is_to_be_repeated(target):
    calibrated(target, 0.005, days_ago=45)

    (text,) = [text for text in remarks(target) if text.startswith("Based on the A/A")]

    assert text.endswith("That calibration is 45 days old; repeat it.")
    assert offered(target)


def test_a_calibration_without_any_noise_tells_nothing(target):
    calibrated(target, 0.0)

    assert offered(target)


def test_the_click_is_offered_where_nothing_is_known(interleaved, target):
    assert offered(target)
    measured(interleaved([2, 4, 8]), 0.02)
    assert offered(target)
    assert not offered(target, factors={"concurrency": [2]})
    assert not offered(target, factors={}, order="paired", paired_factor="blind_label")
