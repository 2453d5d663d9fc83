"""The database's clock is set back by an hour: what was written before lies in the future."""

from contextlib import closing
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from campaigns.execution import dispatch
from campaigns.kit.database_clock import database_now
from campaigns.models import (
    Attempt,
    Campaign,
    Dispatcher,
    Finding,
    FoundSetting,
    GeneratorLease,
    Run,
    Setting,
    Submission,
    Target,
    TargetLease,
    Worker,
)
from campaigns.planning import lifecycle
from campaigns.planning.expected import budget_seconds_left, expected_seconds
from campaigns.tests.execution.going_on import back_date, execute_next, run_all

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)


def ahead(model, field, seconds=0.0):
    """Rows whose instant is later than so many seconds from now."""
    latest = Now() + timedelta(seconds=seconds)
    return model.objects.filter(**{f"{field}__gt": latest}).exists()


def an_hour_ahead():
    Dispatcher.objects.update(ticked_at=Now() + HOUR)


def test_a_dead_workers_run_is_taken_back_within_one_time_to_live(launched, abandoned, settings):
    abandoned(launched())
    attempt = Attempt.objects.get()
    an_hour_ahead()
    TargetLease.objects.update(attempt=attempt, expires_at=Now() + HOUR)
    GeneratorLease.objects.create(host="here", attempt=attempt, expires_at=Now() + HOUR)

    dispatch.dispatch()

    for lease in (TargetLease, GeneratorLease):
        assert not ahead(lease, "expires_at", settings.LEASE_SECONDS)
    dispatch.dispatch()
    assert not ahead(Dispatcher, "ticked_at")
    TargetLease.objects.update(expires_at=Now() - HOUR)
    dispatch.dispatch()
    attempt.refresh_from_db()
    assert attempt.state == Attempt.State.LOST


def test_a_lease_that_was_just_renewed_is_not_cut(launched, open_attempt, settings):
    launched()
    dispatch.dispatch()
    an_hour_ahead()
    TargetLease.objects.update(expires_at=Now() + timedelta(seconds=settings.LEASE_SECONDS))
    before = TargetLease.objects.get().expires_at

    dispatch.dispatch()

    assert TargetLease.objects.get().expires_at == before


def test_nobody_waits_for_a_lease_that_is_being_renewed(launched, settings):
    launched()
    dispatch.dispatch()
    TargetLease.objects.update(expires_at=Now() + HOUR)
    an_hour_ahead()
    with closing(connection.copy()) as other, other.cursor() as keeper:
        keeper.execute("BEGIN")
        keeper.execute("UPDATE campaigns_targetlease SET holder = 'renewing'")

        dispatch.dispatch()

        assert ahead(Dispatcher, "ticked_at")
        keeper.execute("ROLLBACK")
    dispatch.dispatch()
    dispatch.dispatch()
    assert not ahead(TargetLease, "expires_at", settings.LEASE_SECONDS)
    assert not ahead(Dispatcher, "ticked_at")


@pytest.mark.parametrize("step", [36, 39, 300])
def test_a_living_keeper_is_not_taken_as_lost_when_the_clock_is_set_forward(
    launched, abandoned, settings, step
):
    """It renewed as long ago as it may have, and dispatch looks as seldom as it may."""
    settings.DISPATCH_SECONDS = 11
    abandoned(launched())
    TargetLease.objects.update(
        expires_at=Now() + timedelta(seconds=settings.LEASE_SECONDS - settings.RENEW_SECONDS - step)
    )
    Dispatcher.objects.update(ticked_at=Now() - timedelta(seconds=step))

    dispatch.dispatch()

    assert Attempt.objects.get().state == Attempt.State.RUNNING


def test_a_worker_that_died_in_the_future_is_not_taken_as_living_for_an_hour(launched, worker):
    launched()
    dispatch.dispatch()
    Worker.objects.update(seen_at=Now() + HOUR)
    an_hour_ahead()

    dispatch.dispatch()

    assert not ahead(Worker, "seen_at")


def test_neither_cool_down_nor_analysis_holds_the_next_run_back_for_an_hour(launched):
    launched(cool_down_seconds=30)
    dispatch.dispatch()
    Campaign.objects.update(
        not_before=Now() + HOUR, analysis_requested_at=Now() + HOUR, analysis_sent_at=Now() + HOUR
    )
    an_hour_ahead()

    dispatch.dispatch()

    assert not ahead(Campaign, "not_before", 30)
    assert not ahead(Campaign, "analysis_requested_at")
    assert not ahead(Campaign, "analysis_sent_at")


