"""Which runs make a pair, and how the others are counted."""

from datetime import timedelta

import pytest

from campaigns.findings.compute.pairs import _name
from campaigns.models import Attempt, Measurement, Run
from campaigns.planning import lifecycle
from campaigns.tests.findings.compute.conftest import findings, store
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def six_pairs(paired):
    """Six pairs of one manifest, 10 % apart; run 1 and 2 are the first pair."""
    campaign = paired(["/a"], 6)
    noise = (0.3, 0.2, -0.2, -0.3, -0.1, 0.1)

    def value(run):
        if run.cell.levels_by_factor["engine"] == "futures":
            return 10.0
        return 9.0 + noise[run.block.repetition - 1]

    store(campaign, value)
    return campaign


def comparison_of(campaign):
    return findings(campaign)["pairs"]["strata"][0]["comparison"]


def test_all_pairs_count(six_pairs):
    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["verdict"]["word"]) == (6, "better")


def test_a_pair_with_a_void_side_is_counted_as_lost(six_pairs):
    Run.objects.filter(position=1).update(state=Run.State.VOID)

    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["incomplete_by_loss"]) == (5, 1)


def test_a_pair_with_a_bound_side_is_counted_as_lost(six_pairs):
    Measurement.objects.filter(attempt__run__position=1).update(bound=True)

    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["incomplete_by_loss"]) == (5, 1)


def test_a_side_that_has_no_value_of_the_metric_is_counted_as_lost(six_pairs):
    Measurement.objects.filter(attempt__run__position=1).delete()

    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["incomplete_by_loss"]) == (5, 1)


def test_a_timed_out_side_is_counted_as_failed(six_pairs):
    Run.objects.filter(position=1).update(state=Run.State.FAILED)
    Attempt.objects.filter(run__position=1).update(state=Attempt.State.FAILED)
    Measurement.objects.filter(attempt__run__position=1).update(censored=True)

    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["incomplete_by_failure"]) == (5, 1)


def test_an_excluded_side_takes_its_pair_out_without_counting_as_anything(six_pairs):
    lifecycle.exclude(six_pairs.runs.get(position=1), somebody("analyst"), "a backup")

    found = comparison_of(six_pairs)

    assert found["n_pairs"] == 5
    assert (found["incomplete_by_failure"], found["incomplete_by_loss"]) == (0, 0)


def test_a_campaign_that_was_cancelled_is_judged_by_the_pairs_that_it_has(six_pairs):
    Run.objects.filter(position__gt=8).update(state=Run.State.CANCELLED)

    answer = findings(six_pairs)["answer"]
    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["incomplete_by_loss"]) == (4, 0)
    assert found["verdict"]["word"] == "better"
    assert "4 of 12 runs were void, lost or cancelled" in answer["caveat"]


def test_a_run_that_was_repeated_a_day_later_makes_no_pair_with_its_old_partner(six_pairs):
    run = six_pairs.runs.get(position=1)
    Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(days=1))

    found = comparison_of(six_pairs)

    assert (found["n_pairs"], found["incomplete_by_loss"]) == (5, 1)


def test_who_ran_first_goes_by_the_instants(six_pairs):
    shown = findings(six_pairs)["pairs"]["strata"][0]["pairs"][0]["candidate_first"]
    first = six_pairs.runs.get(position=1)
    Run.objects.filter(pk=first.pk).update(started_at=first.started_at + timedelta(hours=1))

    pairs = findings(six_pairs)["pairs"]["strata"][0]["pairs"]

    assert pairs[0]["candidate_first"] is not shown


def test_two_days_are_two_sessions(six_pairs):
    assert "Seen in one session" in findings(six_pairs)["answer"]["caveat"]
    for run in six_pairs.runs.filter(position__gt=6):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(days=1))

    found = findings(six_pairs)

    assert found["pairs"]["sessions"] == 2
    assert "2 sessions" in found["answer"]["certainty"]


def in_two_sessions(campaign):
    for run in campaign.runs.filter(position__gt=campaign.runs.count() // 2):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(days=1))
    return findings(campaign)["pairs"]["strata"][0]["standing"]


def test_one_session_never_confirms(six_pairs):
    standing = findings(six_pairs)["pairs"]["strata"][0]["standing"]

    assert (standing["standing"], standing["sessions"]) == ("one_session", 1)


def test_two_sessions_that_agree_confirm(six_pairs):
    standing = in_two_sessions(six_pairs)

    assert standing["each"] == ["better", "better"]
    assert (standing["standing"], standing["sessions"]) == ("confirmed", 2)


def test_two_sessions_that_disagree_do_not_confirm(paired):
    campaign = paired(["/a"], 6)
    store(
        campaign,
        lambda run: (
            10.0 + 0.01 * run.position
            if run.cell.levels_by_factor["engine"] == "futures"
            else (8.0 if run.block.repetition <= 3 else 12.0) + 0.01 * run.position
        ),
    )
    standing = in_two_sessions(campaign)

    assert standing["each"] == ["better", "worse"]
    assert (standing["standing"], standing["reason"]) == ("not_confirmed", "sessions_disagree")
    assert standing["differ"]


def test_strata_whose_levels_read_alike_have_names_of_their_own():
    names = [_name({"one": "a, b", "two": "c"}), _name({"one": "a", "two": "b, c"})]

    assert names == ["“a, b”, c", "a, “b, c”"]
