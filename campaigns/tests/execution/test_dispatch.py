"""Which run may start, and what becomes of leases."""

import socket
from datetime import timedelta

import pytest
from celery import Celery, current_app
from django.db.models.functions import Now
from django.utils import timezone
from kombu.exceptions import OperationalError

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.dispatch import closing
from campaigns.execution.dispatch.analyses import untouched
from campaigns.execution.running import execute
from campaigns.findings import compute
from campaigns.findings.compute import findings
from campaigns.kit import messages as sending
from campaigns.kit.activity import Action
from campaigns.models import (
    Announcement,
    Attempt,
    AuditEvent,
    Campaign,
    Dispatcher,
    Finding,
    GeneratorLease,
    LogLine,
    Run,
    Target,
    TargetLease,
    Worker,
)
from campaigns.planning import lifecycle
from campaigns.tests.execution.going_on import execute_next, run_all

pytestmark = pytest.mark.django_db


def test_a_launched_campaign_gets_its_first_run_queued_once(launched):
    campaign = launched()

    dispatch.dispatch()
    dispatch.dispatch()

    attempt = Attempt.objects.get()
    assert attempt.run.position == 1
    assert attempt.state == Attempt.State.QUEUED
    assert TargetLease.objects.get().attempt == attempt
    assert campaign.runs.exclude(state=Run.State.PLANNED).count() == 0


def test_two_campaigns_on_one_address_take_turns(launched, target):
    twin = Target.objects.create(
        name="the same server",
        family="controlled",
        base_url=target.base_url,
        address=target.address,
    )
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    launched()
    launched(target=twin.pk)

    dispatch.dispatch()

    assert Attempt.objects.count() == 1


def test_another_address_is_leased_beside_it_where_a_second_worker_lives(launched):
    other = Target.objects.create(
        name="other", family="controlled", base_url="http://127.0.0.2:9", address="127.0.0.2:9"
    )
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    launched()
    launched(target=other.pk)

    dispatch.dispatch()

    assert set(TargetLease.objects.values_list("address", flat=True)) == {
        "127.0.0.1:9",
        "127.0.0.2:9",
    }


def test_nothing_is_queued_for_a_pool_without_a_living_worker(launched, worker):
    Worker.objects.update(seen_at=Now() - timedelta(minutes=1))
    launched()

    dispatch.dispatch()

    assert not Attempt.objects.exists()
    assert not TargetLease.objects.exclude(attempt=None).exists()


def test_nothing_is_queued_for_a_host_that_measures_already(launched, worker):
    other = Target.objects.create(
        name="other", family="controlled", base_url="http://127.0.0.2:9", address="127.0.0.2:9"
    )
    Worker.objects.create(name="far@here", host="here", pools=["far"], seen_at=timezone.now())
    busy = launched()
    dispatch.dispatch()
    claim(Attempt.objects.get().pk, "measure@here", "here")
    waiting = launched(target=other.pk)
    Campaign.objects.filter(pk=waiting.pk).update(pool="far")

    dispatch.dispatch()

    assert set(Attempt.objects.values_list("run__campaign", flat=True)) == {busy.pk}


def test_what_was_queued_is_sent_again_for_a_worker_that_begins(launched):
    launched()
    dispatch.dispatch()
    before = Attempt.objects.get()

    dispatch.send_again(["measure"])
    dispatch.dispatch()

    after = Attempt.objects.get()
    assert (after.pk, after.token) == (before.pk, before.token + 1)
    assert execute(after.pk, "w", "here") is not None


def test_a_second_campaign_has_its_turn_while_the_first_one_cools_down(launched):
    first, second = launched(cool_down_seconds=60), launched()
    dispatch.dispatch()
    execute(Attempt.objects.get().pk, "w", "here")

    dispatch.dispatch()

    assert first.runs.filter(state=Run.State.DONE).count() == 1
    assert Attempt.objects.get(state=Attempt.State.QUEUED).run.campaign == second


def test_a_campaign_runs_to_its_end_and_is_finished(launched):
    campaign = launched(repetitions=3)

    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert set(campaign.runs.values_list("state", flat=True)) == {Run.State.DONE}
    assert Attempt.objects.filter(state=Attempt.State.ACCEPTED).count() == 6
    assert not TargetLease.objects.exclude(attempt=None).exists()
    assert not GeneratorLease.objects.exclude(attempt=None).exists()
    ended = AuditEvent.objects.get(campaign_key=campaign.pk, action=Action.CAMPAIGN_ENDED)
    assert ended.details["state"] == "finished"


def test_what_a_part_of_the_runs_said_is_no_answer_of_a_campaign_that_ended(launched):
    campaign = launched(repetitions=3)
    for _ in range(4):
        execute_next()
    compute.analyse(campaign)
    assert campaign.findings.filter(name="answer").exists()

    run_all(campaign)
    assert campaign.state == Campaign.State.FINISHED
    assert not campaign.findings.filter(name__in=Finding.JUDGING).exists()
    assert campaign.findings.filter(name="cells").exists()

    compute.analyse(campaign)
    assert campaign.findings.filter(name="answer").exists()


