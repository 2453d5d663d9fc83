"""What goes wrong with populations: failures of any kind, rows that are gone, quiet hours, a clock that is set back."""

import logging
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models.functions import Now

from campaigns.execution import populations as work
from campaigns.execution.dispatch.lost_workers import bring_back
from campaigns.kinds.base import DriverError
from campaigns.kit import encryption
from campaigns.kit.database_clock import database_now
from campaigns.models import Campaign, Factor, Level, Population, Target
from campaigns.targets.populations import asking

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def population(target, settings):
    """Return a function that stores a population of a server at which nobody listens."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    Target.objects.filter(pk=target.pk).update(
        family="katello", base_url="https://127.0.0.1:1", username="admin"
    )

    def stored(**columns):
        key = encryption.encrypt(encryption.new_key())
        values = {"hosts": 10, "organization": "ACME", "activation_keys": "key", "key": key}
        return Population.objects.create(target=target, **(values | columns))

    return stored


def attended(row):
    """Let a worker work on what dispatch claims, and return the row as it is then."""
    assert work.claim_populations() == [row.pk]
    work.attend(row.pk)
    return Population.objects.filter(pk=row.pk).first()


@pytest.mark.parametrize("tries", [6, 1024, 100_000])
def test_a_deletion_that_has_failed_for_a_week_is_still_tried_every_ten_minutes(population, tries):
    row = attended(population(state="deleting", tries=tries, problem="away"))

    assert (row.state, row.tries, row.claim) == ("deleting", tries + 1, "")
    assert 590 < (row.due_at - database_now()).total_seconds() <= 600
    assert work.claim_populations() == []


def test_an_error_of_perfdash_waits_as_others_do_and_is_told(population, monkeypatch, caplog):
    def broken(claim):
        raise KeyError("odd answer")

    monkeypatch.setattr(work, "_register", broken)

    row = attended(population())

    assert (row.state, row.tries) == ("making", 1)
    assert row.problem == (
        "An error of perfdash itself: KeyError: 'odd answer'. The log of the worker has it whole."
    )
    assert work.claim_populations() == []
    assert "KeyError" in caplog.text


def test_one_that_is_forgotten_while_its_deletion_fails_is_no_error(population, monkeypatch):
    def gone(claim):
        Population.objects.all().delete()
        raise DriverError("no answer")

    monkeypatch.setattr(work, "_delete", gone)

    assert attended(population(state="deleting", problem="away")) is None


def test_the_log_names_the_population_that_is_deleted(population, monkeypatch, caplog):
    monkeypatch.setattr(work.server, "remove_named", lambda target, prefix, context: 10)
    row = population(state="deleting", registered=10)
    with caplog.at_level(logging.INFO, logger=work.__name__):
        assert attended(row) is None

    assert f"population {row.pk} is deleted, with 10 hosts at its server" in caplog.text


def test_nobody_registers_or_deletes_in_quiet_hours(population, target):
    Target.objects.update(quiet_hours="daily 00:00-24:00")
    population()
    assert work.claim_populations() == []

    Target.objects.update(quiet_hours="")

    assert len(work.claim_populations()) == 1


def test_registration_rests_once_quiet_hours_begin(population, monkeypatch):
    def begin(*arguments):
        Target.objects.update(quiet_hours="daily 00:00-24:00")

    monkeypatch.setattr(work.server, "known", begin)
    row = attended(population())

    assert (row.state, row.registered, row.tries, row.problem, row.claim) == (
        "making",
        0,
        0,
        "",
        "",
    )


def test_a_clock_that_was_set_back_holds_no_population_for_an_hour(population, settings):
    hour = timedelta(hours=1)
    population(claim="of a dead worker", claimed_until=Now() + hour, due_at=Now() + hour)
    with transaction.atomic():
        now = database_now()
        assert bring_back(now)

    row = Population.objects.get()
    assert row.claimed_until == now + timedelta(seconds=settings.LEASE_SECONDS)
    assert row.due_at == now + timedelta(seconds=work.LONGEST_PAUSE_SECONDS)
    with transaction.atomic():
        assert not bring_back(now)


def test_one_that_a_campaign_names_is_not_deleted_for_its_age(population, target, team):
    def campaign(**columns):
        values = {"team": team, "target": target, "kind": "remote_execution", "state": "running"}
        begun = {"name": "jobs", "primary_metric": "x", "launched_at": Now()}
        return Campaign.objects.create(**(begun | values | columns))

    old = {"created_at": Now() - timedelta(days=31), "state": "ready"}
    fixed, varied, by_ssh, free, other = (population(**old) for _ in range(5))
    virtual = {"hosts_are": "virtual"}
    campaign(parameters=virtual | {"population": fixed.pk})
    campaign(parameters={"hosts_are": "virtual_ssh", "population": by_ssh.pk})
    several = campaign(parameters=virtual, state="paused")
    factor = Factor.objects.create(campaign=several, name="population", position=0)
    Level.objects.create(factor=factor, position=0, value=varied.pk)
    campaign(parameters=virtual | {"population": free.pk}, state="finished")
    campaign(parameters={"hosts_are": "registered", "population": other.pk})

    assert asking.delete_too_old() == 2

    kept = Population.objects.exclude(state="deleting")
    assert set(kept.values_list("pk", flat=True)) == {fixed.pk, varied.pk, by_ssh.pk}
    Campaign.objects.update(state="finished")
    assert asking.delete_too_old() == 3
