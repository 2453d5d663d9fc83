"""Each stored version, restored and migrated once; every test gets a copy of its own."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import pytest
from django.conf import settings as project
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from campaigns.tests import upgrade

TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
TEXTS = "SELECT * FROM campaigns_measurement"
KEYS = """
    SELECT attempt_id, value, censored, bound, name AS metric, unit, lower_is_better, fidelity
    FROM campaigns_measurement JOIN campaigns_storedmetric metric ON metric.id = metric_id
"""
DIGEST = """
    SELECT md5(string_agg(concat_ws('|', run.campaign_id, run.position, run.purpose, attempt.number,
        stored.metric, value, unit, lower_is_better, censored, bound, fidelity), E'\\n'
        ORDER BY attempt.id, stored.metric))
    FROM ({values}) stored JOIN campaigns_attempt attempt ON attempt.id = attempt_id
    JOIN campaigns_run run ON run.id = run_id
"""
GROWS = {"auth_permission", "django_content_type", "django_migrations"}
"""Tables that a migration may add rows to."""
RENAMED = {"campaigns_handrequest": "campaigns_manualstep"}
"""Tables that have another name now."""


@dataclass(frozen=True)
class Books:
    """How many rows each table has, by its name today, and a digest of all measurements."""

    rows: dict[str, int]
    digest: str


def books() -> Books:
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        tables = {name for (name,) in cursor.fetchall()} - GROWS
        rows = {}
        for table in tables:
            cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608  a table's own name
            rows[RENAMED.get(table, table)] = cursor.fetchone()[0]
        values = KEYS if "campaigns_storedmetric" in tables else TEXTS
        cursor.execute(DIGEST.format(values=values))
        return Books(rows, cursor.fetchone()[0])


def name_of(version: str, use: str) -> str:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    return f"upgrade_{use}_{version.replace('.', '_')}_{worker}"


def make_database(name: str, *, template: str = "template0") -> None:
    """Make a database, over one that a test which was ended may have left."""
    with psycopg.connect(project.DATABASE_URL, autocommit=True) as server:
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        server.execute(drop.format(sql.Identifier(name)))
        make = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        server.execute(make.format(sql.Identifier(name), sql.Identifier(template)))


def drop_database(name: str) -> None:
    with psycopg.connect(project.DATABASE_URL, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def connected(name: str) -> Iterator[None]:
    """Let Django's connection lead to another database."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def restore(version: str) -> None:
    """Execute what is stored; its SET statements end with the connection."""
    stored = gzip.decompress((upgrade.HERE / f"{version}.sql.gz").read_bytes()).decode()
    connection.ensure_connection()
    connection.connection.execute(stored)
    connection.close()


@pytest.fixture(scope="session", params=upgrade.stored_versions())
def version(request) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def before(version, django_db_blocker) -> Iterator[Books]:
    """What the stored version holds; beside it, two databases to copy from."""
    old, new = name_of(version, "old"), name_of(version, "new")
    with django_db_blocker.unblock():
        make_database(old)
        with connected(old):
            restore(version)
            found = books()
        make_database(new, template=old)
        with connected(new):
            call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
        yield found
        drop_database(old)
        drop_database(new)


@pytest.fixture
def of_a_test(settings, django_db_blocker):
    """Copy a database for one test, and let Django use the copy."""
    settings.ENCRYPTION_KEYS = [upgrade.ENCRYPTION_KEY]
    settings.OWNER_CONFIRMS = True
    copy = name_of("", "test")

    @contextmanager
    def use(template: str) -> Iterator[None]:
        with django_db_blocker.unblock():
            make_database(copy, template=template)
            with connected(copy):
                yield
            drop_database(copy)

    return use


@pytest.fixture
def restored(version, before, of_a_test) -> Iterator[None]:
    """The version's own database."""
    with of_a_test(name_of(version, "old")):
        yield


@pytest.fixture
def upgraded(version, before, of_a_test) -> Iterator[Books]:
    """The version's database on the newest schema; gives what was in it before."""
    with of_a_test(name_of(version, "new")):
        yield before
