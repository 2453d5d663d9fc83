"""Two who do something at the same instant: nothing is lost, doubled, or waits for ever."""

import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.running import execute
from campaigns.kit.errors import NotPossible
from campaigns.models import Attempt, Campaign, Run, TargetLease
from campaigns.planning import lifecycle
from campaigns.results.closing import Fenced, close
from campaigns.results.storing import Outcome
from campaigns.tests.execution.beside import Beside, not_stored_yet

pytestmark = pytest.mark.django_db(transaction=True)


def test_many_dispatchers_queue_a_run_once(launched):
    launched()

    for each in [Beside(dispatch.dispatch) for _ in range(4)]:
        each.get()

    assert Attempt.objects.count() == 1


def test_many_messages_are_claimed_once(launched, open_attempt):
    launched()
    dispatch.dispatch()
    attempt = open_attempt()

    claims = [Beside(claim, attempt.pk, f"worker {n}", f"host {n}") for n in range(4)]

    assert sum(each.get() is not None for each in claims) == 1


def test_an_extension_that_is_being_stored_keeps_its_campaign_open(launched):
    campaign = launched()
    Run.objects.update(state=Run.State.DONE)

    with not_stored_yet():
        lifecycle.extend(campaign, 1, None)
        Beside(dispatch.dispatch).get()
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING
    assert Attempt.objects.get().run.position == 5


def test_a_run_that_is_just_planned_again_keeps_its_campaign_open(launched):
    campaign = launched()
    Run.objects.update(state=Run.State.FAILED, reason="refused")

    with not_stored_yet():
        lifecycle.run_again(campaign.runs.get(position=2), None)
        Beside(dispatch.dispatch).get()
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING
    assert Attempt.objects.get().run.position == 2


def test_a_lost_run_of_a_campaign_that_is_being_cancelled_is_not_planned_again(launched, abandoned):
    campaign = launched()
    abandoned(campaign)

    with not_stored_yet():
        lifecycle.cancel(campaign, "enough")
        Beside(dispatch.dispatch).get()
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.CANCELLED
    assert set(campaign.runs.values_list("state", "reason")) == {("cancelled", "enough")}


def test_a_try_out_that_is_being_queued_holds_the_launch_back(draft):
    campaign = draft()
    lifecycle.try_one(campaign, None)

    with not_stored_yet():
        dispatch.dispatch()
        launching = Beside(lifecycle.launch, campaign, None)
        launching.ended(0.3)

    with pytest.raises(NotPossible, match="try-out"):
        launching.get()
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.DRAFT


def test_a_run_that_is_claimed_while_it_is_cancelled_is_told_to_stop_or_never_begins(
    launched, open_attempt
):
    campaign = launched(repetitions=6)
    for position in range(1, 9):
        dispatch.dispatch()
        attempt = open_attempt()
        claiming = Beside(claim, attempt.pk, "measure@here", "here")
        cancelling = Beside(lifecycle.cancel_run, attempt.run, "a mistake")

        claimed = claiming.get()
        cancelling.get()

        attempt.refresh_from_db()
        if claimed is None:
            assert attempt.state == Attempt.State.CANCELLED
        else:
            assert attempt.cancel_requested_at is not None
            Attempt.objects.filter(pk=attempt.pk).update(state=Attempt.State.CANCELLED)
            Run.objects.filter(pk=attempt.run_id).update(state=Run.State.CANCELLED)
            TargetLease.objects.update(attempt=None)
            attempt.generator_leases.all().delete()
        assert campaign.runs.get(position=position).state == Run.State.CANCELLED


def test_a_campaign_that_is_cancelled_while_a_run_is_claimed_ends(launched, open_attempt):
    for _ in range(6):
        campaign = launched()
        dispatch.dispatch()
        attempt = open_attempt()
        executing = Beside(execute, attempt.pk, "measure@here", "here")
        cancelling = Beside(lifecycle.cancel, campaign, "enough")

        executing.get()
        cancelling.get()
        dispatch.dispatch()

        campaign.refresh_from_db()
        assert campaign.state == Campaign.State.CANCELLED
        assert not campaign.runs.filter(state__in=["planned", "running"]).exists()


def test_an_outcome_that_comes_just_as_the_attempt_is_taken_back_counts_once(launched):
    campaign = launched(cool_down_seconds=0.001)
    for _ in range(3):
        Campaign.objects.update(analysis_requested_at=None, not_before=None)
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        claimed = claim(attempt.pk, "measure@here", "here")
        TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))

        ends = [Beside(_close, claimed), Beside(dispatch.dispatch)]
        for each in ends:
            each.get()

        attempt.refresh_from_db()
        assert attempt.state in (Attempt.State.ACCEPTED, Attempt.State.LOST)
        run = campaign.runs.get(pk=attempt.run_id)
        lost = "planned" if attempt.number < run.attempts_allowed else "void"
        assert run.state == ("done" if attempt.state == Attempt.State.ACCEPTED else lost)
        assert not TargetLease.objects.filter(attempt=attempt).exists()


def _close(attempt):
    with suppress(Fenced):
        close(attempt, Outcome(state=Attempt.State.ACCEPTED))


def test_a_run_is_excluded_once_however_many_say_so(launched):
    run = launched().runs.get(position=1)
    Run.objects.update(state=Run.State.DONE)

    saying = [Beside(lifecycle.exclude, run, None, f"reason {n}") for n in range(3)]

    assert all(each.ended() for each in saying)
    assert [type(each.error) for each in saying].count(NotPossible) == 2
    assert run.exclusions.count() == 1


def test_a_dispatcher_that_stands_still_holds_nobody_up_for_long(launched, monkeypatch):
    monkeypatch.setattr(dispatch, "WAIT_SECONDS", 0.2)
    launched()

    with not_stored_yet():
        dispatch.dispatch()
        Beside(dispatch.dispatch).get()

    assert Attempt.objects.count() == 1


def test_a_dispatcher_that_was_stopped_is_cut_off_by_the_database(launched, monkeypatch):
    monkeypatch.setattr(dispatch, "STUCK_SECONDS", 1)
    launched()
    stopped, go_on = threading.Event(), threading.Event()

    def stand_still(*arguments):
        stopped.set()
        go_on.wait(20)

    with monkeypatch.context() as patched:
        patched.setattr(dispatch, "close_campaigns", stand_still)
        standing = Beside(dispatch.dispatch)
        assert stopped.wait(10)
    try:
        for _ in range(3):
            dispatch.dispatch()
        assert Attempt.objects.count() == 1
    finally:
        go_on.set()
    standing.ended()
    assert standing.error is not None
