"""Celery's face, without Celery: what a worker does when it begins, works and ends."""

import os
import threading
from time import monotonic, sleep

import pytest
from celery import current_app
from django.db import OperationalError

from campaigns import tasks
from campaigns.execution import dispatch as dispatching
from campaigns.execution.claim import claim
from campaigns.findings import compute as analysis
from campaigns.models import Attempt, Campaign, Run, TargetLease, Worker
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis

pytestmark = pytest.mark.django_db(transaction=True)


def until(condition):
    end = monotonic() + 10
    while not condition():
        assert monotonic() < end, "it did not come to it"
        sleep(0.02)


def test_runs_begin_when_a_worker_does_and_none_is_queued_once_it_ends(
    launched, worker, monkeypatch
):
    """A worker that measures has no keys: it asks one that has to look what may start."""
    asked = threading.Event()
    monkeypatch.setattr(dispatching, "request_dispatch", asked.set)
    worker.delete()
    campaign = launched()
    dispatching.dispatch()
    assert not Attempt.objects.exists()

    presence = tasks.Presence("measure@there", ["measure"])
    presence.start()
    assert asked.wait(10)
    dispatching.dispatch()
    assert Attempt.objects.filter(state=Attempt.State.QUEUED).exists()
    presence.end()

    assert not Worker.objects.exists()
    lifecycle.cancel_run(campaign.runs.get(position=1), "to have the next one queued")
    dispatching.dispatch()
    assert not Attempt.objects.filter(state=Attempt.State.QUEUED).exists()


def test_a_worker_goes_on_saying_that_it_lives(db, monkeypatch):
    monkeypatch.setattr(tasks, "SEEN_SECONDS", 0.05)
    presence = tasks.Presence("measure@there", ["measure"])
    presence.start()
    for _ in range(2):
        until(Worker.objects.filter(name="measure@there", pools=["measure"]).exists)
        Worker.objects.all().delete()

    presence.end()


def test_a_worker_of_another_version_gets_no_runs(launched, worker):
    Worker.objects.filter(pk=worker.pk).update(version="0.0.1")

    launched()
    dispatching.dispatch()

    assert not Attempt.objects.exists()


def test_a_message_of_another_version_is_left_to_others(launched, open_attempt, caplog):
    launched()
    dispatching.dispatch()

    tasks.execute_attempt(open_attempt().pk, "9.9")

    assert open_attempt().state == Attempt.State.QUEUED
    assert not TargetLease.objects.filter(
        attempt__isnull=False
    ).exists()  # it is sent again at once
    assert "the control workers have 9.9: it gets no runs" in caplog.text


def test_a_message_of_another_version_takes_no_target_from_who_measures(launched, open_attempt):
    """Messages come twice where the broker has lost some and got them again."""
    launched()
    dispatching.dispatch()
    attempt = claim(open_attempt().pk, "measure@there", "there")
    assert attempt

    tasks.execute_attempt(attempt.pk, "9.9")

    assert TargetLease.objects.filter(attempt=attempt, token=attempt.token).exists()
    assert Attempt.objects.get().state == Attempt.State.RUNNING


def test_a_worker_begins_nothing_while_the_control_workers_have_another_version(
    launched, worker, caplog
):
    worker.delete()
    Worker.objects.create(name="control@here", host="here", pools=["control"], version="9.9")
    launched()

    presence = tasks.Presence("measure@there", ["measure"])
    presence.start()
    until(lambda: presence.waits_for)
    presence.end()

    assert not Attempt.objects.exists()
    assert "measure@there has perfdash" in caplog.text


def test_a_shutdown_gives_its_own_run_back_and_no_other(launched, open_attempt):
    launched()
    dispatching.dispatch()
    attempt = open_attempt()
    Attempt.objects.update(state="running", claimed_at=attempt.queued_at, worker="measure@here")

    tasks.interrupt("measure@there")
    assert Attempt.objects.get().interrupted_at is None

    tasks.interrupt("measure@here")
    assert Attempt.objects.get().interrupted_at is not None


def test_an_analysis_that_was_done_since_is_not_done_again(launched, monkeypatch):
    campaign = launched()
    analysed: list[Campaign] = []
    monkeypatch.setattr(analysis, "analyse", analysed.append)

    tasks.analyse(campaign.pk)
    assert not analysed

    request_analysis(campaign)
    tasks.analyse(campaign.pk)
    assert analysed == [campaign]


def test_who_computes_does_not_dispatch_but_asks_for_it(launched, monkeypatch):
    campaign = launched()
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(analysis, "analyse", lambda campaign: None)
    monkeypatch.setattr(dispatching, "dispatch", lambda: pytest.fail("it holds others up"))
    monkeypatch.setattr(
        current_app, "send_task", lambda name, queue, **named: sent.append((name, queue))
    )
    request_analysis(campaign)

    tasks.analyse(campaign.pk)

    assert sent == [("campaigns.dispatch", "control")]


def test_an_analysis_that_no_run_waits_for_gives_way_to_all_others(launched, monkeypatch):
    campaign = launched()
    priorities: list[int] = []

    def compute(campaign):
        me = threading.get_native_id()
        priorities.append(os.getpriority(os.PRIO_PROCESS, me))

    monkeypatch.setattr(analysis, "analyse", compute)
    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    for closed in ({}, {"state": "finished", "counted_from": None}):
        Campaign.objects.update(**closed)
        request_analysis(campaign)
        tasks.analyse(campaign.pk)

    assert priorities == [usual, 19]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == usual


def test_who_is_asked_to_dispatch_meanwhile_does_it_once_more(monkeypatch):
    looks: list[int] = []

    def look():
        looks.append(1)
        if len(looks) == 1:
            tasks.dispatch()
            tasks.dispatch()
            assert looks == [1]

    monkeypatch.setattr(tasks, "_look", look)

    tasks.dispatch()

    assert looks == [1, 1]


def test_the_end_of_a_block_asks_for_an_analysis(launched, open_attempt):
    campaign = launched(factors={"level": [1]}, repetitions=2)
    dispatching.dispatch()

    tasks.execute_attempt(open_attempt().pk)

    assert campaign.runs.get(position=1).state == Run.State.DONE
    assert Campaign.objects.get().analysis_requested_at is not None


def test_dispatch_waits_for_a_database_that_is_away(launched, monkeypatch, caplog):
    def away():
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(dispatching, "dispatch", away)

    tasks.dispatch()

    assert "The database is away" in caplog.text
