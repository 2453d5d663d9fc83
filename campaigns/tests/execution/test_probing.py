"""Targets are looked at beside, several at a time; each server at most once, and not soon again."""

import threading
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from campaigns import tasks
from campaigns.execution import dispatch
from campaigns.models import Attempt, Target, TargetLease
from campaigns.targets import probing
from campaigns.targets.probes import request_probe
from campaigns.targets.probing import probe_all_in_threads

MINUTE = timedelta(minutes=1)

pytestmark = pytest.mark.django_db(transaction=True)


class Server:
    """Answers probes when `answer` is set; counts them."""

    def __init__(self):
        self.answer = threading.Event()
        self.asked = threading.Semaphore(0)
        self.names: list[str] = []
        self.on, self.most_on = 0, 0
        self._lock = threading.Lock()

    def probe(self, target, rules):
        with self._lock:
            self.names.append(target.name)
            self.on += 1
            self.most_on = max(self.on, self.most_on)
        self.asked.release()
        self.answer.wait(10)
        with self._lock:
            self.on -= 1
        return []


@pytest.fixture(autouse=True)
def lookout(monkeypatch):
    fresh = probing.Lookout()
    monkeypatch.setattr(probing, "lookout", fresh)
    yield fresh
    assert fresh.wait(10)


@pytest.fixture
def server(controlled, lookout):
    server = Server()
    controlled.probe = server.probe
    yield server
    server.answer.set()
    assert lookout.wait(10)


@pytest.fixture
def add(target):
    def add(number, **changes):
        place = f"127.0.0.1:{number}"
        fields = {"family": "controlled", "base_url": f"http://{place}", "address": place}
        return Target.objects.create(name=f"server {number}", **fields | changes)

    return add


def test_targets_are_looked_at_several_at_a_time(add, target, controlled, lookout):
    for number in range(1, probing.MOST_AT_ONCE):
        add(number)
    together = threading.Barrier(probing.MOST_AT_ONCE, timeout=10)
    controlled.probe = lambda target, rules: [together.wait()][:0]

    probe_all_in_threads()

    assert lookout.wait(10)
    assert not Target.objects.filter(probed_at=None).exists()


def test_no_more_than_a_few_are_looked_at_however_many_there_are(add, server, lookout):
    for number in range(101, 100 + 3 * probing.MOST_AT_ONCE):
        add(number)

    for _ in range(3):
        tasks.probe_targets.run()
    for _ in range(probing.MOST_AT_ONCE):
        assert server.asked.acquire(timeout=10)
    server.answer.set()

    assert lookout.wait(10)
    assert server.most_on == probing.MOST_AT_ONCE
    assert len(server.names) == len(set(server.names)) == 3 * probing.MOST_AT_ONCE


def test_a_probe_that_is_asked_for_hundreds_of_times_is_one_request(target, server, lookout):
    for _ in range(100):
        tasks.probe_target.run(target.pk)
    assert server.asked.acquire(timeout=10)
    for _ in range(100):
        tasks.probe_target.run(target.pk)
    server.answer.set()

    assert lookout.wait(10)
    assert server.names == ["server"]


def test_targets_that_are_one_server_are_probed_one_after_the_other(
    add, target, server, lookout, monkeypatch
):
    monkeypatch.setattr(probing, "AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(probing, "BETWEEN_SECONDS", 0.05)
    twins = [add(number, address=target.address) for number in (1, 2, 3)]

    for each in (target, *twins):
        tasks.probe_target.run(each.pk)
    assert server.asked.acquire(timeout=10)
    server.answer.set()

    assert lookout.wait(10)
    assert len(server.names) == 4
    assert server.most_on == 1


def test_targets_that_are_one_server_take_turns(add, target, server, lookout):
    add(1, address=target.address)
    server.answer.set()

    for _ in range(3):
        probe_all_in_threads()
        assert lookout.wait(10)
        Target.objects.exclude(probed_at=None).update(probed_at=F("probed_at") - MINUTE)

    assert server.names == ["server", "server 1", "server"]


def test_one_whose_turn_does_not_come_in_time_is_left_out(
    add, target, server, lookout, monkeypatch
):
    monkeypatch.setattr(probing, "AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(probing, "PATIENCE_SECONDS", 0.1)
    server.answer.set()
    probing.probe(target)

    tasks.probe_target.run(add(1, address=target.address).pk)

    assert lookout.wait(10)
    assert server.names == ["server"]


def test_who_asks_too_often_is_told_when_it_was(target, server):
    server.answer.set()
    assert request_probe(target) == ""
    probing.probe(target)

    assert "was probed 0 s ago" in request_probe(target)

    Target.objects.update(probed_at=Now() - timedelta(seconds=6))
    assert request_probe(target) == ""


def test_a_probe_that_is_on_and_a_run_that_is_on_are_told(target, server, launched, open_attempt):
    Target.objects.update(probe_began_at=Now())
    assert "is being probed already" in request_probe(target)

    Target.objects.update(probe_began_at=None)
    launched()
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=Now())
    assert TargetLease.objects.filter(attempt__state=Attempt.State.RUNNING).exists()
    assert "is being measured" in request_probe(target)
    probing.probe(target)
    assert not server.names


@pytest.mark.parametrize("away", [timedelta(minutes=2), -timedelta(hours=3)])
def test_a_probe_that_died_or_a_clock_that_was_set_back_holds_nobody_up(target, server, away):
    server.answer.set()
    Target.objects.update(probe_began_at=Now() - away, probed_at=Now() - away)

    probing.probe(target, 5.0)

    target.refresh_from_db()
    assert server.names == ["server"]
    assert target.probe_began_at is None


def test_a_driver_that_fails_leaves_the_target_to_be_probed_again(target, controlled):
    def broken(target, rules):
        raise ZeroDivisionError

    controlled.probe = broken
    with pytest.raises(ZeroDivisionError):
        probing.probe(target)

    target.refresh_from_db()
    assert target.probe_began_at is None


def test_what_a_former_address_answered_is_not_kept_for_the_new_one(target, controlled):
    def moved_meanwhile(seen, rules):
        Target.objects.update(base_url="http://127.0.0.1:10")
        return []

    controlled.probe = moved_meanwhile
    probing.probe(target)

    target.refresh_from_db()
    assert (target.health, target.probed_at) == (Target.Health.UNKNOWN, None)
