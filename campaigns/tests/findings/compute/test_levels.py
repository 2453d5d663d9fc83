"""What the analysis says of campaigns of levels, from runs in the database."""

import json
from itertools import pairwise

import pytest

from campaigns.models import Run
from campaigns.planning import lifecycle
from campaigns.tests.findings.compute.conftest import findings, noisy, store
from campaigns.tests.findings.spoken import caveats_of
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


def words(found):
    (group,) = found["levels"]["groups"]
    return [row["comparison"]["verdict"]["word"] for row in group["comparisons"]]


def test_neighbours_are_compared_in_blocks(interleaved):
    campaign = interleaved([2, 8, 4], repetitions=5)
    store(campaign, noisy({2: 40.0, 4: 20.0, 8: 20.0}))

    found = findings(campaign)["levels"]

    assert (found["factor"], found["model"]) == ("concurrency", "blocks")
    (group,) = found["groups"]
    assert group["values"] == [2, 4, 8]
    first, second = group["comparisons"]
    assert first["comparison"]["verdict"]["word"] == "better"
    assert first["comparison"]["verdict"]["pct_change"] == pytest.approx(-50, abs=3)
    assert second["comparison"]["verdict"]["word"] == "equivalent"
    assert found["noise"]["blocks"] == 5
    assert found["noise"]["sd_pct"] < 3


def test_the_best_setting_is_the_cheapest_within_a_share(interleaved):
    campaign = interleaved([2, 4, 8, 16])
    store(campaign, noisy({2: 40.0, 4: 20.2, 8: 20.0, 16: 19.9}, sd=0.003))

    (group,) = findings(campaign)["levels"]["groups"]

    by_cell = dict(zip(group["cells"], group["values"], strict=True))
    best = group["best"]
    within = {each["share"]: by_cell[each["cell"]] for each in best["within"]}
    assert within[0.05] == 4
    assert within[1.0] == 4
    assert 2 not in [by_cell[cell] for cell in best["possibly"]]


def test_a_knee_is_looked_for_in_five_levels(interleaved):
    levels = {level: 100.0 / min(level, 6) for level in (1, 2, 4, 6, 10, 16)}
    campaign = interleaved(list(levels))
    store(campaign, noisy(levels))

    (group,) = findings(campaign)["levels"]["groups"]

    knee = group["knee"]
    assert knee["strength"] == "strong"
    assert knee["at"] == pytest.approx(6, rel=0.1)
    shares = knee["uncertainty"]["between"]
    assert sum(each["share"] for each in shares) == pytest.approx(1)
    assert [each["low"] for each in shares] == [1, 2, 4, 6, 10]


def test_cells_of_other_work_are_groups_of_their_own(interleaved):
    manifests = ["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"]
    campaign = interleaved([2, 4], manifest=manifests)
    store(campaign, noisy({2: 40.0, 4: 20.0}))

    found = findings(campaign)["levels"]

    assert [group["levels"] for group in found["groups"]] == [
        {"manifest": manifest} for manifest in manifests
    ]
    assert all(len(group["comparisons"]) == 1 for group in found["groups"])


def test_an_excluded_run_is_shown_with_and_without(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, noisy({2: 40.0, 4: 20.0}, sd=0.02))
    assert "with_excluded" not in findings(campaign)
    run = campaign.runs.order_by("position").first()
    lifecycle.exclude(run, somebody("ann"), "The disk was full.")

    found = findings(campaign)

    told = found["with_excluded"]
    assert told["positions"] == [run.position]
    (row,) = told["rows"]
    assert row["name"] == {"levels": {}, "baseline": 2, "candidate": 4}
    assert row["with"]["word"] == "better"
    assert row["without"]["word"] == "not_enough_data"  # one of three blocks is gone
    assert row["with"]["pct_change"] != row["without"]["pct_change"]


def test_a_failed_cell_leaves_the_others_their_words(interleaved):
    campaign = interleaved([2, 4, 8])
    failing = [
        run.position
        for run in campaign.runs.select_related("cell")
        if run.cell.levels_by_factor["concurrency"] == 8
    ]
    store(campaign, noisy({2: 40.0, 4: 20.0}), failing=failing)

    found = findings(campaign)

    assert words(found) == ["better", "too_many_failures"]
    assert found["levels"]["groups"][0]["reading"][2] is None