def test_an_analysis_that_read_a_part_of_the_runs_stores_nothing_after_the_end(launched):
    campaign = launched(repetitions=3)
    for _ in range(4):
        execute_next()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            findings, "compare", lambda *_: run_all(Campaign.objects.get(pk=campaign.pk))
        )
        compute.analyse(campaign)

    assert not campaign.findings.exists()
    campaign.refresh_from_db()
    assert campaign.analysis_requested_at is not None


def test_the_cool_down_keeps_the_next_run_back(launched):
    campaign = launched(cool_down_seconds=60)
    dispatch.dispatch()
    execute(Attempt.objects.get().pk, "w", "here")

    dispatch.dispatch()

    assert Attempt.objects.count() == 1
    Campaign.objects.filter(pk=campaign.pk).update(not_before=Now() - timedelta(seconds=1))
    dispatch.dispatch()
    assert Attempt.objects.count() == 2


def test_an_emptied_broker_heals_when_the_lease_has_lapsed(launched):
    launched()
    dispatch.dispatch()
    before = Attempt.objects.get()
    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))

    dispatch.dispatch()

    after = Attempt.objects.get()
    assert after.pk == before.pk
    assert after.token == before.token + 1
    run = execute(after.pk, "w", "here")
    assert run is not None
    assert run.state == Run.State.DONE


def test_a_lost_attempt_is_repeated_and_stays_on_record(launched, abandoned):
    campaign = launched(repetitions=1)
    abandoned(campaign)

    run_all(campaign)

    first = campaign.runs.get(position=1)
    assert [a.state for a in first.attempts.order_by("number")] == ["lost", "accepted"]
    assert first.state == Run.State.DONE
    assert LogLine.objects.filter(text__contains="lost with gone").exists()


def test_a_repeated_run_began_with_the_attempt_that_counts(launched, abandoned):
    campaign = launched(repetitions=1)
    abandoned(campaign)

    run_all(campaign)

    first = campaign.runs.get(position=1)
    assert first.attempts.count() == 2
    claimed_at = first.attempts.get(state=Attempt.State.ACCEPTED).claimed_at
    assert abs(first.started_at - claimed_at) < timedelta(seconds=0.5)


def test_a_run_that_was_cancelled_before_its_worker_died_is_not_repeated(launched, abandoned):
    campaign = launched(repetitions=1)
    abandoned(campaign)
    lifecycle.cancel_run(campaign.runs.get(position=1), "a mistake")

    dispatch.dispatch()

    run = campaign.runs.get(position=1)
    assert (run.state, run.reason) == (Run.State.CANCELLED, "a mistake")
    assert run.attempts.get().state == Attempt.State.LOST


def test_a_campaign_whose_worker_is_dead_is_cancelled_when_its_lease_is_over(launched, abandoned):
    campaign = launched()
    abandoned(campaign)
    TargetLease.objects.update(expires_at=Now() + timedelta(seconds=30))
    lifecycle.cancel(campaign, "enough")

    dispatch.dispatch()
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.CANCELLING

    TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
    dispatch.dispatch()
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.CANCELLED
    assert set(campaign.runs.values_list("state", "reason")) == {("cancelled", "enough")}


def test_a_run_that_is_lost_again_and_again_ends_void_with_its_reason(launched):
    launched(repetitions=1)
    for _ in range(3):
        dispatch.dispatch()
        Attempt.objects.filter(state="queued").update(
            state=Attempt.State.RUNNING, claimed_at=Now(), worker="gone"
        )
        TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
    dispatch.dispatch()

    run = Run.objects.get(position=1)
    assert run.state == Run.State.VOID
    assert "did not renew" in run.reason
    assert "3 attempts" in run.reason


def test_after_an_outage_nobody_is_taken_as_lost_for_one_time_to_live(launched):
    launched()
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=Now(), worker="cut off")
    TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
    Dispatcher.objects.update(ticked_at=timezone.now() - timedelta(minutes=3))

    dispatch.dispatch()

    assert Attempt.objects.get().state == Attempt.State.RUNNING
    Dispatcher.objects.update(hold_until=timezone.now() - timedelta(seconds=1))
    dispatch.dispatch()
    assert Attempt.objects.filter(state=Attempt.State.LOST).count() == 1


def test_after_a_new_start_of_the_database_nobody_is_taken_as_lost_at_once(launched):
    launched()
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=Now(), worker="cut off")
    TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
    Dispatcher.objects.update(database_started_at=timezone.now() - timedelta(days=1))

    dispatch.dispatch()

    assert Attempt.objects.get().state == Attempt.State.RUNNING


