"""A campaign stops by itself, keeps to its time budget, and to the quiet hours of its target."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from campaigns import dispatch, execution
from campaigns.definition import life
from campaigns.dispatch import queueing
from campaigns.execution.claim import claim
from campaigns.models import Attempt, Campaign, Run, Target, TargetLease
from campaigns.queries.expected import expected_seconds
from campaigns.queries.waiting import why_waiting
from campaigns.tests.execution.beside import Beside

pytestmark = pytest.mark.django_db(transaction=True)


def execute_next():
    """Dispatch, and execute what was queued; the run that it was, None where nothing was."""
    Campaign.objects.update(analysis_requested_at=None)
    dispatch.dispatch()
    attempt = Attempt.objects.filter(state=Attempt.State.QUEUED, targetlease__isnull=False).first()
    return execution.execute(attempt.pk, "measure@here", "here") if attempt else None


def run_all(campaign, most=60):
    for _ in range(most):
        if execute_next() is None:
            break
    campaign.refresh_from_db()


def claimed(open_attempt):
    attempt = claim(open_attempt().pk, "measure@here", "here")
    assert attempt is not None
    return attempt


def back_date(campaign, seconds):
    """Let the launch, and the runs since then, have been so much earlier."""
    earlier = timedelta(seconds=seconds)
    Campaign.objects.filter(pk=campaign.pk).update(counted_from=F("counted_from") - earlier)
    Attempt.objects.filter(run__campaign=campaign).update(
        claimed_at=F("claimed_at") - earlier, finished_at=F("finished_at") - earlier
    )


def quiet_from(target, hours_ago, hours_more):
    """Quiet hours that began so many hours ago and go on for so many more, in UTC."""
    now = datetime.now(UTC)
    begin, end = now - timedelta(hours=hours_ago), now + timedelta(hours=hours_more)
    target.quiet_hours = f"daily {begin:%H:%M}-{end:%H:%M}"
    target.save()
    return end


def test_a_campaign_pauses_by_itself_after_failures_in_a_row(launched, stand_in):
    campaign = launched(
        factors={"manners": ["refusing"]}, repetitions=9, max_consecutive_failures=3
    )

    run_all(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert campaign.state_reason == (
        "stopped by itself: 3 runs in a row failed or were void, the last one: The manifest is "
        "empty. Look at the target, then resume or cancel."
    )
    assert campaign.runs.filter(state=Run.State.FAILED).count() == 3
    assert campaign.runs.filter(state=Run.State.PLANNED).count() == 6
    assert campaign.log.filter(text=campaign.state_reason).count() == 1
    assert why_waiting(campaign).startswith("Stopped by itself: 3 runs")


def test_after_a_resumption_failures_count_anew(launched):
    campaign = launched(
        factors={"manners": ["refusing"]}, repetitions=9, max_consecutive_failures=3
    )
    run_all(campaign)

    life.resume(campaign)
    run_all(campaign)

    assert campaign.runs.filter(state=Run.State.FAILED).count() == 6
    assert campaign.state == Campaign.State.PAUSED


def test_a_success_between_them_breaks_the_row(launched):
    campaign = launched(
        factors={"manners": ["refusing", "good"]},
        order="paired",
        paired_factor="manners",
        repetitions=4,
        max_consecutive_failures=3,
        max_failed_percent=100,
    )

    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert campaign.runs.filter(state=Run.State.FAILED).count() == 4


def test_a_campaign_pauses_where_too_large_a_share_fails_from_ten_runs_on(launched):
    campaign = launched(
        factors={"manners": ["refusing", "good"]},
        order="paired",
        paired_factor="manners",
        repetitions=20,
        max_failed_percent=40,
    )

    run_all(campaign)

    assert campaign.state == Campaign.State.PAUSED
    ended = campaign.runs.filter(finished_at__isnull=False).count()
    assert ended == 10
    assert "runs failed or were void, above 40 %" in campaign.state_reason


def test_a_share_that_is_first_judged_when_a_good_run_ends_pauses_as_well(launched):
    campaign = launched(
        factors={"manners": ["refusing", "good", "chatty"]},
        order="blocked",
        repetitions=4,
        max_failed_percent=10,
    )

    run_all(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert campaign.runs.filter(state=Run.State.DONE).count() == 6
    assert campaign.state_reason.startswith(
        "stopped by itself: 4 of 10 runs failed or were void, above 10 %, the last one: The "
        "manifest is empty."
    )


def test_void_runs_count_when_all_their_attempts_are_used_up(launched):
    campaign = launched(factors={"manners": ["unclean"]}, repetitions=9, max_consecutive_failures=2)

    run_all(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert campaign.runs.filter(state=Run.State.VOID).count() == 2
    assert Attempt.objects.filter(state=Attempt.State.VOID).count() == 6


def test_lost_attempts_stop_a_campaign_as_well(launched, abandoned):
    campaign = launched(max_consecutive_failures=1)
    Run.objects.update(attempts_allowed=1)
    abandoned(campaign)

    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.PAUSED
    assert "a run failed or was void, the last one: lost with gone" in campaign.state_reason
    assert not Attempt.objects.filter(state__in=Attempt.OPEN).exists()


def test_the_last_run_ends_a_campaign_even_if_it_fails(launched):
    campaign = launched(
        factors={"manners": ["refusing"]}, repetitions=2, max_consecutive_failures=2
    )

    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED


def test_try_outs_stop_nothing(draft):
    campaign = draft(factors={"manners": ["refusing"]}, max_consecutive_failures=1)
    life.try_one(campaign, None)

    run_all(campaign)

    assert campaign.state == Campaign.State.DRAFT


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


def test_no_run_begins_that_is_not_expected_to_end_within_the_budget(launched, stand_in):
    stand_in.estimate_seconds = lambda parameters: 90.0
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
    life.pause(campaign, None)
    life.resume(campaign, None)

    run_all(campaign)

    assert campaign.state_reason == ""
    assert campaign.runs.filter(state=Run.State.DONE).count() == campaign.runs.count()


def test_an_extension_gets_a_budget_of_its_own(launched, stand_in):
    stand_in.estimate_seconds = lambda parameters: 1.0
    campaign = launched(time_budget_seconds=60, repetitions=1)
    execute_next()
    back_date(campaign, 60)
    dispatch.dispatch()

    life.extend(campaign, 1, None)
    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert campaign.state_reason == ""
    assert campaign.runs.filter(state=Run.State.DONE).count() == 1 + 2


def test_a_run_is_expected_to_take_the_median_of_its_cell(launched, stand_in):
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
    assert why_waiting(campaign) == f"W{lines.get().text[1:]}."


def test_no_run_begins_that_would_reach_into_quiet_hours(launched, target, stand_in):
    stand_in.estimate_seconds = lambda parameters: 3000.0
    quiet_from(target, -0.5, 2)
    campaign = launched()

    dispatch.dispatch()

    assert not Attempt.objects.exists()
    line = campaign.log.latest("pk").text
    assert "they begin at " in line
    assert line.endswith("and a run takes about 50 min")

    stand_in.estimate_seconds = lambda parameters: 5.0
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


def test_a_run_is_stopped_at_once_when_quiet_hours_begin_and_goes_on_afterwards(
    launched, target, stand_in, open_attempt
):
    campaign = launched(factors={"manners": ["slow"]}, repetitions=1)
    dispatch.dispatch()
    measuring = Beside(execution.execute, open_attempt().pk, "measure@here", "here")
    assert stand_in.measuring.wait(10)
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
    stand_in.go_on.set()
    assert execute_next().state == Run.State.DONE


def test_quiet_hours_of_another_target_on_the_same_server_count_as_well(
    launched, target, open_attempt
):
    launched()
    dispatch.dispatch()
    other = Target.objects.create(
        name="other name", family="stand-in", base_url=target.base_url, address=target.address
    )
    attempt = claimed(open_attempt)
    quiet_from(other, 1, 2)

    dispatch.dispatch()

    assert Run.objects.get(pk=attempt.run_id).reason == "the quiet hours of other name began"


def test_the_engines_get_the_strictest_limits_of_the_server(launched, target, stand_in):
    launched(repetitions=1)
    for rate in (7.0, 2.5):
        Target.objects.create(
            name=f"another for {rate}",
            family="stand-in",
            base_url=target.base_url,
            address=target.address,
            max_concurrency=6,
            max_requests_per_second=rate,
        )

    execute_next()

    context = stand_in.context
    assert (context.most_concurrent, context.most_per_second) == (6, 2.5)


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
    assert "mends the quiet hours of server" in why_waiting(campaign)


def test_a_run_above_what_the_owner_allows_meanwhile_is_void(launched, target):
    campaign = launched(factors={"level": [8]}, repetitions=1)
    target.max_concurrency = 4
    target.save()

    run = execute_next()

    attempt = Attempt.objects.get()
    assert attempt.state == Attempt.State.VOID
    assert attempt.reason.startswith("8 requests at a time are more than the 4 that the owner")
    assert run.campaign_id == campaign.pk


def test_a_campaign_behind_another_one_says_so(launched):
    first, second = launched(name="first"), launched(name="second")

    assert why_waiting(second) == "Behind “first” in the queue of the target."
    assert why_waiting(first) == "Waiting for a worker to take the next run."

    dispatch.dispatch()
    assert "it is held by run 1 of first" in why_waiting(second)


def test_a_pool_without_workers_is_told_and_loses_no_attempt(launched, worker):
    campaign = launched()
    worker.delete()

    dispatch.dispatch()

    assert not Attempt.objects.exists()
    assert why_waiting(campaign).startswith("No worker of the pool “measure” answers")


def test_the_first_in_the_queue_is_asked_first(launched):
    first, second = launched(), launched()
    Campaign.objects.filter(pk=first.pk).update(queue_place=9)

    assert [run.campaign_id for run in queueing._next_runs()] == [second.pk, first.pk]
