import pytest

from campaigns.kit import encryption
from campaigns.models import Campaign, Run, Target
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.tests.toy import definition, target, toy
from perfdash.local import restoration

__all__ = ["target", "toy"]
pytestmark = pytest.mark.django_db


def test_what_ran_when_it_was_saved_loads_no_target_until_somebody_says_so(target):
    draft = drafts.create(check(definition(target=target.pk)), None)
    lifecycle.launch(draft, None)

    result = restoration.complete()

    draft.refresh_from_db()
    assert draft.state == Campaign.State.PAUSED
    assert result["paused"] == [draft.name or draft.question]
    assert (result["campaigns"], result["runs"]) == (1, draft.runs.count())


def test_a_try_out_that_waited_when_it_was_saved_does_not_begin_by_itself(target):
    draft = drafts.create(check(definition(target=target.pk)), None)
    run = lifecycle.try_one(draft, None)

    restoration.complete()

    run.refresh_from_db()
    assert run.state == Run.State.CANCELLED
    assert run.reason == "it waited when the backup was made"


def test_passwords_that_no_key_opens_are_named(target, settings):
    settings.ENCRYPTION_KEYS = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
    Target.objects.update(password=encryption.encrypt("open sesame"))
    assert restoration.complete()["unreadable"] == []

    settings.ENCRYPTION_KEYS = ["BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]

    assert restoration.complete()["unreadable"] == [target.name]


def test_every_migration_of_this_database_is_known(db):
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    applied = MigrationRecorder(connection).applied_migrations()

    assert {f"{app}.{name}" for app, name in applied} <= set(restoration.known())
