import math
from datetime import timedelta

import pytest

from campaigns.importers import demonstration
from campaigns.models import Run
from campaigns.stats.logs import pct_of
from campaigns.tests.analysis.conftest import findings, store

pytestmark = pytest.mark.django_db

SHIFT = {1: -0.1, 2: 0.0, 3: 0.1}


def test_the_effects_of_blocks_are_those_that_were_put_in(interleaved):
    campaign = interleaved([2, 4, 8])
    store(
        campaign,
        lambda run: run.cell.levels_by_factor["concurrency"] * math.exp(SHIFT[run.block.number]),
    )

    found = findings(campaign)["drift:duration"]

    assert found["missing"] == ""
    assert [block["block"] for block in found["blocks"]] == [1, 2, 3]
    assert [block["effect_pct"] for block in found["blocks"]] == pytest.approx(
        [pct_of(shift) for shift in SHIFT.values()]
    )
    assert found["block_sd_pct"] == pytest.approx(pct_of(0.1))
    assert found["sd_pct"] == pytest.approx(0, abs=1e-9)
    assert found["blocks"][0]["first"] == 1
    assert found["blocks"][-1]["last"] == 9


def test_a_gap_of_a_night_begins_a_session(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0 + run.position / 100)
    for run in campaign.runs.filter(position__gt=4):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(hours=13))

    sessions = findings(campaign)["drift:duration"]["sessions"]

    assert [(session["first"], session["last"]) for session in sessions] == [(1, 4), (5, 6)]


def test_what_has_no_effects_of_blocks_says_why(interleaved):
    still = interleaved([2, 4])
    store(still, lambda run: 0.0 if run.position == 1 else 5.0)

    assert findings(still)["drift:duration"]["missing"] == "not_positive"
    assert findings(interleaved([2, 4]))["drift:duration"]["missing"] == "too_few"


def test_a_blocked_campaign_has_none():
    campaign, _ = demonstration.published_campaign(None)

    found = findings(campaign)["drift:duration"]

    assert (found["missing"], found["blocks"]) == ("not_in_blocks", [])
    assert len(found["sessions"]) >= 1


def test_the_worker_of_each_run_is_stored(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)

    runs = [run for cell in findings(campaign)["cells"]["cells"] for run in cell["runs"]]

    assert {run["worker"] for run in runs} == {"import"}
