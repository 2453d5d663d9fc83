from contextlib import closing

import pytest
from django.db import OperationalError, connection, transaction
from django.db.backends.signals import connection_created

from perfdash.database import limit_waits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def limited(settings):
    settings.DATABASE_ANSWER_SECONDS = 0.2
    before = connection_created.disconnect(dispatch_uid="perfdash.database")
    limit_waits()
    yield
    assert connection_created.disconnect(dispatch_uid="perfdash.database")
    if before:
        limit_waits()


def ask(made, question):
    with made.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchone()


def test_a_database_that_does_not_answer_is_not_waited_for(limited):
    with closing(connection.copy()) as made:
        with pytest.raises(OperationalError, match=r"no answer within 0\.2 s"):
            ask(made, "SELECT pg_sleep(5)")

        made.close()

        assert ask(made, "SELECT 1") == (1,)


@transaction.atomic
def ask_in_a_transaction(question):
    return ask(connection, question)


def test_a_transaction_that_gets_no_answer_ends_as_one_whose_connection_broke(limited):
    connection.close()

    with pytest.raises(OperationalError):
        ask_in_a_transaction("SELECT pg_sleep(5)")

    assert ask_in_a_transaction("SELECT 1") == (1,)


@pytest.fixture
def unlimited():
    """As in a command, whatever a server that was started in this process has limited before."""
    limited = connection_created.disconnect(dispatch_uid="perfdash.database")
    yield
    if limited:
        limit_waits()


def test_commands_wait_as_long_as_it_takes(settings, unlimited):
    settings.DATABASE_ANSWER_SECONDS = 0.1
    with closing(connection.copy()) as made:
        assert ask(made, "SELECT 1 FROM pg_sleep(0.3)") == (1,)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value"),
    [("idle_in_transaction_session_timeout", "1min"), ("lock_timeout", "30s")],
)
def test_the_database_ends_what_holds_others_up(name, value):
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        assert cursor.fetchone() == (value,)
