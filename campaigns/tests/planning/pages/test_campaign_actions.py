import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Attempt, Campaign, Run
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.tests.browsing import Page
from campaigns.tests.measured import begin, finish, launched, outcome, store

pytestmark = pytest.mark.django_db


def post(browser, name, *keys, **data):
    return browser.post(reverse(name, args=keys), data, follow=True)


def state_of(campaign):
    return Campaign.objects.get(pk=campaign.pk).state


def test_a_launch_queues_the_first_run(browser, draft, worker):
    answer = post(browser, "campaign-launch", draft.pk)

    assert state_of(draft) == Campaign.State.RUNNING
    assert Attempt.objects.get().run.position == 1
    assert answer.status_code == 200


def test_a_second_launch_is_refused_in_words(browser, draft):
    post(browser, "campaign-launch", draft.pk)

    answer = post(browser, "campaign-launch", draft.pk)

    assert "was launched; its definition is fixed" in Page(answer).text


def test_a_draft_is_tried_with_the_cell_that_was_chosen(browser, draft):
    second = draft.cells.get(position=2)

    post(browser, "campaign-try", draft.pk, cell=second.pk)

    assert draft.runs.get().cell == second
    assert draft.runs.get().purpose == Run.Purpose.TRIAL


@pytest.mark.parametrize("cell", ["", "x", "-1", "9" * 30, "\x00"])
def test_a_cell_that_is_not_there_is_the_first_one(browser, draft, cell):
    post(browser, "campaign-try", draft.pk, cell=cell)

    assert draft.runs.get().cell.position == 1


def test_pause_and_resume(browser, target, person):
    campaign = launched(target, person)

    post(browser, "campaign-pause", campaign.pk)
    assert state_of(campaign) == Campaign.State.PAUSED

    post(browser, "campaign-resume", campaign.pk)
    assert state_of(campaign) == Campaign.State.RUNNING


def test_a_cancel_asks_for_the_reason_first(browser, target, person):
    campaign = launched(target, person)

    asked = browser.get(reverse("campaign-cancel", args=[campaign.pk]))

    assert "Reason" in Page(asked).text
    assert state_of(campaign) == Campaign.State.RUNNING

    post(browser, "campaign-cancel", campaign.pk, reason="wrong \x00server")
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.CANCELLED
    assert campaign.state_reason == "wrong server"


def test_a_running_attempt_is_told_to_stop(browser, target, person):
    campaign = launched(target, person)
    attempt = begin(campaign.runs.first())

    answer = post(browser, "campaign-cancel", campaign.pk, reason="enough")

    attempt.refresh_from_db()
    assert attempt.cancel_requested_at is not None or attempt.state == Attempt.State.LOST
    assert answer.status_code == 200


def test_nothing_to_cancel_is_said(browser, draft):
    answer = browser.get(reverse("campaign-cancel", args=[draft.pk]), follow=True)

    assert "There is nothing to cancel: the campaign is draft." in Page(answer).text


@pytest.mark.parametrize("blocks", ["0", "201", "-3", "many", "", "9" * 40, "1.5", "²"])
def test_a_senseless_extension_is_refused_in_words(browser, target, person, blocks):
    campaign = launched(target, person)

    answer = post(browser, "campaign-extend", campaign.pk, blocks=blocks)

    assert "Extend by 1 to 200 repetitions." in Page(answer).text
    assert campaign.runs.count() == 6


def test_a_finished_campaign_goes_on_when_it_is_extended(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0)
    finish(campaign)

    post(browser, "campaign-extend", campaign.pk, blocks="2")

    assert state_of(campaign) == Campaign.State.RUNNING
    assert campaign.runs.count() == 10


@pytest.mark.parametrize("name", ["pause", "move-up", "move-down"])
def test_what_changes_something_is_not_looked_at(browser, draft, name):
    assert browser.get(reverse(f"campaign-{name}", args=[draft.pk])).status_code == 405


@pytest.mark.parametrize("name", ["launch", "try", "extend", "resume"])
def test_looking_changes_nothing(browser, draft, name):
    answer = browser.get(reverse(f"campaign-{name}", args=[draft.pk]))

    assert answer["Location"] == reverse("campaign", args=[draft.pk])
    assert state_of(draft) == Campaign.State.DRAFT
    assert not draft.runs.exists()


def test_a_post_without_its_token_is_refused(draft, person):
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)

    assert client.post(reverse("campaign-launch", args=[draft.pk])).status_code == 403


def test_a_failed_run_is_run_again(browser, target, person):
    campaign = launched(target, person)
    run = campaign.runs.get(position=2)
    close(begin(run), outcome("failed", reason="It refused."))

    post(browser, "run-again", campaign.pk, 2)

    run.refresh_from_db()
    assert run.state == Run.State.PLANNED
    assert run.attempts.count() == 1


def test_a_done_run_is_not_run_again(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0)

    answer = post(browser, "run-again", campaign.pk, 2)

    assert "Only a failed or void run is run again; run 2 is done." in Page(answer).text


def test_an_exclusion_asks_why_and_asks_for_an_analysis(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0)
    finish(campaign)

    refused = post(browser, "run-exclude", campaign.pk, 2, reason="  ")
    accepted = post(browser, "run-exclude", campaign.pk, 2, reason="another sync")

    assert "Say why the run is excluded." in Page(refused).text
    assert "another sync" in Page(accepted).text
    campaign.refresh_from_db()
    assert campaign.analysis_requested_at is not None


def test_an_excluded_run_can_count_again(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0)
    finish(campaign)
    lifecycle.exclude(campaign.runs.get(position=2), person, "a mistake")

    answer = post(browser, "run-include", campaign.pk, 2)

    assert not campaign.runs.filter(exclusions__withdrawn_at=None, exclusions__isnull=False)
    assert "withdrawn" in Page(answer).text


def test_a_planned_run_is_cancelled_with_its_reason(browser, target, person):
    campaign = launched(target, person)

    post(browser, "run-cancel", campaign.pk, 6, reason="not needed")

    run = campaign.runs.get(position=6)
    assert (run.state, run.reason) == (Run.State.CANCELLED, "not needed")


def test_a_try_out_is_cancelled(browser, draft, person):
    run = lifecycle.try_one(draft, person)

    asked = browser.get(reverse("trial-cancel", args=[draft.pk, run.position]))
    post(browser, "trial-cancel", draft.pk, run.position, reason="enough")

    run.refresh_from_db()
    assert "Cancel run 1?" in Page(asked).text
    assert run.state == Run.State.CANCELLED
