"""From stored runs to stored findings."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from campaigns.findings import compute
from campaigns.findings.compute import findings as storing
from campaigns.models import Campaign, Run
from campaigns.planning import lifecycle
from campaigns.results.storing import Value
from campaigns.tests.findings.compute.conftest import START, findings, store
from campaigns.tests.findings.spoken import details_of
from campaigns.tests.people import somebody
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[2] / "stats" / "golden"


@pytest.fixture
def published():
    return json.loads((GOLDEN / "b_paired_downloader.json").read_text())


@pytest.fixture
def published_pairs(paired, published):
    """The pairs of the published downloaders, in the database."""
    campaign = paired([f"/{files}/PULP_MANIFEST" for files in published["inputs"]], 10)

    def value(run):
        files = run.cell.levels_by_factor["manifest"].split("/")[1]
        arm = published["inputs"][files][run.cell.levels_by_factor["engine"]]
        return arm[run.block.repetition - 1]

    store(campaign, value)
    return campaign


def test_a_paired_campaign_gives_the_published_numbers(published_pairs, published):
    strata = findings(published_pairs)["pairs"]["strata"]

    for stratum, (files, expected) in zip(strata, published["per_manifest"].items(), strict=True):
        comparison = stratum["comparison"]
        assert stratum["name"] == f"/{files}/PULP_MANIFEST"
        assert comparison["geo_pct_change"] == pytest.approx(expected["geo_pct_change"], rel=1e-8)
        assert comparison["geo_ci_pct"] == pytest.approx(expected["geo_ci_pct"], rel=1e-8)
        assert comparison["verdict"]["p_adjusted"] == pytest.approx(
            published["holm_p"][files], rel=1e-6
        )
        assert comparison["verdict"]["word"] == "better"


def test_the_geometric_mean_comes_first_and_other_readings_of_it_follow(published_pairs):
    found = findings(published_pairs)

    overall = found["pairs"]["overall"]
    assert overall["average_pct"] == pytest.approx(-19.5, abs=1e-6)
    assert overall["sample_ci"] == pytest.approx([-23.40, -15.48], abs=0.01)
    facts = {fact["label"]: fact["value"] for fact in found["answer"]["facts"]}
    assert facts == {
        "geometric mean": "−19.5 %",
        "average of the % changes": "−19.5 %",
        "of the sum of all": "−18.2 %",
    }
    assert "As a rate, the average of the inverse: +24.4 %." in details_of(found["answer"])
    first, second = (fact["note"] for fact in found["answer"]["facts"][:2])
    assert first == "−23.4 … −15.5 %, rows as a sample"
    assert second.endswith(", as published elsewhere")
    assert (
        found["answer"]["sentence"] == "asyncio is 19.5 % faster than futures on all 5 manifests."
    )
    assert (
        found["answer"]["certainty"]
        == "15.5 to 23.4 % (95 %), geometric mean of 50 pairs of 5 manifests, one session."
    )
    assert "not the same everywhere (I² 96 %)" in found["answer"]["caveat"]


def test_the_answer_says_which_is_faster_by_how_much(paired):
    campaign = paired(["/a", "/b"], 4)
    store(
        campaign,
        lambda run: (
            (10.0 if run.cell.levels_by_factor["engine"] == "futures" else 8.0)
            * (1 + run.block.number / 1000)
        ),
    )

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "asyncio is 20.0 % faster than futures on both manifests."
    assert answer["tone"] == "better"
    assert "one session" in answer["caveat"]


def test_strata_of_few_pairs_share_their_noise_and_say_so(paired):
    campaign = paired(["/a", "/b", "/c"], 3)
    store(
        campaign,
        lambda run: (
            (10.0 if run.cell.levels_by_factor["engine"] == "futures" else 8.0)
            * (1 + (run.position * 7 % 5) / 100)
        ),
    )

    strata = findings(campaign)["pairs"]["strata"]

    assert {stratum["comparison"]["df"] for stratum in strata} == {6}
    assert all("pooled_noise" in stratum["comparison"]["flags"] for stratum in strata)


def test_a_pair_with_a_failed_side_is_counted_and_not_compared(paired):
    campaign = paired(["/a"], 4)
    store(
        campaign,
        lambda run: 10.0 + run.position / 100,
        failing={1},
    )

    found = findings(campaign)

    comparison = found["pairs"]["strata"][0]["comparison"]
    assert comparison["n_pairs"] == 3
    assert comparison["incomplete_by_failure"] == 1
    assert comparison["verdict"]["word"] == "too_many_failures"
    assert "1 of 8 runs failed" in found["answer"]["caveat"]
    failed = [c["summary"]["n_failed"] for c in found["cells"]["cells"]]
    assert sorted(failed) == [0, 1]


def test_an_excluded_run_leaves_the_numbers_and_stays_listed(paired):
    campaign = paired(["/a"], 4)
    store(campaign, lambda run: 10.0)
    user = somebody("analyst")
    before = findings(campaign)
    hash_before = campaign.findings.first().data_hash
    lifecycle.exclude(campaign.runs.get(position=1), user, "another sync ran on the server")

    after = findings(campaign)

    def states(found):
        return [run["state"] for cell in found["cells"]["cells"] for run in cell["runs"]]

    assert states(before).count("excluded") == 0
    assert states(after).count("excluded") == 1
    assert after["pairs"]["strata"][0]["comparison"]["n_pairs"] == 3
    assert campaign.findings.first().data_hash != hash_before


def test_the_same_data_give_the_same_hash_and_findings(paired):
    campaign = paired(["/a"], 3)
    store(campaign, lambda run: 10.0 + run.position)
    first = findings(campaign)
    hashes = set(campaign.findings.values_list("data_hash", flat=True))

    second = findings(campaign)

    assert first == second
    assert hashes == set(campaign.findings.values_list("data_hash", flat=True))
    assert len(hashes) == 1


def test_an_analysis_of_nothing_says_so(paired):
    campaign = paired(["/a"], 3)

    found = findings(campaign)

    assert found["answer"]["sentence"] == "No run has ended yet."
    assert all(cell["summary"]["flags"] == ["empty"] for cell in found["cells"]["cells"])


def test_the_request_is_only_cleared_if_none_came_meanwhile(paired, monkeypatch):
    campaign = paired(["/a"], 3)
    Campaign.objects.update(analysis_requested_at=START)
    later = START + timedelta(seconds=1)

    def meanwhile(*arguments):
        Campaign.objects.update(analysis_requested_at=later)

    with monkeypatch.context() as patched:
        patched.setattr(storing, "compare", meanwhile)
        compute.analyse(campaign)
    campaign.refresh_from_db()
    assert campaign.analysis_requested_at == later

    compute.analyse(campaign)
    campaign.refresh_from_db()
    assert campaign.analysis_requested_at is None


def test_an_analysis_that_fails_is_told_in_the_log_and_asked_for_no_more(paired, monkeypatch):
    campaign = paired(["/a"], 3)
    Campaign.objects.update(analysis_requested_at=START, analysis_sent_at=START)

    def fail(*arguments):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(storing, "compare", fail)
    with pytest.raises(ZeroDivisionError):
        compute.analyse(campaign)

    campaign.refresh_from_db()
    assert campaign.analysis_requested_at is None
    assert "the analysis failed" in campaign.log.last().text
    assert "a bug" in campaign.log.last().text


def test_an_analysis_of_older_data_does_not_replace_a_newer_one(paired, monkeypatch):
    campaign = paired(["/a"], 3)

    def slowly(*arguments):
        monkeypatch.undo()
        store(campaign, lambda run: 10.0)
        compute.analyse(campaign)
        return

    monkeypatch.setattr(storing, "compare", slowly)
    compute.analyse(campaign)

    cells = campaign.findings.get(name="cells").result["cells"]
    assert {cell["summary"]["n_ok"] for cell in cells} == {3}


def about(seconds, run):
    """Runs of a setting differ by a tenth of a percent: equal values would show nothing."""
    return seconds * (1 + 0.001 * (run.position % 3))


def test_the_answer_of_levels_names_the_fastest(interleaved):
    campaign = interleaved([2, 4, 8])
    store(campaign, lambda run: about(80.0 / run.cell.levels_by_factor["concurrency"], run))

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == (
        "Concurrency 8 is the fastest; 4 takes 2 times as long, 2 takes 4 times as long."
    )
    assert "one session" in answer["caveat"]


def test_one_run_a_cell_crowns_no_winner(interleaved):
    campaign = interleaved([2, 4])
    campaign.runs.filter(block__repetition__gt=1).update(state=Run.State.CANCELLED)
    for run in campaign.runs.filter(block__repetition=1).select_related("cell"):
        import_run(
            run,
            [
                Value(
                    "duration",
                    8.0 / run.cell.levels_by_factor["concurrency"],
                    "s",
                    lower_is_better=True,
                )
            ],
            started_at=START,
            finished_at=START,
        )

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "No setting is ranked: 2 of 2 settings have fewer than 3 runs."
    assert answer["certainty"] == "Duration is 2 s to 4 s, 2 runs."
    assert "est setting" not in str(answer)


def test_cells_that_did_other_work_are_not_ranked_together(interleaved):
    campaign = interleaved([2, 4], manifest=["/small", "/large"])
    store(
        campaign,
        lambda run: about(
            (10.0 if run.cell.levels_by_factor["manifest"] == "/small" else 90.0)
            / run.cell.levels_by_factor["concurrency"],
            run,
        ),
    )

    answer = findings(campaign)["answer"]

    assert (
        answer["sentence"]
        == "Concurrency 4 is the fastest in both combinations of the other factors."
    )
    assert "Manifest /small: 4 vs. 2: faster, −50.0 % (" in details_of(answer)


def test_where_the_best_differs_between_groups_each_is_named(interleaved):
    campaign = interleaved([2, 4], manifest=["/small", "/large"])

    def seconds(run):
        levels = run.cell.levels_by_factor
        small = levels["manifest"] == "/small"
        return (1.0 if small else 50.0) * (
            levels["concurrency"] if small else 1 / levels["concurrency"]
        )

    store(campaign, lambda run: seconds(run) * (1 + 0.001 * (run.position % 3)))

    sentence = findings(campaign)["answer"]["sentence"]

    assert sentence == "The fastest concurrency: 2 (manifest /small); 4 (manifest /large)."


def test_a_group_that_cannot_be_judged_is_told_beside_the_others(interleaved):
    campaign = interleaved([2, 4], manifest=["/small", "/large", "/gone"])
    store(
        campaign,
        lambda run: 10.0 / run.cell.levels_by_factor["concurrency"] + 0.001 * run.position,
    )
    for run in campaign.runs.select_related("cell"):
        if run.cell.levels_by_factor["manifest"] == "/gone":
            Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED)

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == (
        "The fastest concurrency: 4 (manifest /small); 4 (manifest /large); "
        "1 combination cannot be judged."
    )
    told = "Manifest /gone, concurrency 2: fails too often (3 of 3 runs failed)"
    assert told in details_of(answer)
    assert [badge["word"] for badge in answer["badges"]] == [
        "faster: 2 of 3 steps",
        "too many failures: 1 of 3 steps",
    ]
    assert any("/small: 4 vs. 2" in said["text"] for said in answer["statements"])


def test_an_answer_without_any_value_counts_what_happened(interleaved):
    campaign = interleaved([2, 4])
    campaign.runs.filter(position__lte=2).update(state=Run.State.VOID)
    campaign.runs.filter(position=3).update(state=Run.State.FAILED)

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == ("No run came through: 1 failed, 2 were void, lost or cancelled.")


def test_the_hash_is_that_of_the_stored_campaign_not_of_the_object_at_hand(paired):
    campaign = paired(["/a"], 3)
    store(campaign, lambda run: 10.0 + run.position / 100)
    compute.analyse(Campaign.objects.get(pk=campaign.pk))
    (stored,) = set(campaign.findings.values_list("data_hash", flat=True))

    campaign.cool_down_seconds = 0  # the database gives back 0.0
    compute.analyse(campaign)

    assert set(campaign.findings.values_list("data_hash", flat=True)) == {stored}
