"""What the analysis says of a campaign that measures one setting under two blind labels."""

import math

import numpy as np
import pytest

from campaigns.kit.errors import Invalid
from campaigns.models import Campaign
from campaigns.planning import checking, drafts, lifecycle, storage
from campaigns.planning.calibrating import calibration_of
from campaigns.tests.findings.compute.conftest import findings, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def calibrating(target):
    """Launch the A/A campaign of a downloader, over so many manifests; nothing runs."""

    def make(manifests=("http://127.0.0.1:9/a",), **changes):
        data = {
            "question": "How large a difference?",
            "kind": "downloader",
            "target": target.pk,
            "factors": {"manifest": list(manifests)},
            "order": "paired",
            "paired_factor": "blind_label",
            "repetitions": 10,
            "seed": 1,
        }
        return lifecycle.launch(drafts.create(checking.check(data | changes), None), None)

    return make


def drawn(sd=0.02, seed=1, b_is=1.0):
    rng = np.random.default_rng(seed)

    def value_of(run):
        label = run.cell.levels_by_factor["blind_label"]
        return float(10 * (b_is if label == "B" else 1) * math.exp(rng.normal(0, sd)))

    return value_of


def test_the_noise_of_identical_runs_is_stored(calibrating):
    campaign = calibrating()
    store(campaign, drawn(0.02))

    found = findings(campaign)

    calibration = found["calibration"]
    assert calibration["n"] == 10
    assert calibration["run_sd_pct"] == pytest.approx(2, abs=1)
    assert [each["pairs"] for each in calibration["detectable"]] == [3, 5, 10]
    low, high = calibration["sd_ci_pct"]
    assert low < calibration["sd_pct"] < high
    assert (calibration["verdicts"], calibration["alarms"]) == (1, 0)
    (check,) = [each for each in found["checks"]["checks"] if each["name"] == "aa_noise"]
    assert check["outcome"] == "pass"
    assert check["value"] == calibration["floor_pct"]


def test_the_answer_tells_of_noise_and_of_no_difference(calibrating):
    campaign = calibrating()
    store(campaign, drawn(0.02))

    answer = findings(campaign)["answer"]

    assert answer["sentence"].startswith("Identical runs differ by up to ")
    assert [badge["word"] for badge in answer["badges"]] == ["A/A: identical runs"]
    assert [fact["label"] for fact in answer["facts"]] == [
        "noise floor",
        "3 pairs find",
        "5 pairs find",
        "10 pairs find",
    ]
    assert answer["tone"] == "info"


@pytest.mark.parametrize("b_is", [1.5, 0.6])
def test_a_difference_between_the_labels_is_a_false_alarm(calibrating, b_is):
    campaign = calibrating()
    store(campaign, drawn(0.02, b_is=b_is))

    found = findings(campaign)

    (stratum,) = found["pairs"]["strata"]
    assert stratum["comparison"]["verdict"]["word"] in ("better", "worse")
    assert found["calibration"]["alarms"] == 1
    assert "a false alarm, as in 5 % of such campaigns" in found["answer"]["caveat"]
    words = [badge["word"] for badge in found["answer"]["badges"]]
    assert words == ["A/A: identical runs", "false alarm: 1 of 1 comparison"]
    (check,) = [each for each in found["checks"]["checks"] if each["name"] == "aa_noise"]
    assert check["outcome"] == "warn"


def test_several_manifests_are_taken_together(calibrating):
    campaign = calibrating(["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"])
    store(campaign, drawn())

    calibration = findings(campaign)["calibration"]

    assert (calibration["n"], calibration["verdicts"]) == (20, 2)


def test_a_failed_side_leaves_its_pair_out(calibrating):
    campaign = calibrating()
    Campaign.objects.update(failed_limit=0.2)
    campaign.refresh_from_db()
    store(campaign, drawn(), failing={3})

    assert findings(campaign)["calibration"]["n"] == 9


def test_beyond_the_failure_limit_pairs_show_no_noise(calibrating):
    campaign = calibrating()
    store(campaign, drawn(), failing={3})

    assert "calibration" not in findings(campaign)


def test_what_has_not_come_through_shows_no_noise(calibrating):
    campaign = calibrating()
    store(campaign, drawn(), failing=set(range(1, 21)))

    found = findings(campaign)

    assert "calibration" not in found
    assert found["answer"]["sentence"].startswith("No run came through")


def test_other_pairs_are_no_calibration(paired):
    campaign = paired(["http://127.0.0.1:9/a"], 4)
    store(campaign, lambda run: 10.0 + run.position / 100)

    found = findings(campaign)

    assert "calibration" not in found
    assert "aa_noise" not in [each["name"] for each in found["checks"]["checks"]]


def test_any_campaign_can_be_turned_into_one(target, settings):
    data = {
        "question": "Is asyncio faster?",
        "kind": "downloader",
        "target": target.pk,
        "factors": {"concurrency": [2, 4], "engine": ["futures", "asyncio"]},
        "parameters": {"manifest": "http://127.0.0.1:9/a"},
        "tags": ["nightly"],
        "repetitions": 3,
    }
    contrast = {"factor": "engine", "baseline": "futures", "candidate": "asyncio"}
    pairs = {"order": "paired", "paired_factor": "engine", "baseline": "asyncio"}

    plain = calibration_of(checking.check(data))
    named = calibration_of(checking.check(data | {"primary_contrast": contrast}))
    paired = calibration_of(checking.check(data | pairs))

    def setting(made):
        return made.campaign.parameters["concurrency"], made.campaign.parameters["engine"]

    assert setting(named) == (2, "futures")
    assert setting(paired) == (2, "asyncio")
    assert setting(plain)[0] == 2
    assert (
        plain.campaign.question == "How large a difference does server show between identical runs?"
    )
    assert (plain.campaign.order, plain.campaign.repetitions) == ("paired", 10)
    assert plain.campaign.paired_factor == "blind_label"
    assert plain.campaign.tags == ["nightly", "A/A"]
    campaign = drafts.create(plain, None)
    again = checking.check(storage.definition_of(campaign))
    assert again.campaign.parameters == plain.campaign.parameters
    assert calibration_of(again).campaign.parameters == plain.campaign.parameters


def test_what_comes_from_outside_cannot_be_made():
    definition = checking.check({"kind": "external", "question": "What?", "repetitions": 1})

    with pytest.raises(Invalid, match="come from outside"):
        calibration_of(definition)
