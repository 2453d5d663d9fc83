"""What goes wrong with populations: failures of any kind, rows that are gone, quiet hours, a clock that is set back."""

import logging

import pytest

from campaigns.execution import populations as work
from campaigns.kinds.base import DriverError
from campaigns.kit import encryption
from campaigns.kit.database_clock import database_now
from campaigns.models import Population, Target

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