def test_nobody_leases_again_before_the_grace_is_over(launched, settings):
    launched()
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=Now(), worker="slow")
    TargetLease.objects.update(
        expires_at=Now() - timedelta(seconds=settings.LEASE_GRACE_SECONDS / 2)
    )

    dispatch.dispatch()

    assert Attempt.objects.get().state == Attempt.State.RUNNING


def test_a_paused_campaign_starts_nothing_and_goes_on_when_resumed(launched, open_attempt):
    campaign = launched()
    dispatch.dispatch()
    lifecycle.pause(campaign)

    assert execute(open_attempt().pk, "w", "here") is None
    dispatch.dispatch()
    assert not Attempt.objects.filter(state=Attempt.State.RUNNING).exists()

    lifecycle.resume(campaign)
    run_all(campaign)
    assert campaign.state == Campaign.State.FINISHED


def test_a_campaign_that_is_paused_during_its_last_run_is_finished(launched):
    campaign = launched(repetitions=1)
    for _ in range(2):
        execute_next()
    lifecycle.pause(campaign)

    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED


def test_a_run_that_is_asked_for_while_the_end_is_decided_keeps_the_campaign_open(
    launched, monkeypatch
):
    campaign = launched(repetitions=1)
    for _ in range(2):
        execute_next()

    def locked_after_somebody_asked(campaigns):
        listed = list(untouched(campaigns))
        campaign.runs.filter(position=1).update(state=Run.State.PLANNED, finished_at=None)
        return listed

    monkeypatch.setattr(closing, "untouched", locked_after_somebody_asked)
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.RUNNING


def test_a_paused_campaign_does_not_keep_the_target_from_another_one(launched):
    paused = launched()
    dispatch.dispatch()
    lifecycle.pause(paused)
    second = launched()
    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))

    dispatch.dispatch()
    assert TargetLease.objects.filter(attempt__run__campaign=second).exists()

    run_all(second)
    lifecycle.resume(paused)
    run_all(paused)
    assert (second.state, paused.state) == (Campaign.State.FINISHED, Campaign.State.FINISHED)


def test_a_cancelled_campaign_withdraws_what_is_queued_and_ends(launched):
    campaign = launched()
    dispatch.dispatch()

    lifecycle.cancel(campaign, "wrong server")
    dispatch.dispatch()

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.CANCELLED
    assert campaign.state_reason == "wrong server"
    assert set(campaign.runs.values_list("state", flat=True)) == {Run.State.CANCELLED}
    assert not Announcement.objects.exists()
    assert not TargetLease.objects.exclude(attempt=None).exists()


def test_an_extension_reopens_a_finished_campaign_in_a_session_of_its_own(launched):
    campaign = launched(repetitions=1)
    run_all(campaign)

    lifecycle.extend(campaign, 2, None)
    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert campaign.runs.filter(state=Run.State.DONE).count() == 6
    assert list(campaign.sessions.values_list("number", "kind")) == [
        (1, "launch"),
        (2, "extension"),
    ]


def test_a_try_out_runs_on_a_draft_and_leaves_it_a_draft(draft):
    campaign = draft()
    lifecycle.try_one(campaign, None)

    run_all(campaign)

    assert campaign.state == Campaign.State.DRAFT
    assert campaign.runs.get().state == Run.State.DONE
    lifecycle.launch(campaign, None)
    run_all(campaign)
    assert campaign.state == Campaign.State.FINISHED


def test_a_failed_run_can_be_run_again_by_a_person(launched, controlled):
    campaign = launched(parameters={"manners": "refusing"}, repetitions=1)
    run_all(campaign)
    run = campaign.runs.get(position=1)
    assert run.state == Run.State.FAILED
    Campaign.objects.update(parameters={"manners": "good"})

    lifecycle.run_again(run, None)
    run_all(campaign)

    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert [a.state for a in run.attempts.order_by("number")] == ["failed", "accepted"]


def test_a_broker_that_takes_connections_and_answers_nothing_holds_nobody_up(settings, monkeypatch):
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    assert 0 < options["socket_timeout"] <= 5
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = Celery(
            "silent", broker=f"redis://127.0.0.1:{silent.getsockname()[1]}/0", set_as_current=False
        )
        app.conf.broker_transport_options = options | {"socket_timeout": 0.05}
        monkeypatch.setattr(sending, "current_app", app)

        sending.send("campaigns.analyse", 1, sending.ANALYSIS)


def test_a_broker_that_is_away_loses_nothing(launched, monkeypatch):
    launched()

    def away(*arguments, **named):
        raise OperationalError("Connection refused")

    monkeypatch.setattr(current_app, "send_task", away)
    dispatch.dispatch()

    attempt = Attempt.objects.get()
    assert attempt.state == Attempt.State.QUEUED
    run = execute(attempt.pk, "w", "here")
    assert run is not None
    assert run.state == Run.State.DONE
