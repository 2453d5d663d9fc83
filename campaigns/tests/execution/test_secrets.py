"""A password that cannot be read stops a run before the target is touched; one that can is told nowhere."""

import zlib
from dataclasses import replace

import pytest
from cryptography.fernet import Fernet

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.kinds.base import EffectiveSetting, Health, Proof
from campaigns.kit import encryption
from campaigns.models import Attempt, LogLine, Run, Target
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