def set_back(campaign, seconds=3600):
    """Let everything that was stored lie that much later, and dispatch notice it."""
    back_date(campaign, -seconds)
    for field in ("started_at", "finished_at"):
        Run.objects.update(**{field: F(field) + timedelta(seconds=seconds)})
    Finding.objects.update(computed_at=F("computed_at") + timedelta(seconds=seconds))
    an_hour_ahead()
    dispatch.dispatch()


def test_failures_in_a_row_are_seen_although_older_successes_lie_in_the_future(launched):
    campaign = launched(
        factors={"manners": ["good", "refusing"]},
        order="blocked",
        repetitions=4,
        max_consecutive_failures=2,
    )
    for _ in range(4):
        execute_next()
    done = campaign.runs.filter(state=Run.State.DONE)
    assert done.count() == 4
    set_back(campaign)

    run_all(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert "2 runs in a row failed or were void" in campaign.state_reason
    assert campaign.runs.filter(state=Run.State.FAILED).count() == 2


def test_failures_before_a_resumption_do_not_count_although_they_lie_in_the_future(launched):
    campaign = launched(
        factors={"manners": ["refusing"]}, repetitions=9, max_consecutive_failures=3
    )
    run_all(campaign)
    set_back(campaign)

    lifecycle.resume(campaign)
    execute_next()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING


def budget_used(campaign):
    campaign.refresh_from_db()
    return campaign.time_budget_seconds - budget_seconds_left(campaign, database_now())


def test_a_time_budget_does_not_grow_by_the_hour_that_the_clock_was_set_back(launched):
    campaign = launched(repetitions=3, time_budget_seconds=7200)
    execute_next()
    back_date(campaign, 6000)
    Attempt.objects.update(finished_at=Now())
    assert budget_used(campaign) == pytest.approx(6000, abs=5)

    set_back(campaign)
    execute_next()

    assert budget_used(campaign) == pytest.approx(6000, abs=5)


def test_a_resumption_brings_a_budget_of_its_own_right_after_the_clock_was_set_back(launched):
    campaign = launched(repetitions=3, time_budget_seconds=7200)
    execute_next()
    Attempt.objects.update(claimed_at=F("claimed_at") - timedelta(seconds=6000))
    lifecycle.pause(campaign)
    set_back(campaign)

    lifecycle.resume(campaign)
    execute_next()

    assert budget_used(campaign) < 5


def test_a_run_is_not_expected_to_take_less_than_nothing(launched, controlled):
    controlled.estimate_seconds = lambda parameters: 40.0
    launched()
    run = execute_next()
    Attempt.objects.update(finished_at=F("finished_at") - HOUR)

    assert expected_seconds(Run.objects.select_related("campaign", "cell").get(pk=run.pk)) == 40.0


@pytest.mark.parametrize("unseen", [HOUR, timedelta(minutes=10)])
def test_a_time_in_which_nobody_looked_for_a_server_is_not_waited(launched, unseen):
    """The clock was set forward, or nothing ran here: the server may have answered meanwhile."""
    campaign = launched(server_wait_seconds=300)
    Target.objects.update(health=Target.Health.UNREACHABLE)
    Campaign.objects.update(away_since=Now() - unseen - timedelta(seconds=10))
    Dispatcher.objects.create(
        pk=1, ticked_at=database_now() - unseen, database_started_at=database_now()
    )

    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING
    assert 9 < (database_now() - campaign.away_since).total_seconds() < 60


def test_a_campaign_waits_no_hour_longer_for_its_server_as_the_clock_was_set_back(launched):
    launched()
    dispatch.dispatch()
    Campaign.objects.update(away_since=Now() + HOUR)
    an_hour_ahead()

    dispatch.dispatch()

    assert not ahead(Campaign, "away_since")


def test_a_file_and_a_setting_wait_no_hour_for_a_worker_that_died_before_the_clock_was_set_back(
    launched, target
):
    Submission.objects.create(state=Submission.State.WAITING, sent_at=Now() + HOUR)
    by_hand = {"way": "manual", "words": "Set it."}
    setting = Setting.objects.create(
        target=target, name="threads", apply=by_hand, read_back={"way": "manual"}
    )
    FoundSetting.objects.create(setting=setting, value=1, claimed_until=Now() + HOUR)
    dispatch.dispatch()
    an_hour_ahead()

    dispatch.dispatch()

    assert not ahead(Submission, "sent_at")
    assert not ahead(FoundSetting, "claimed_until", 600)
