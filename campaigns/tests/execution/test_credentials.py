"""Campaigns that name a credential: which version a run had, what stops them, and that no secret of it is stored anywhere."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from celery import current_app
from django.core.management import call_command
from django.db import connection

from campaigns.execution import dispatch, parcels
from campaigns.execution.running import execute_in_a_row
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.models import Attempt, Campaign, Credential, EnvironmentFact, LogLine, Run
from campaigns.planning.launch_checks import known_checks
from campaigns.targets.credentials import saving
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.people import somebody
from campaigns.tests.targets.credentials.planted import PASSWORD, secrets_of, with_certificate

pytestmark = pytest.mark.django_db(transaction=True)
HERE = "http://127.0.0.1:9"


@pytest.fixture
def entered(tmp_path):
    return with_certificate(Authority(tmp_path, "ours"), name="good", places=HERE)


@pytest.fixture
def kept(controlled, target, entered, monkeypatch):
    """The team's credential, which the parameter `manners` names."""
    monkeypatch.setattr(controlled, "credentials", ("manners",), raising=False)
    return saving.save_credential(entered, team=target.team)


@pytest.fixture
def seen(controlled, monkeypatch):
    """The credentials that the driver was given, run by run; it tells them wherever it can."""
    found, measured = [], controlled.measure

    def measure(target, parameters, context):
        login = target.credential_of(parameters["manners"], [target.base_url])
        found.append(login)
        context.say(f"I sign in with {login.password}, {login.key} and {login.headers}")
        return measured(target, parameters, context)

    monkeypatch.setattr(controlled, "measure", measure)
    return found


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, args, **_: messages.append((name, args))
    )
    return messages


def work(sent, settings):
    """Do what a worker without encryption keys does with the last message."""
    attempt, _, key = next(
        args for name, args in reversed(sent) if name == "campaigns.execute_attempt"
    )
    keys, settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS, []
    try:
        with parcels.opened_for_attempt(attempt, key):
            execute_in_a_row(attempt, "measure@here", "here", dispatch.ask_generators)
    finally:
        settings.ENCRYPTION_KEYS = keys


def facts():
    return list(
        EnvironmentFact.objects.filter(name="manners", attempt__state=Attempt.State.ACCEPTED)
        .order_by("pk")
        .values_list("value", "value_after")
    )


def everything():
    """Every text of the database but the tables of encrypted values, as a dump of it would have it."""
    out = StringIO()
    call_command("dumpdata", "campaigns", stdout=out)
    return out.getvalue()


def test_a_worker_without_keys_gets_it_and_no_secret_of_it_is_stored(
    launched, kept, entered, seen, sent, settings, worker
):
    launched(factors={"level": [1, 2]}, repetitions=1)
    dispatch.dispatch()

    work(sent, settings)

    assert [(each.password, each.key) for each in seen] == [(PASSWORD, entered["key"])] * 2
    fact = f"good, version 1, certificate {kept.fingerprint[:16]}"
    assert facts() == [(fact, "")] * 2
    told = " ".join(LogLine.objects.values_list("text", flat=True))
    assert "I sign in with [secret], [secret]" in told
    for text in (everything(), repr(sent), json.dumps(sent)):
        assert not [secret for secret in secrets_of(entered) if secret in text]


def test_a_new_version_in_mid_campaign_is_used_and_told(
    launched, kept, seen, sent, settings, worker, controlled, monkeypatch
):
    campaign = launched(factors={"level": [1, 2]}, repetitions=1)
    dispatch.dispatch()
    keys = settings.ENCRYPTION_KEYS

    def change(*_):
        monkeypatch.setattr(controlled, "clean_up", lambda *_: None)
        settings.ENCRYPTION_KEYS, without = keys, settings.ENCRYPTION_KEYS
        saving.save_credential({**saving.as_data(kept), "password": "another-password"}, kept)
        settings.ENCRYPTION_KEYS = without

    monkeypatch.setattr(controlled, "clean_up", change)

    for _ in range(3):
        work(sent, settings)
        dispatch.dispatch()

    assert [each.version for each in seen] == [1, 2]
    assert seen[1].password == "another-password"  # noqa: S105
    assert set(campaign.runs.values_list("state", flat=True)) == {Run.State.DONE}
    assert [value.split(",")[1] for value, _ in facts()] == [" version 1", " version 2"]


@pytest.mark.parametrize(
    ("meanwhile", "words"),
    [
        (lambda: Credential.objects.all().delete(), "has no credential “good”; it has: none."),
        (
            lambda: Credential.objects.update(ends_at=datetime.now(UTC) - timedelta(seconds=1)),
            "The certificate of the credential “good” ended on",
        ),
        (
            lambda: Credential.objects.update(places=["https://cdn.example:443"]),
            "may be sent to https://cdn.example:443, and not to http://127.0.0.1:9",
        ),
    ],
    ids=["deleted", "ended", "other-address"],
)
def test_one_that_cannot_be_used_any_more_makes_the_run_void_and_pauses_the_campaign(
    launched, kept, seen, sent, settings, worker, meanwhile, words
):
    campaign = launched(max_consecutive_failures=1)
    dispatch.dispatch()
    meanwhile()

    work(sent, settings)

    attempt = Attempt.objects.get()
    assert attempt.state == Attempt.State.VOID
    assert words in attempt.reason
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.PAUSED
    assert seen == []


def test_it_is_not_deleted_while_a_campaign_may_need_it(launched, draft, kept):
    user = somebody()
    running, waiting = launched(name="one that runs"), draft(name="a draft")

    with pytest.raises(NotPossible, match="“a draft”, “one that runs” may still need it"):
        saving.delete_credential(kept, user)

    Campaign.objects.filter(pk=running.pk).update(state=Campaign.State.CANCELLED)
    Campaign.objects.filter(pk=waiting.pk).delete()
    saving.delete_credential(kept, user)
    assert not Credential.objects.exists()


def test_a_campaign_is_not_saved_with_one_that_is_not_there_or_not_for_its_target(draft, kept):
    with pytest.raises(Invalid) as unknown:
        draft(parameters={"manners": "other"})
    Credential.objects.update(places=["https://cdn.example:443"])
    with pytest.raises(Invalid) as elsewhere:
        draft(parameters={"manners": "good"})

    assert (
        "has no credential “other”; it has: good" in unknown.value.errors["parameters.manners"][0]
    )
    (why,) = elsewhere.value.errors["parameters.manners"]
    assert why.endswith(
        "An operator adds the address to the credential, and gives its secrets again."
    )


def test_the_checks_before_a_launch_tell_what_is_wrong_with_it(draft, kept):
    campaign = draft()

    def found():
        return {each.name: each for each in known_checks(campaign) if "credential" in each.name}

    assert found()["credential"].outcome == "passed"
    Credential.objects.update(ends_at=datetime.now(UTC) + timedelta(days=3, hours=1))
    assert "ends on" in found()["end of the credential"].text
    assert found()["end of the credential"].text.endswith("in 3 days.")
    assert not found()["end of the credential"].refuses
    Credential.objects.update(ends_at=datetime.now(UTC))
    assert found()["credential"].refuses


def test_a_dump_of_the_database_has_it_encrypted_alone(kept, entered):
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(c::text, ' ') FROM campaigns_credential c")
        (stored,) = cursor.fetchone()

    assert "gAAAA" in stored
    assert not [secret for secret in secrets_of(entered) if secret in stored]
