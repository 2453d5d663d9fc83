import math
import re
from datetime import timedelta

import numpy as np
import pytest

from campaigns.models import Run
from campaigns.results.importing import demonstration
from campaigns.stats.logs import pct_of
from campaigns.tests.findings.compute.conftest import findings, store
from campaigns.tests.findings.spoken import caveats_of

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


def blocked_levels(interleaved, an_hour, levels=(2, 4, 8), sd=0.01):
    """Levels without any difference, one after the other, on a target that drifts."""
    campaign = interleaved(list(levels), repetitions=6, order="blocked")
    rng = np.random.default_rng(5)
    store(
        campaign,
        lambda run: float(10 * math.exp(an_hour * (run.position - 1) / 60 + rng.normal(0, sd))),
    )
    return campaign


def test_drift_of_levels_one_after_the_other_is_no_difference_of_levels(interleaved):
    found = findings(blocked_levels(interleaved, an_hour=0.8))

    rows = [row["comparison"]["verdict"] for row in found["levels"]["groups"][0]["comparisons"]]
    assert {(row["word"], row["reason"]) for row in rows} == {
        ("not_enough_data", "drift_confounded")
    }
    assert all(row["ci_pct"][0] > 0 for row in rows)  # what the intervals alone would say
    assert found["levels"]["groups"][0]["best"] is None
    assert "is the fastest" not in found["answer"]["sentence"]
    assert "cannot be distinguished from this drift" in caveats_of(found["answer"])
    (check,) = (each for each in found["checks"]["checks"] if each["name"] == "drift_within")
    assert check["outcome"] == "warn"


def test_without_drift_the_answer_says_what_that_order_leaves_open(interleaved):
    found = findings(blocked_levels(interleaved, an_hour=0.0))

    drift = found["levels"]["drift"]
    assert drift["shown"] is False
    assert max(map(abs, drift["ci_pct"])) == pytest.approx(drift["missed_pct"], rel=0.5)
    assert re.match(
        r"All runs of a level were made one after the other: what differs may be the hour, and the intervals do not "
        r"cover that\. Drift: none shown within levels \(at most ±\d\S* % in 5 min would have been missed\); between "
        r"levels it cannot be determined in this order\.",
        caveats_of(found["answer"]),
    )


def test_the_drift_of_runs_without_times_is_that_of_a_run(interleaved):
    campaign = interleaved([2, 4, 8], repetitions=6, order="blocked")
    store(campaign, lambda run: float(10 * 1.02**run.position))
    Run.objects.filter(campaign=campaign).update(started_at=None)

    found = findings(campaign)

    assert found["levels"]["drift"]["hours"] is None
    assert "Runs of one level drift (+2 % a run)" in caveats_of(found["answer"])
    (check,) = (each for each in found["checks"]["checks"] if each["name"] == "drift_within")
    assert "hours" not in check["figures"]


def test_the_drift_of_runs_of_a_second_is_said_over_the_time_they_took(interleaved):
    campaign = interleaved([2, 4, 8], repetitions=6, order="blocked")
    store(campaign, lambda run: float(10 * 1.02**run.position))
    begun = campaign.created_at
    for run in Run.objects.filter(campaign=campaign):
        Run.objects.filter(pk=run.pk).update(started_at=begun + timedelta(seconds=run.position))

    found = findings(campaign)

    assert found["levels"]["drift"]["slope_pct"] > 1e30
    assert "Runs of one level drift (+10.4 % in 5 s)" in caveats_of(found["answer"])


WORDS = re.compile(r"fast|slow|equivalent|no difference shown")


@pytest.mark.parametrize("an_hour", [-0.3, 0.05, 0.3])
def test_no_word_on_levels_one_after_the_other_is_said_without_its_condition(interleaved, an_hour):
    found = findings(blocked_levels(interleaved, an_hour, sd=0.002))["answer"]

    said = [each["text"] for each in found["statements"] if WORDS.search(each["text"])]
    if WORDS.search(found["sentence"]):
        said.append(found["sentence"])
    assert all("if nothing else changed meanwhile" in text for text in said)
    assert found["caveat"].startswith("All runs of a level were made one after the other")


def test_interleaved_levels_are_judged_whatever_the_drift(interleaved):
    campaign = interleaved([2, 4, 8], repetitions=6)
    store(campaign, lambda run: float(10 * math.exp(0.01 * run.position)))

    found = findings(campaign)

    assert found["levels"]["drift"] is None
    assert "drift" not in found["answer"]["sentence"]
