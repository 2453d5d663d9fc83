"""Who gets an attempt, and who may not take its leases: one condition of the claim and of leasing each."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.dispatch import queueing
from campaigns.models import (
    Attempt,
    Campaign,
    Generator,
    GeneratorLease,
    Run,
    Target,
    TargetLease,
    Worker,
)
from campaigns.results.closing import Fenced, close
from campaigns.results.storing import Outcome

pytestmark = pytest.mark.django_db


def held(attempt):
    """What an attempt holds: its server, and its generator hosts."""
    return (
        list(TargetLease.objects.filter(attempt=attempt).values_list("address", "token")),
        list(GeneratorLease.objects.filter(attempt=attempt).values_list("host", flat=True)),
    )


def test_a_second_message_for_a_running_attempt_takes_and_gives_back_nothing(attempt_of):
    queued = attempt_of()
    claimed = claim(queued.pk, "measure@here", "here")
    before = held(claimed)

    for host in ("there", "here"):
        assert claim(queued.pk, f"measure@{host}", host) is None

    queued.refresh_from_db()
    assert (queued.state, queued.worker, queued.host) == ("running", "measure@here", "here")
    assert queued.run.state == Run.State.RUNNING
    assert queued.claimed_at is not None
    assert queued.run.started_at is not None
    assert held(queued) == before == ([("127.0.0.1:9", queued.token)], ["here"])


def test_an_attempt_is_not_claimed_by_a_lease_of_another_token(attempt_of):
    queued = attempt_of()
    TargetLease.objects.update(token=F("token") + 1)

    assert claim(queued.pk, "measure@here", "here") is None

    queued.refresh_from_db()
    assert queued.state == Attempt.State.QUEUED


@pytest.mark.parametrize(("model", "state"), [(Campaign, "paused"), (Run, "cancelled")])
def test_an_attempt_that_may_not_begin_any_more_gives_its_server_back(attempt_of, model, state):
    queued = attempt_of()
    model.objects.update(state=state)

    assert claim(queued.pk, "measure@here", "here") is None

    queued.refresh_from_db()
    assert queued.state == Attempt.State.QUEUED
    assert held(queued) == ([], [])


def test_an_attempt_is_not_claimed_by_a_lease_that_it_does_not_hold(attempt_of):
    queued = attempt_of()
    TargetLease.objects.update(attempt=None)

    assert claim(queued.pk, "measure@here", "here") is None


@pytest.mark.parametrize("since", [{"token": F("token") + 1}, {"state": Attempt.State.LOST}])
def test_an_outcome_is_not_stored_of_what_is_another_ones_or_ended_since(attempt_of, since):
    claimed = claim(attempt_of().pk, "measure@here", "here")
    assert claimed
    Attempt.objects.update(**since)

    with pytest.raises(Fenced):
        close(claimed, Outcome(state=Attempt.State.ACCEPTED))

    claimed.refresh_from_db()
    assert claimed.finished_at is None
    assert held(claimed)[1] == ["here"]


@pytest.mark.parametrize("loads", ["a process that hangs", "a generator"])
def test_a_server_that_may_still_be_loaded_is_kept_and_no_other_one(attempt_of, loads):
    claimed = claim(attempt_of().pk, "measure@here", "here")
    assert claimed
    other = TargetLease.objects.create(address="127.0.0.1:10", token=1)
    if loads == "a generator":
        Generator.objects.create(
            attempt=claimed, part=0, number=1, pool="generate", module="m", state="claimed",
            worker="generate@there", host="there", claimed_at=Now(),
            expires_at=Now() + timedelta(hours=1),
        )  # fmt: skip

    close(claimed, Outcome(state=Attempt.State.VOID), hung=loads == "a process that hangs")

    claimed.refresh_from_db()
    other.refresh_from_db()
    assert held(claimed) == ([("127.0.0.1:9", claimed.token)], [])
    until = TargetLease.objects.get(attempt=claimed).expires_at
    assert until
    assert claimed.finished_at
    assert until - claimed.finished_at > timedelta(minutes=59 if loads == "a generator" else 0)
    assert other.expires_at is None


def test_a_free_server_is_leased_however_long_ago_it_was_given_back(launched, target):
    launched()
    TargetLease.objects.create(address=target.address, token=4)

    dispatch.dispatch()

    lease = TargetLease.objects.get()
    assert (lease.attempt, lease.token) == (Attempt.objects.get(), 5)


def test_a_free_server_is_leased_whatever_end_its_last_lease_had(launched, target):
    launched()
    TargetLease.objects.create(address=target.address, expires_at=Now() + timedelta(minutes=1))

    dispatch.dispatch()

    assert TargetLease.objects.get().attempt == Attempt.objects.get()


def test_a_running_attempt_keeps_its_lapsed_lease_from_a_dispatcher_that_looked_too_early(
    launched, monkeypatch
):
    launched()
    dispatch.dispatch()
    running = claim(Attempt.objects.get().pk, "measure@here", "here")
    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))
    launched()
    Worker.objects.create(
        name="measure@there", host="there", pools=["measure"], seen_at=timezone.now()
    )
    monkeypatch.setattr(queueing, "_measured", set)

    assert list(queueing.queue_runs()) == []

    assert TargetLease.objects.get().attempt == running


def test_a_queued_attempt_keeps_its_server_until_its_lease_lapses(launched):
    Worker.objects.create(
        name="measure@there", host="there", pools=["measure"], seen_at=timezone.now()
    )
    launched()
    dispatch.dispatch()
    queued = Attempt.objects.get()
    launched()

    Campaign.objects.filter(pk=queued.run.campaign_id).update(state=Campaign.State.PAUSED)
    assert list(queueing.queue_runs()) == []
    assert TargetLease.objects.get().attempt == queued

    TargetLease.objects.update(expires_at=Now() - timedelta(seconds=1))
    ((other, _),) = queueing.queue_runs()
    assert TargetLease.objects.get().attempt_id == other != queued.pk


def test_a_run_that_ends_before_it_is_locked_is_not_queued(launched, monkeypatch):
    launched()
    read = list(queueing._next_runs())
    Run.objects.update(state=Run.State.CANCELLED)
    monkeypatch.setattr(queueing, "_next_runs", lambda: read)

    assert list(queueing.queue_runs()) == []

    assert not Attempt.objects.exists()


def test_a_host_that_measures_takes_nothing_else(attempt_of, worker):
    other = Target.objects.create(
        name="other", family="controlled", base_url="http://127.0.0.2:9", address="127.0.0.2:9"
    )
    Worker.objects.create(
        name="measure@there", host="there", pools=["measure"], seen_at=timezone.now()
    )
    measuring = claim(attempt_of().pk, "measure@here", "here")
    queued = attempt_of(target=other.pk)

    assert claim(queued.pk, "measure@here", "here") is None

    assert GeneratorLease.objects.get(host="here").attempt == measuring
    assert held(queued) == ([], [])


def test_a_claim_takes_the_host_of_its_worker_alone(attempt_of):
    GeneratorLease.objects.create(host="there")

    claimed = claim(attempt_of().pk, "measure@here", "here")

    assert held(claimed)[1] == ["here"]
