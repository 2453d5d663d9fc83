"""What Prometheus reads: parsed as it parses it."""

import pytest
from django.db import OperationalError
from django.db.models.functions import Now
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from campaigns.kit import broker
from campaigns.models import Attempt, Campaign, Dispatcher, Run, TargetLease, Worker
from campaigns.overview.pages import metrics
from campaigns.planning.lifecycle import launch

pytestmark = pytest.mark.django_db

TOKEN = "only-Prometheus-has-it"  # noqa: S105 - made up
FAMILIES = {
    "perfdash_announcements_unread",
    "perfdash_deliveries",
    "perfdash_delivery_oldest_seconds",
    "perfdash_channels_switched_off",
    "perfdash_build_info", "perfdash_database_up", "perfdash_queue_runs",
    "perfdash_lease_held_seconds", "perfdash_lease_expires_seconds", "perfdash_attempts",
    "perfdash_runs", "perfdash_campaigns", "perfdash_workers", "perfdash_analyses_waiting",
    "perfdash_lines", "perfdash_alerts", "perfdash_line_overdue_seconds", "perfdash_dispatch_age_seconds", "perfdash_broker_up", "perfdash_broker_messages",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _anew(monkeypatch):
    monkeypatch.setattr(metrics, "_cache", metrics._Cache())
    yield
    broker._redis.cache_clear()


def scraped(answer=None):
    """Value by name and labels, which are in the order of their names."""
    answer = Client().get("/metrics") if answer is None else answer
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


@pytest.fixture
def launched(draft, person):
    launch(draft, person)
    return draft


def test_a_fresh_perfdash_has_figures_too():
    found = scraped()

    assert found["perfdash_database_up",] == 1
    assert found["perfdash_broker_up",] == 1
    assert found["perfdash_attempts_total", "lost"] == 0
    assert found["perfdash_runs", "planned"] == 0


def test_queues_leases_attempts_and_workers_are_counted(launched, target):
    run = Run.objects.filter(campaign=launched)[0]
    attempt = Attempt.objects.create(run=run, number=1, pool="measure", token=1)
    TargetLease.objects.create(address="192.0.2.9:443", attempt=attempt, expires_at=Now())
    Worker.objects.create(name="measure@a", host="a", pools=["measure"])
    Worker.objects.create(name="control@a", host="a", pools=["control"])
    Dispatcher.objects.update_or_create(pk=1, defaults={"ticked_at": Now()})

    found = scraped()

    assert found["perfdash_queue_runs", "running", "measure", target.name] == 6
    assert found["perfdash_runs", "planned"] == 6
    assert found["perfdash_campaigns", "running"] == 1
    assert found["perfdash_attempts_total", "queued"] == 1
    assert found["perfdash_lease_held_seconds", "192.0.2.9:443", "target"] >= 0
    assert found["perfdash_lease_expires_seconds", "192.0.2.9:443", "target"] <= 0
    assert found["perfdash_workers", "measure"] == found["perfdash_workers", "control"] == 1
    assert 0 <= found["perfdash_dispatch_age_seconds",] < 60
    assert found["perfdash_broker_messages", "measure"] >= 0


def test_a_worker_that_is_silent_is_not_counted():
    from datetime import timedelta

    long_ago = Now() - timedelta(minutes=1)
    Worker.objects.create(name="measure@a", host="a", pools=["measure"], seen_at=long_ago)

    assert ("perfdash_workers", "measure") not in scraped()


def test_no_name_of_a_campaign_is_a_label(launched):
    Campaign.objects.update(name="a very special name", question="a very special question")

    assert "special" not in Client().get("/metrics").content.decode()


def test_however_much_there_is_it_takes_the_same_few_queries(
    launched, django_assert_max_num_queries
):
    with django_assert_max_num_queries(19):
        scraped()


def test_it_is_counted_once_in_a_few_seconds(launched, django_assert_num_queries):
    first = Client().get("/metrics").content

    with django_assert_num_queries(0):
        assert Client().get("/metrics").content == first


def test_a_database_that_is_away_is_a_figure(monkeypatch):
    def refuse():
        raise OperationalError("connection refused")

    monkeypatch.setattr(metrics, "figures", refuse)

    found = scraped()

    assert found["perfdash_database_up",] == 0
    assert found["perfdash_broker_up",] == 1
    assert ("perfdash_runs", "planned") not in found


def test_a_broker_that_is_away_is_a_figure(settings):
    settings.PROGRESS_URL = "redis://127.0.0.1:1/0"
    broker._redis.cache_clear()

    found = scraped()

    assert found["perfdash_broker_up",] == 0
    assert found["perfdash_runs", "planned"] == 0


def ask(address="192.0.2.1", token="", **headers):
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return Client(REMOTE_ADDR=address, headers=headers).get("/metrics").status_code


def test_from_elsewhere_nobody_sees_them_without_the_token(settings):
    assert ask() == 401
    assert ask(token=TOKEN) == 401
    settings.METRICS_TOKEN = TOKEN
    assert ask() == 401
    for wrong in ("wrong", "ü", TOKEN + "x", TOKEN.upper(), TOKEN[:-1]):
        assert ask(token=wrong) == 401


def test_with_the_token_everybody_sees_them_and_without_it_not_even_this_machine(settings):
    settings.METRICS_TOKEN = TOKEN

    assert ask(token=TOKEN) == 200
    assert ask(address="127.0.0.1") == 401


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_on_this_machine_they_are_open_but_not_through_a_proxy(settings, address):
    assert ask(address=address) == 200
    for header in metrics.FORWARDED:
        assert ask(address=address, **{header: "127.0.0.1"}) == 401
    settings.BEHIND_PROXY = True
    assert ask(address=address) == 401


def test_the_owner_of_the_installation_sees_them_and_nobody_of_a_team(browser, person, settings):
    settings.METRICS_TOKEN = TOKEN

    assert browser.get("/metrics", REMOTE_ADDR="192.0.2.1").status_code == 401
    person.is_superuser = True
    person.save()
    assert browser.get("/metrics", REMOTE_ADDR="192.0.2.1").status_code == 200


def test_every_family_is_documented(launched, settings):
    text = (settings.BASE_DIR / "docs/reference/metrics.md").read_text(encoding="utf-8")
    run = Run.objects.filter(campaign=launched)[0]
    attempt = Attempt.objects.create(run=run, number=1, pool="measure", token=1)
    TargetLease.objects.create(address="192.0.2.9:443", attempt=attempt, expires_at=Now())
    Dispatcher.objects.update_or_create(pk=1, defaults={"ticked_at": Now()})
    page = Client().get("/metrics").content.decode()

    names = {family.name for family in text_string_to_metric_families(page)}

    assert names == FAMILIES
    assert [name for name in sorted(names) if f"`{name}" not in text] == []