def test_a_campaign_that_stopped_half_way_is_no_error(interleaved):
    campaign = interleaved([2, 4, 8])
    store(campaign, noisy({2: 40.0, 4: 20.0, 8: 10.0}))
    Run.objects.filter(campaign=campaign, position__gt=4).update(state=Run.State.CANCELLED)

    assert set(words(findings(campaign))) == {"not_enough_data"}


def test_nothing_measured_is_not_enough(interleaved):
    assert words(findings(interleaved([2, 4]))) == ["not_enough_data"]


def test_one_cell_and_pairs_have_no_levels(interleaved, paired):
    assert "levels" not in findings(interleaved([4]))
    assert "levels" not in findings(paired(["http://127.0.0.1:9/a"], 3))


def test_findings_can_be_stored_as_json(interleaved):
    campaign = interleaved([1, 2, 4, 8, 16])
    store(campaign, lambda run: 5.0)

    found = findings(campaign)["levels"]

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert words({"levels": found}) == ["not_enough_data"] * 4


@pytest.mark.usefixtures("all_resamples")
def test_the_published_campaign_is_read_rigorously(published):
    found = findings(published)["levels"]

    assert found["model"] == "pooled"
    (group,) = found["groups"]
    assert group["values"] == [3, 5, 7, 10, 15, 20]
    steps = {
        f"{low}->{high}": row
        for (low, high), row in zip(pairwise(group["values"]), group["comparisons"], strict=True)
    }
    verdicts = {key: row["comparison"]["verdict"] for key, row in steps.items()}
    assert {key: verdict["word"] for key, verdict in verdicts.items()} == {
        "3->5": "better",
        "5->7": "better",
        "7->10": "better",
        "10->15": "not_enough_data",
        "15->20": "better",
    }
    assert verdicts["5->7"]["pct_change"] == pytest.approx(-15.1, abs=0.05)
    assert verdicts["5->7"]["ci_pct"] == pytest.approx([-23.4, -6.0], abs=0.05)
    assert "unequal_noise" not in verdicts["10->15"]["badges"]
    assert verdicts["7->10"]["p_adjusted"] == pytest.approx(0.024, abs=5e-4)
    best = group["best"]
    by_cell = dict(zip(group["cells"], group["values"], strict=True))
    assert by_cell[best["seen"]] == 20
    assert best["at_edge"]
    assert best["cost_pct"][1] == pytest.approx(71.4, abs=0.05)
    assert best["upper_pct"][1] == pytest.approx(92.7, abs=0.1)
    assert [by_cell[cell] for cell in best["possibly"]] == [20]
    knee = group["knee"]
    assert knee["methods"]["consensus"] == 5
    assert knee["uncertainty"]["interval"] == pytest.approx([5.0, 7.95], abs=0.3)
    assert steps["5->7"]["standing"]["standing"] == "one_session"


def test_the_page_of_the_published_campaign_says_it_by_itself(published):
    answer = findings(published)["answer"]

    assert answer["sentence"] == (
        "Concurrency 20 is the fastest, if nothing else changed meanwhile; 15 is 17.6 % slower, "
        "3 takes 2.7 times as long."
    )
    assert answer["certainty"] == "Each step is shown but 10 → 15; 18 runs, level after level."
    assert caveats_of(answer).startswith(
        "All runs of a level were made one after the other: what differs may be the hour, and the intervals do not "
        "cover that. Drift: none shown within levels (at most "
    )
    said = [statement["text"] for statement in answer["statements"]]
    assert any(text.startswith("7 vs. 5: faster, −15.1 % (−23.4 … −6.0 %).") for text in said)
    assert any(text.startswith("15 vs. 10: not enough data") for text in said)
    assert any(text.startswith("10 vs. 7: faster, −12.9 %") for text in said)
    assert any("The fastest may lie above 20, the highest level tested" in text for text in said)
    assert [(fact["label"], fact["value"]) for fact in answer["facts"]] == [
        ("concurrency 20", "10:39 min"),
        ("concurrency 15", "+17.6 %"),
        ("concurrency 10", "+26.7 %"),
    ]
