"""Whether a verdict hangs on one run: against what the findings say when that run is excluded."""

import pytest

from campaigns.findings import compute
from campaigns.findings.compute import sensitivity as trying
from campaigns.findings.store import findings_of
from campaigns.findings.values import Flip, Flipped
from campaigns.findings.wording.sensitivity import sensitivity_sentence
from campaigns.models import Campaign, Finding
from campaigns.planning import lifecycle
from campaigns.tests.findings.compute.conftest import findings, noisy, store
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

CLEAR = {5: 10.0, 10: 8.0, 20: 5.0}


def finished(campaign):
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    return campaign


@pytest.fixture
def spoilt(interleaved):
    """Two levels that differ by 6 %, but for one run: the campaign and its position."""
    campaign = interleaved([5, 10])
    lifecycle.extend(campaign, 5, None)
    usual = noisy({5: 10.0, 10: 9.4}, sd=0.01)
    position = campaign.runs.filter(cell__levels_by_factor={"concurrency": 10})[2].position

    def value_of(run):
        return usual(run) * (1.3 if run.position == position else 1.0)

    store(campaign, value_of)
    return finished(campaign), position


def analysed(campaign):
    compute.analyse(campaign)
    return findings_of(campaign, "")


def words(found):
    (group,) = found.levels.groups
    return [row.comparison.verdict.word for row in group.comparisons]


def sentence(found):
    return sensitivity_sentence(found.pairs or found.levels, found.sensitivity)


def flips(look):
    return [flip.without for flip in look.flips]


def test_a_clear_difference_hangs_on_no_run(interleaved):
    campaign = interleaved(list(CLEAR))
    lifecycle.extend(campaign, 5, None)
    store(campaign, noisy(CLEAR))

    found = analysed(finished(campaign))
    result = found.sensitivity

    assert result.status == "robust"
    assert sentence(found).startswith("Robust: no single run and no single block")
    assert (result.as_judged.runs.tried, result.as_judged.blocks.tried) == (24, 8)
    assert result.with_excluded is None


def test_each_flip_is_what_excluding_that_run_really_does(spoilt, monkeypatch):
    ann = somebody("ann")
    campaign, position = spoilt
    whole = analysed(campaign)
    result = whole.sensitivity
    monkeypatch.setattr("campaigns.findings.compute.findings.leave_out", lambda *_: None)

    assert result.status == "flips"
    assert position in flips(result.as_judged.runs)
    for run in campaign.runs.filter(position__in=[1, 2, position]):
        lifecycle.exclude(run, ann, "tried")
        changed = words(analysed(campaign)) != words(whole)
        lifecycle.include(run, ann)
        verdicts = [
            flip.without
            for flip in result.as_judged.runs.flips
            if any(each.of == "levels" for each in flip.changes)
        ]
        assert changed == (run.position in verdicts), run.position


def test_the_run_that_a_verdict_hangs_on_is_named_with_both_words(spoilt):
    campaign, position = spoilt
    found = analysed(campaign)

    flip = next(f for f in found.sensitivity.as_judged.runs.flips if f.without == position)
    (change,) = [each for each in flip.changes if each.of == "levels"]

    assert (change.baseline, change.candidate) == (5, 10)
    assert (change.before, change.after) == ("not_enough_data", "better")
    assert f"run {position}: 10 vs. 5: faster instead of not enough data" in sentence(found)


def test_a_level_that_is_recommended_for_one_run_alone_is_named(interleaved):
    campaign = interleaved([5, 10, 20])
    lifecycle.extend(campaign, 5, None)
    usual = noisy({5: 10.0, 10: 8.0, 20: 7.7}, sd=0.01)
    position = campaign.runs.filter(cell__levels_by_factor={"concurrency": 20})[4].position
    store(campaign, lambda run: usual(run) * (1.1 if run.position == position else 1.0))

    result = analysed(finished(campaign)).sensitivity

    flip = next(f for f in result.as_judged.runs.flips if f.without == position)
    assert [(c.before, c.after) for c in flip.changes if c.of == "recommended"] == [(20, 10)]


