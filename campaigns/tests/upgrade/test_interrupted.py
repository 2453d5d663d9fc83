"""A migration that is cut off in the middle leaves nothing half-done."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from campaigns.tests.upgrade.conftest import books

COLUMNS = """
    SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema IN ('public', 'perfdash_views') ORDER BY 1, 2
"""
CONSTRAINTS = "SELECT conrelid::regclass::text, conname FROM pg_constraint ORDER BY 1, 2"
APPLIED = "SELECT app, name FROM django_migrations ORDER BY id"
CUT_OFF = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = %s AND wait_event_type = 'Lock'
"""


def schema() -> list[object]:
    found: list[object] = []
    with connection.cursor() as cursor:
        for query in (COLUMNS, CONSTRAINTS, APPLIED):
            cursor.execute(query)
            found += cursor.fetchall()
    return found


@contextmanager
def cut_off_before_it_is_noted() -> Iterator[None]:
    """End the session that has migrated and waits to note it: nobody else may write there."""
    place = psycopg.conninfo.make_conninfo(
        settings.DATABASE_URL, dbname=connection.settings_dict["NAME"]
    )

    def watch() -> None:
        end = monotonic() + 30
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as server:
            while monotonic() < end:
                if server.execute(CUT_OFF, [connection.settings_dict["NAME"]]).fetchall():
                    return
                sleep(0.02)

    with psycopg.connect(place) as other:
        other.execute("LOCK TABLE django_migrations IN SHARE MODE")
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            watcher.join()


def test_a_migration_that_is_cut_off_leaves_the_old_schema_and_is_done_the_next_time(restored):
    # The migration of the views is taken back. Django notes one with foreign keys only after its commit.
    call_command("migrate", "campaigns", "0009", verbosity=0, interactive=False)
    then, what = schema(), books()

    with cut_off_before_it_is_noted(), pytest.raises(OperationalError):
        call_command("migrate", verbosity=0, interactive=False)
    connection.close()

    assert schema() == then
    assert books() == what

    call_command("migrate", verbosity=0, interactive=False)

    assert schema() != then
    assert books().digest == what.digest


def test_a_database_of_a_newer_version_is_left_alone(upgraded):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('campaigns', '9999_of_a_later_version', now())"
        )
    then = schema()

    for command in (("prepare",), ("migrate", "--no-input")):
        with pytest.raises(CommandError, match=r"newer version.*9999_of_a_later_version"):
            call_command(*command, skip_checks=False)

    assert schema() == then
