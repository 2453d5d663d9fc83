"""A password that cannot be read stops a run before the target is touched; one that can is told nowhere."""

import zlib
from contextlib import contextmanager
from dataclasses import replace

import pytest
from celery import current_app
from cryptography.fernet import Fernet

from campaigns import tasks
from campaigns.execution import dispatch, parcels
from campaigns.execution.running import execute, execute_in_a_row
from campaigns.kinds.base import EffectiveSetting, Health, Proof
from campaigns.kit import encryption
from campaigns.models import Attempt, LogLine, Parcel, Run, Target, TargetLease
from campaigns.targets.probing import probe

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct 'horse' & battery"  # noqa: S105


@pytest.fixture
def secured(target):
    target.username, target.password = "me", encryption.encrypt(PASSWORD)
    target.save()
    return target


def test_a_run_whose_password_no_key_opens_is_void_and_touches_nothing(
    launched, secured, controlled, settings, open_attempt
):
    campaign = launched()
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    dispatch.dispatch()
    attempt = open_attempt()

    execute(attempt.pk, "measure@here", "here")

    attempt.refresh_from_db()
    assert attempt.state == Attempt.State.VOID
    assert "cannot be read with any key of PERFDASH_ENCRYPTION_KEYS" in attempt.reason
    assert "enter the password again" in attempt.reason
    assert attempt.traceback == ""
    assert not controlled.measuring.is_set()
    assert controlled.cleaned == 0
    assert not attempt.proofs.exists()
    assert campaign.runs.exclude(state=Run.State.PLANNED).count() == 0
    assert Target.objects.get().password == secured.password


@pytest.fixture
def sent(monkeypatch):
    """The arguments of all messages to workers, which come one by one."""
    messages = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, args, **_: messages.append((name, args))
    )
    return messages


@pytest.fixture
def without_keys(settings):
    """Do something as a worker that has no encryption keys."""

    @contextmanager
    def without():
        keys, settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS, []
        try:
            yield
        finally:
            settings.ENCRYPTION_KEYS = keys

    return without


@pytest.fixture
def seen(controlled, monkeypatch):
    """The passwords that the driver was given, run by run."""
    passwords, measured = [], controlled.measure

    def measure(target, parameters, context):
        passwords.append(target.password)
        return measured(target, parameters, context)

    monkeypatch.setattr(controlled, "measure", measure)
    return passwords


def last_of(sent, task="campaigns.execute_attempt"):
    return next(args for name, args in reversed(sent) if name == task)


def work(message):
    """Do what a present worker does with a message."""
    attempt, _, key = message
    with parcels.opened_for_attempt(attempt, key):
        execute_in_a_row(attempt, "measure@here", "here", dispatch.ask_generators)


def test_a_worker_without_keys_gets_the_secrets_of_the_attempts_that_it_is_sent(
    launched, secured, seen, sent, without_keys, worker
):
    campaign = launched(factors={"level": [1, 2]}, repetitions=1)
    dispatch.dispatch()
    message = last_of(sent)

    with without_keys():
        work(message)

    assert seen == [PASSWORD] * 2
    assert set(campaign.runs.values_list("state", flat=True)) == {Run.State.DONE}
    stored = Parcel.objects.get()
    assert PASSWORD not in stored.sealed
    parcels.delete_used()
    assert not Parcel.objects.exists()


@pytest.mark.parametrize("key", ["", "no key", f"{'A' * 43}="])
def test_a_message_with_another_key_is_left_to_others(
    launched, secured, seen, sent, without_keys, key
):
    launched()
    dispatch.dispatch()
    attempt, version, _ = last_of(sent)

    with without_keys():
        tasks.execute_attempt(attempt, version, key)

    assert seen == []
    assert not TargetLease.objects.filter(
        attempt__isnull=False
    ).exists()  # it is sent again at once
    assert Attempt.objects.get().state == Attempt.State.QUEUED


