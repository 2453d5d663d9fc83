"""The page of a run whose target was watched."""

import re

import pytest
from django.urls import reverse

from campaigns.models import Phase, Target
from campaigns.results.watched import WatchedRun, store_watched
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.watched import REFUSED, series, watch, watched

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 100)
    run = finish(campaign).runs.order_by("position")[0]
    attempt = run.attempts.get()
    for name, seconds in (("reset", 4.0), ("apply", 1.0), ("measure", 30.0), ("verify", 2.0)):
        Phase.objects.update_or_create(
            attempt=attempt, of="attempt", name=name, defaults={"seconds": seconds}
        )
    return run


def page(browser, run):
    response = browser.get(reverse("run", args=[run.campaign_id, run.position]))
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_shows_what_was_seen_and_which_resource_binds(browser, run):
    watch(run, 0.98, others=[REFUSED])
    text = page(browser, run)
    assert "CPU of the target binds." in text
    assert "Target not watched: Connection refused." in re.sub(r"\s+", " ", text)
    assert "What was observed on the target" in text
    assert "dnf-makecache ran" in text
    assert "clock -0.4 ± 0.2 ms" in text.replace("−", "-")
    assert "CPU: web" in text  # the legend
    assert "because" not in text.lower()


def test_an_idle_machine_and_one_that_was_not_watched(browser, run):
    text = page(browser, run)
    assert "The target, watched" not in text
    store_watched(run.attempts.get(), WatchedRun([REFUSED]))
    text = page(browser, run)
    assert "Connection refused." in text
    assert "What was observed on the target" not in text


def test_hostile_names_are_shown_as_text(browser, run):
    source = watched([*_hostile()])
    store_watched(run.attempts.get(), source)
    text = page(browser, run)
    assert "<script>alert(1)" not in text
    assert "alert(1)" in text


def test_links_open_with_the_time_of_the_run(browser, run):
    Target.objects.update(
        links=[{"title": "Logs", "url": "https://logs.example/?from={from_s}&t={target}"}]
    )
    started = run.attempts.get().measure_started_at
    assert f"https://logs.example/?from={int(started.timestamp()) - 30}&amp;t=" in page(
        browser, run
    )


def _hostile():

    return [
        series("group.cpu", 0.5, "<script>alert(1)</script>"),
        series("db.active", 1.0, "@series-1"),
    ]
