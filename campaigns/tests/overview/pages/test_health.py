import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from campaigns.kit import broker


@pytest.fixture
def redis_at(settings):
    """Let the broker be at another address."""

    def at(url):
        settings.PROGRESS_URL = url
        broker._redis.cache_clear()

    yield at
    broker._redis.cache_clear()


@pytest.mark.parametrize("path", ["/health", "/health/"])
def test_health_needs_nobody_and_no_database(path):
    answer = Client().get(path)

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/ready", "/ready/"])
def test_ready_means_database_schema_and_broker(path):
    answer = Client().get(path)

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok", "database": "ok", "migrations": "ok", "broker": "ok",
    }  # fmt: skip


@pytest.mark.django_db
def test_a_broker_that_is_away_is_said(redis_at):
    redis_at("redis://:hunter2@127.0.0.1:1/0")

    answer = Client().get("/ready")

    assert answer.status_code == 503
    assert answer.json()["database"] == "ok"
    assert answer.json()["broker"].startswith("The broker does not answer.")
    assert "hunter2" not in answer.content.decode()


@pytest.mark.django_db
def test_a_database_that_is_away_is_said_without_its_words(monkeypatch):
    def refuse(*arguments):
        raise OperationalError("connection to postgresql://perfdash:hunter2@db failed")

    with monkeypatch.context() as patched:
        patched.setattr(connection, "cursor", refuse)
        answer = Client().get("/ready")

    assert answer.status_code == 503
    assert answer.json()["database"].startswith("The database does not answer.")
    assert "hunter2" not in answer.content.decode()


@pytest.mark.django_db
def test_a_migration_that_is_missing_is_named():
    MigrationRecorder(connection).record_unapplied("campaigns", "0001_accounts")

    answer = Client().get("/ready")

    assert answer.status_code == 503
    assert "campaigns 0001_accounts" in answer.json()["migrations"]
    assert "manage.py migrate" in answer.json()["migrations"]


@pytest.mark.django_db
def test_all_migrations_of_a_fresh_database_are_known():
    call_command("migrate", check_unapplied=True, verbosity=0)