def test_a_password_that_is_changed_between_two_runs_comes_with_the_next_message(
    launched, secured, seen, sent, without_keys, worker, controlled, monkeypatch
):
    campaign = launched(factors={"level": [1, 2]}, repetitions=1)
    dispatch.dispatch()
    other = encryption.encrypt("another password")
    monkeypatch.setattr(controlled, "clean_up", lambda *_: Target.objects.update(password=other))

    for _ in range(2):
        with without_keys():
            work(last_of(sent))
        dispatch.dispatch()

    assert seen == [PASSWORD, "another password"]
    assert list(campaign.runs.values_list("state", flat=True)) == [Run.State.DONE] * 2
    assert "was changed after the run was sent" in Attempt.objects.get(state="void").reason


def test_what_no_key_opens_is_said_by_a_worker_without_keys_too(
    launched, secured, sent, without_keys, settings, open_attempt
):
    launched()
    Target.objects.update(password=Fernet(Fernet.generate_key()).encrypt(b"lost").decode())
    dispatch.dispatch()

    with without_keys():
        tasks.execute_attempt(*last_of(sent))

    ended = Attempt.objects.order_by("pk")[0]
    assert ended.state == Attempt.State.VOID
    assert "cannot be read with any key of PERFDASH_ENCRYPTION_KEYS" in ended.reason


def test_a_key_is_told_in_no_log(launched, secured, monkeypatch):
    options = []
    monkeypatch.setattr(current_app, "send_task", lambda *_, **named: options.append(named))
    launched()
    dispatch.dispatch()

    message = next(each for each in options if len(each["args"]) == 3)

    assert message["argsrepr"] == f"[{message['args'][0]}]"


def test_a_probe_whose_password_no_key_opens_says_so(secured, controlled, settings):
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    probe(secured)

    found = Target.objects.get()
    assert found.health == Target.Health.UNREACHABLE
    assert "PERFDASH_ENCRYPTION_KEYS" in found.health_message
    assert found.password == secured.password


def test_a_password_in_the_words_of_a_bug_is_stored_nowhere(
    launched, secured, controlled, monkeypatch, open_attempt
):
    def measure(target, parameters, context):
        context.say(f"signing in with {target.password}")
        raise RuntimeError(f"no such user: {target.username}:{target.password}")

    monkeypatch.setattr(controlled, "measure", measure)
    launched()
    dispatch.dispatch()
    attempt = open_attempt()

    with pytest.raises(RuntimeError):
        execute(attempt.pk, "measure@here", "here")

    attempt.refresh_from_db()
    assert attempt.reason.endswith("RuntimeError: no such user: me:[secret]")
    assert "no such user: me:[secret]" in attempt.traceback
    told = list(LogLine.objects.values_list("text", flat=True))
    assert any("signing in with [secret]" in text for text in told)
    assert not any(PASSWORD in text for text in [*told, attempt.reason, attempt.traceback])


def test_a_password_in_what_a_driver_observed_is_stored_nowhere(
    launched, secured, controlled, monkeypatch, open_attempt
):
    def told_of(target):
        return f"{target.username}:{target.password}"

    def reset(target, parameters, context):
        return [Proof("signed in", told_of(target), told_of(target), "", ok=True)]

    def apply(target, parameters, context):
        return [EffectiveSetting("level", told_of(target), told_of(target), ok=True)]

    measured = controlled.measure

    def measure(target, parameters, context):
        return replace(
            measured(target, parameters, context),
            health=Health("warned", (told_of(target),), {}),
            samples={"total": [0.1], "failure": [told_of(target)]},
            failures={told_of(target): 1},
            failure=told_of(target),
        )

    def environment(target, context):
        return {"signed in as": told_of(target)}

    for step in (reset, apply, measure, environment):
        monkeypatch.setattr(controlled, step.__name__, step)
    launched()
    dispatch.dispatch()
    attempt = open_attempt()

    execute(attempt.pk, "measure@here", "here")

    attempt.refresh_from_db()
    stored = [
        attempt.reason,
        *attempt.health_reasons,
        *attempt.failures,
        *attempt.proofs.filter(name="signed in").values_list("expected", "measured").get(),
        *attempt.effective_settings.values_list("asked", "in_force").get(),
        attempt.environment.get(name="signed in as").value,
        zlib.decompress(attempt.raw_samples.columns).decode(),
    ]
    assert all("me:[secret]" in text for text in stored), stored
    assert not any(PASSWORD in text for text in stored)
