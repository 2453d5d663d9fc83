"""An outcome waits for a database that cannot take it."""

from time import monotonic, sleep

import pytest
from django.db import InterfaceError, OperationalError, connection

from campaigns.execution import running
from campaigns.execution.running import execute
from campaigns.models import Attempt, LogLine, Measurement, Run
from campaigns.results import closing
from campaigns.tests.execution.beside import Beside

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_outcome_waits_for_a_database_that_is_away(attempt_of, monkeypatch):
    attempt = attempt_of()
    close, failures = closing.close, [OperationalError("away"), InterfaceError("closed")]

    def close_later(*arguments, **named):
        if failures:
            raise failures.pop()
        return close(*arguments, **named)

    monkeypatch.setattr(running, "close", close_later)
    execute(attempt.pk, "measure@here", "here")
    attempt.refresh_from_db()

    assert attempt.state == Attempt.State.ACCEPTED
    assert LogLine.objects.filter(text="run 1 attempt 1 accepted").count() == 1


@pytest.fixture
def database_that_refuses():
    """Let the real database refuse every value with an SQLSTATE; give what heals it."""

    def heal():
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION IF EXISTS refuse CASCADE")

    def refuse(state):
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$BEGIN RAISE 'no room' USING ERRCODE = '{state}'; END$$;"
                "CREATE TRIGGER refuse BEFORE INSERT ON campaigns_measurement"
                " EXECUTE FUNCTION refuse()"
            )
        return heal

    yield refuse
    heal()


@pytest.mark.parametrize("state", ["53100", "25006"], ids=["its disk is full", "read-only"])
def test_an_outcome_waits_for_far_longer_than_the_lease_while_the_database_refuses(
    attempt_of, settings, monkeypatch, caplog, database_that_refuses, state
):
    monkeypatch.setattr(running, "FIRST_PAUSE_SECONDS", 0.02)
    attempt = attempt_of()
    heal = database_that_refuses(state)
    close = running._close

    def close_with_a_short_lease(*arguments):
        settings.LEASE_SECONDS = 0.05
        return close(*arguments)

    monkeypatch.setattr(running, "_close", close_with_a_short_lease)
    storing = Beside(execute, attempt.pk, "measure@here", "here")
    end = monotonic() + 10
    while caplog.text.count("waits for the database: no room") < 20 and monotonic() < end:
        sleep(0.02)

    assert Attempt.objects.get().state == Attempt.State.RUNNING
    heal()
    assert storing.get().state == Run.State.DONE
    assert Measurement.objects.exists()


def test_what_exceeds_the_databases_limits_is_left_out_instead_of_waiting_for_ever(
    attempt_of, database_that_refuses
):
    attempt = attempt_of()
    database_that_refuses("54000")

    execute(attempt.pk, "measure@here", "here")
    attempt.refresh_from_db()

    assert attempt.state == Attempt.State.VOID
    assert attempt.reason.startswith("What was measured cannot be stored: no room")