def test_with_an_exclusion_both_sides_are_tried(spoilt):
    campaign, position = spoilt
    lifecycle.exclude(campaign.runs.get(position=position), somebody("ann"), "disk full")

    found = analysed(campaign)
    result = found.sensitivity

    assert position not in flips(result.as_judged.runs)
    assert result.as_judged.runs.tried == 15
    assert position in flips(result.with_excluded.runs)
    assert f"run {position} and with the exclusions undone" in sentence(found)


def test_three_blocks_are_too_few_to_leave_one_out(paired):
    campaign = paired(["/a"], 3)
    store(campaign, lambda run: 10.0 + run.position / 1000 + (run.cell.position == 1) * 3)

    found = analysed(finished(campaign))

    assert found.sensitivity.status == "too_few"
    assert sentence(found) == "With one pair less there would be too few to judge."
    assert found.sensitivity.as_judged.runs is None


def test_pairs_are_left_out_whole(paired):
    campaign = paired(["/a", "/b"], 6)
    store(campaign, lambda run: 10.0 + run.position / 100 + (run.cell.position % 2 == 1) * 3)

    result = analysed(finished(campaign)).sensitivity

    assert result.status == "robust"
    assert result.as_judged.blocks.tried == 12


def test_nothing_is_tried_while_the_campaign_goes_on(interleaved):
    campaign = interleaved(list(CLEAR))
    store(campaign, noisy(CLEAR))

    assert analysed(campaign).sensitivity is None


def test_what_would_take_too_long_is_not_tried_and_says_so(interleaved, monkeypatch):
    campaign = interleaved(list(CLEAR))
    store(campaign, noisy(CLEAR))
    monkeypatch.setattr(trying, "MOST_COST", 50)

    found = analysed(finished(campaign))
    runs = found.sensitivity.as_judged.runs

    assert (runs.tried, runs.of) == (0, 9)
    assert "Not tried for single runs: too many." in sentence(found)
    monkeypatch.setattr(trying, "MOST_COST", 5)
    campaign.findings.all().delete()
    assert analysed(campaign).sensitivity.status == "not_tried"


def test_without_any_run_that_counts_no_verdict_could_change(interleaved):
    found = analysed(finished(interleaved(list(CLEAR))))

    assert found.sensitivity.status == "undecided"
    assert sentence(found) == "There is no verdict that could flip."


def test_the_same_data_are_not_tried_again(interleaved, monkeypatch):
    campaign = interleaved(list(CLEAR))
    store(campaign, noisy(CLEAR))
    first = findings(finished(campaign))["sensitivity"]
    monkeypatch.setattr(trying._Judge, "verdicts", lambda *_: pytest.fail("tried again"))

    assert findings(campaign)["sensitivity"] == first
    campaign.findings.update(versions={})
    with pytest.raises(pytest.fail.Exception, match="tried again"):
        findings(campaign)


def test_it_changes_neither_the_hash_nor_any_other_finding(interleaved, monkeypatch):
    campaign = interleaved(list(CLEAR))
    store(campaign, noisy(CLEAR))
    with_it = findings(finished(campaign))
    hashed = set(campaign.findings.values_list("data_hash", flat=True))
    monkeypatch.setattr("campaigns.findings.compute.findings.leave_out", lambda *_: None)
    Finding.objects.filter(name="sensitivity").delete()

    without = findings(campaign)

    assert {name: each for name, each in with_it.items() if name != "sensitivity"} == without
    assert set(campaign.findings.values_list("data_hash", flat=True)) == hashed


def test_a_flip_of_a_verdict_is_kept_though_many_flips_of_the_best_level_come_before():
    def flip(without, of):
        return Flip(
            without,
            [Flipped(of=of, levels={}, primary=False, before="a", after="b", too_few=False)],
        )

    flips = [flip(position, "best") for position in range(1, 100)]

    kept = trying._kept([*flips, flip(100, "levels")])

    assert [each.without for each in kept] == [*range(1, trying.MOST_FLIPS), 100]
    assert kept[-1].changes[0].of == "levels"
