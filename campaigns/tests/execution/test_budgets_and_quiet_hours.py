"""A campaign keeps to its time budget, and to the quiet hours of its target."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from campaigns.execution import dispatch, keeper
from campaigns.execution.claim import claim
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.models import Attempt, Campaign, Run, Target, TargetLease
from campaigns.planning import lifecycle
from campaigns.planning.expected import expected_seconds
from campaigns.tests.execution.beside import Beside
from campaigns.tests.execution.going_on import back_date, claimed, execute_next, quiet_from, run_all

pytestmark = pytest.mark.django_db
COMMITS = pytest.mark.django_db(transaction=True)
"""Of tests in which somebody else, with a connection of its own, reads what was stored."""


def test_a_time_budget_that_is_over_cancels_the_rest_and_finishes_the_campaign(launched):
    campaign = launched(repetitions=3, time_budget_seconds=7200)
    execute_next()
    back_date(campaign, 7200)

    assert execute_next() is None

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert campaign.state_reason == "time budget of 2 h is over"
    assert campaign.runs.filter(state=Run.State.DONE).count() == 1
    cancelled = campaign.runs.filter(state=Run.State.CANCELLED)
    assert set(cancelled.values_list("reason", flat=True)) == {"time budget of 2 h is over"}
    assert campaign.analysis_requested_at is not None
    assert campaign.log.filter(text="campaign finished: time budget of 2 h is over").exists()


def test_the_run_that_is_on_is_told_to_stop_when_the_budget_is_over(launched, open_attempt):
    campaign = launched(repetitions=3, time_budget_seconds=600)
    dispatch.dispatch()
    attempt = claimed(open_attempt)
    back_date(campaign, 600)

    dispatch.dispatch()

    attempt.refresh_from_db()
    assert attempt.cancel_requested_at is not None
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING
    assert campaign.runs.filter(state=Run.State.CANCELLED).count() == 5


def test_what_is_queued_when_the_budget_ends_is_not_claimed(launched, open_attempt):
    campaign = launched(time_budget_seconds=600)
    execute_next()
    dispatch.dispatch()
    back_date(campaign, 600)

    assert claim(open_attempt().pk, "measure@here", "here") is None
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert not Attempt.objects.filter(state__in=Attempt.OPEN).exists()
    assert not TargetLease.objects.exclude(attempt=None).exists()


def test_no_run_begins_that_is_not_expected_to_end_within_the_budget(launched, controlled):
    controlled.estimate_seconds = lambda parameters: 90.0
    campaign = launched(time_budget_seconds=80)

    assert execute_next() is None
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert campaign.state_reason.startswith(
        "time budget of 1 min 20 s is over: a run takes about 1 min 30 s, with "
    )


def test_waiting_before_the_first_run_uses_nothing_of_a_time_budget(launched):
    first = launched(time_budget_seconds=600, repetitions=2)
    second = launched(time_budget_seconds=600, repetitions=1)
    execute_next()
    back_date(first, 500)
    back_date(second, 7200)

    run_all(first)
    run_all(second)

    assert second.state == Campaign.State.FINISHED
    assert second.state_reason == ""
    assert second.runs.exclude(state=Run.State.DONE).count() == 0


def test_after_a_resumption_a_budget_counts_from_the_next_run(launched):
    campaign = launched(time_budget_seconds=600, repetitions=3)
    execute_next()
    back_date(campaign, 599)
    lifecycle.pause(campaign, None)
    lifecycle.resume(campaign, None)

    run_all(campaign)

    assert campaign.state_reason == ""
    assert campaign.runs.filter(state=Run.State.DONE).count() == campaign.runs.count()


def test_an_extension_gets_a_budget_of_its_own(launched, controlled):
    controlled.estimate_seconds = lambda parameters: 1.0
    campaign = launched(time_budget_seconds=60, repetitions=1)
    execute_next()
    back_date(campaign, 60)
    dispatch.dispatch()

    lifecycle.extend(campaign, 1, None)
    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert campaign.state_reason == ""
    assert campaign.runs.filter(state=Run.State.DONE).count() == 1 + 2


def test_a_run_is_expected_to_take_the_median_of_its_cell(launched, controlled):
    campaign = launched(factors={"level": [1, 2]}, repetitions=4)
    run_all(campaign)
    attempts = Attempt.objects.filter(run__cell__levels_by_factor={"level": 1})
    for seconds, attempt in zip([1, 2, 4, 100], attempts, strict=True):
        Attempt.objects.filter(pk=attempt.pk).update(
            finished_at=F("claimed_at") + timedelta(seconds=seconds)
        )
    other = Attempt.objects.exclude(pk__in=attempts).select_related("run__cell", "run__campaign")
    run = attempts.select_related("run__cell", "run__campaign")[0].run

    assert expected_seconds(run) == 3.0

    Attempt.objects.filter(pk__in=[attempt.pk for attempt in other]).delete()
    assert expected_seconds(Run.objects.exclude(attempts__in=attempts)[0]) == 3.0


def test_nothing_begins_in_quiet_hours_and_the_log_says_so_once(launched, target):
    ends_at = quiet_from(target, 1, 2)
    campaign = launched()

    for _ in range(3):
        dispatch.dispatch()

    assert not Attempt.objects.exists()
    lines = campaign.log.filter(text__startswith="waits for the end of the quiet hours of server")
    assert f"{ends_at:%H:%M} UTC" in lines.get().text
    assert waiting_for(campaign).why == f"W{lines.get().text[1:]}."


def test_no_run_begins_that_would_reach_into_quiet_hours(launched, target, controlled):
    controlled.estimate_seconds = lambda parameters: 3000.0
    quiet_from(target, -0.5, 2)
    campaign = launched()

    dispatch.dispatch()

    assert not Attempt.objects.exists()
    line = campaign.log.latest("pk").text
    assert "they begin at " in line
    assert line.endswith("and a run takes about 50 min")

    controlled.estimate_seconds = lambda parameters: 5.0
    assert execute_next() is not None


def test_a_run_that_is_on_when_quiet_hours_begin_is_given_back_without_counting(
    launched, target, open_attempt
):
    campaign = launched()
    dispatch.dispatch()
    attempt = claimed(open_attempt)
    quiet_from(target, 1, 2)

    dispatch.dispatch()

    attempt.refresh_from_db()
    assert attempt.interrupted_at is not None
    assert attempt.cancel_requested_at is None
    assert Run.objects.get(pk=attempt.run_id).reason == "the quiet hours of server began"
    assert campaign.runs.filter(state=Run.State.PLANNED).count() == 3


@COMMITS
def test_a_run_is_stopped_at_once_when_quiet_hours_begin_and_goes_on_afterwards(
    launched, target, controlled, open_attempt
):
    campaign = launched(factors={"manners": ["slow"]}, repetitions=1)
    dispatch.dispatch()
    measuring = Beside(execute, open_attempt().pk, "measure@here", "here")
    assert controlled.measuring.wait(10)
    quiet_from(target, 1, 2)

    dispatch.dispatch()
    measuring.get()

    attempt = Attempt.objects.get()
    assert (attempt.state, attempt.reason) == ("lost", "the quiet hours of server began")
    run = campaign.runs.get()
    assert (run.state, run.reason) == (Run.State.PLANNED, "")
    assert execute_next() is None
    target.quiet_hours = ""
    target.save()
    controlled.go_on.set()
    assert execute_next().state == Run.State.DONE


@pytest.fixture
def measuring_alone(controlled, open_attempt, monkeypatch):
    """Execute a slow run; from then on nobody dispatches. Give what waits for its end."""
    monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(keeper, "LIMITS_SECONDS", 0.1)

    def begin():
        dispatch.dispatch()
        beside = Beside(execute, open_attempt().pk, "measure@here", "here")
        assert controlled.measuring.wait(10)
        return beside

    return begin


@COMMITS
def test_a_run_stops_when_quiet_hours_begin_although_nobody_dispatches(
    launched, target, controlled, measuring_alone
):
    campaign = launched(factors={"manners": ["slow"]}, repetitions=1)
    measuring = measuring_alone()

    quiet_from(target, 1, 2)
    measuring.get()

    attempt = Attempt.objects.get()
    assert (attempt.state, attempt.reason) == ("lost", "the quiet hours of server began")
    assert attempt.interrupted_at is not None
    assert (campaign.runs.get().state, campaign.runs.get().reason) == (Run.State.PLANNED, "")


@COMMITS
def test_a_run_stops_when_the_owner_takes_the_permission_back_and_is_repeated_later(
    draft, target, controlled, measuring_alone
):
    controlled.load = ("level",)
    target.is_production, target.overload_until = True, timezone.now() + timedelta(days=1)
    target.save()
    slow = draft(factors={"manners": ["slow"]}, parameters={"level": 50}, repetitions=1)
    campaign = lifecycle.launch(slow, None, "server")
    measuring = measuring_alone()

    Target.objects.update(overload_until=None)
    measuring.get()

    attempt = Attempt.objects.get()
    reason = "the time in which server may be overloaded ended"
    assert (attempt.state, attempt.reason) == ("lost", reason)
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.PAUSED
    assert "server may not be overloaded any more, so the run" in campaign.state_reason
    Target.objects.update(overload_until=timezone.now() + timedelta(days=1))
    lifecycle.resume(campaign, None, "server")
    controlled.go_on.set()
    assert execute_next().state == Run.State.DONE


@COMMITS
def test_a_run_stops_when_the_budget_is_over_although_nobody_dispatches(launched, measuring_alone):
    campaign = launched(factors={"manners": ["slow"]}, repetitions=3, time_budget_seconds=7200)
    measuring = measuring_alone()

    back_date(campaign, 7200)
    measuring.get()

    attempt = Attempt.objects.get()
    assert (attempt.state, attempt.reason) == ("cancelled", "time budget of 2 h is over")
    assert set(campaign.runs.values_list("state", flat=True)) == {Run.State.CANCELLED}
    dispatch.dispatch()
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert campaign.state_reason == "time budget of 2 h is over"


@COMMITS
def test_what_is_on_in_a_paused_campaign_stops_when_the_budget_is_over_and_goes_on_later(
    launched, controlled, measuring_alone
):
    campaign = launched(factors={"manners": ["slow"]}, repetitions=2, time_budget_seconds=7200)
    measuring = measuring_alone()
    lifecycle.pause(campaign, None)

    back_date(campaign, 7200)
    measuring.get()
    dispatch.dispatch()

    assert Attempt.objects.get().reason == "time budget of 2 h is over"
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.PAUSED
    assert set(campaign.runs.values_list("state", flat=True)) == {Run.State.PLANNED}
    line = "time budget of 2 h is over; the current run is stopped, and waits until the campaign is resumed"
    assert campaign.log.filter(text=line).count() == 1

    controlled.go_on.set()
    lifecycle.resume(campaign, None)
    run_all(campaign)
    assert campaign.state == Campaign.State.FINISHED
    assert campaign.runs.filter(state=Run.State.DONE).count() == 2


def test_dispatch_stops_what_is_on_in_a_paused_campaign_as_well(launched, open_attempt):
    campaign = launched(repetitions=3, time_budget_seconds=600)
    dispatch.dispatch()
    attempt = claimed(open_attempt)
    lifecycle.pause(campaign, None)
    back_date(campaign, 600)

    dispatch.dispatch()

    attempt.refresh_from_db()
    assert attempt.interrupted_at is not None
    assert attempt.cancel_requested_at is None
    assert campaign.runs.filter(state=Run.State.CANCELLED).count() == 0


def test_quiet_hours_of_another_target_on_the_same_server_count_as_well(
    launched, target, open_attempt
):
    launched()
    dispatch.dispatch()
    other = Target.objects.create(
        name="other name", family="controlled", base_url=target.base_url, address=target.address
    )
    attempt = claimed(open_attempt)
    quiet_from(other, 1, 2)

    dispatch.dispatch()

    assert Run.objects.get(pk=attempt.run_id).reason == "the quiet hours of other name began"


def test_a_message_that_comes_in_quiet_hours_is_not_claimed(launched, target, open_attempt):
    launched()
    dispatch.dispatch()
    quiet_from(target, 1, 2)

    assert claim(open_attempt().pk, "measure@here", "here") is None
    assert open_attempt().state == Attempt.State.QUEUED


def test_quiet_hours_that_cannot_be_read_any_more_hold_everything_back(launched, target):
    target.quiet_hours = "at night"
    target.save()
    campaign = launched()

    dispatch.dispatch()

    assert not Attempt.objects.exists()
    assert "the quiet hours of server are corrected" in waiting_for(campaign).why
