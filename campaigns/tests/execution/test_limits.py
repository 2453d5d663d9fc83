"""A campaign stops by itself, and keeps to what the owner of its target allows."""

import pytest

from campaigns.execution import dispatch
from campaigns.execution.dispatch import queueing
from campaigns.execution.waiting import waiting_for
from campaigns.models import Attempt, Campaign, Run, Target
from campaigns.planning import lifecycle
from campaigns.tests.execution.going_on import execute_next, run_all

pytestmark = pytest.mark.django_db


def test_a_campaign_pauses_by_itself_after_failures_in_a_row(launched, controlled):
    campaign = launched(
        factors={"manners": ["refusing"]}, repetitions=9, max_consecutive_failures=3
    )

    run_all(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert campaign.state_reason == (
        "stopped automatically: 3 runs in a row failed or were void, the last one: The manifest is "
        "empty. Look at the target, then resume or cancel."
    )
    assert campaign.runs.filter(state=Run.State.FAILED).count() == 3
    assert campaign.runs.filter(state=Run.State.PLANNED).count() == 6
    assert campaign.log.filter(text=campaign.state_reason).count() == 1
    assert waiting_for(campaign).why.startswith("Stopped automatically: 3 runs")


def test_after_a_resumption_failures_count_anew(launched):
    campaign = launched(
        factors={"manners": ["refusing"]}, repetitions=9, max_consecutive_failures=3
    )
    run_all(campaign)

    lifecycle.resume(campaign)
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
        "stopped automatically: 4 of 10 runs failed or were void, above 10 %, the last one: The "
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
    lifecycle.try_one(campaign, None)

    run_all(campaign)

    assert campaign.state == Campaign.State.DRAFT


def test_the_engines_get_the_strictest_limits_of_the_server(launched, target, controlled):
    launched(repetitions=1)
    for rate in (7.0, 2.5):
        Target.objects.create(
            name=f"another for {rate}",
            family="controlled",
            base_url=target.base_url,
            address=target.address,
            max_concurrency=6,
            max_requests_per_second=rate,
        )

    execute_next()

    context = controlled.context
    assert (context.most_concurrent, context.most_per_second) == (6, 2.5)


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

    assert waiting_for(second).why == "Behind “first” in the queue of the target."
    assert waiting_for(first).why == "Waiting for a worker to take the next run."

    dispatch.dispatch()
    assert "it is held by run 1 of first" in waiting_for(second).why


def test_a_pool_without_workers_is_told_and_loses_no_attempt(launched, worker):
    campaign = launched()
    worker.delete()

    dispatch.dispatch()

    assert not Attempt.objects.exists()
    assert waiting_for(campaign).why.startswith("No worker of the pool “measure” answers")


def test_the_first_in_the_queue_is_asked_first(launched):
    first, second = launched(), launched()
    Campaign.objects.filter(pk=first.pk).update(queue_place=9)

    assert [run.campaign_id for run in queueing._next_runs()] == [second.pk, first.pk]
