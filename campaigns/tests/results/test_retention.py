from datetime import timedelta
from zlib import compress

import pytest
from django.urls import reverse
from django.utils import timezone
from numpy import array

from campaigns.findings import compute
from campaigns.models import (
    Attempt,
    AttemptOutput,
    AuditEvent,
    Conclusion,
    DeletedSamples,
    Evidence,
    Finding,
    LogLine,
    RawSamples,
    Retention,
    Watched,
    WatchedSeries,
)
from campaigns.results import retention
from campaigns.results.closing import close
from campaigns.results.watched import pack
from campaigns.tests.browsing import Page, browser, person, target, toy, worker
from campaigns.tests.measured import begin, finish, launched, outcome

__all__ = ["browser", "person", "target", "toy", "worker"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def old(target, person):
    """A finished campaign with samples, forty days old, of a team that keeps them for thirty."""
    campaign = launched(target, person, repetitions=3)
    for run in campaign.runs.order_by("position"):
        close(begin(run), outcome())
    Attempt.objects.update(finished_at=timezone.now() - timedelta(days=40))
    Retention.objects.create(team=campaign.team, keep_samples_days=30)
    return finish(campaign)


def test_samples_that_are_too_old_are_deleted_and_it_is_told(old):
    count = RawSamples.objects.count()
    assert count == 6

    assert retention.delete_old() == count

    assert not RawSamples.objects.exists()
    assert DeletedSamples.objects.count() == count
    line = LogLine.objects.get(campaign=old, text__startswith="Raw samples")
    assert line.text == (
        "Raw samples of 6 attempts were deleted, as the team keeps them for 30 days."
    )
    event = AuditEvent.objects.get(action="samples_deleted")
    assert (event.campaign_key, event.user, event.details["attempts"]) == (old.pk, None, 6)


def test_outputs_of_programs_and_series_of_watches_go_with_them(old):
    for attempt in Attempt.objects.all():
        AttemptOutput.objects.create(attempt=attempt, name="stdout", size=1, content=compress(b"x"))
        watched = Watched.objects.create(
            attempt=attempt, source="ssh", address="here:22", state="whole", step_seconds=1
        )
        for quantity in ("cpu.user", "cpu.system"):
            WatchedSeries.objects.create(
                watched=watched,
                quantity=quantity,
                start_seconds=0,
                step_seconds=1,
                count=1,
                values=pack(array([1.0])),
            )
    retention.delete_old()
    assert not AttemptOutput.objects.exists()
    assert not WatchedSeries.objects.exists()
    assert Watched.objects.count() == 6
    for what in ("Outputs", "Series of watches"):
        told = LogLine.objects.filter(text__startswith=f"{what} of 6 attempts were deleted")
        assert told.count() == 1


def test_statistics_keep_working_without_them(old):
    before = dict(Finding.objects.filter(campaign=old).values_list("name", "result"))
    data_hash = Finding.objects.get(campaign=old, name="answer").data_hash

    retention.delete_old()
    compute.analyse(old)

    assert dict(Finding.objects.filter(campaign=old).values_list("name", "result")) == before
    assert Finding.objects.get(campaign=old, name="answer").data_hash == data_hash


@pytest.mark.parametrize(
    ("state", "kept"), [("accepted", 6), ("in_review", 6), ("draft", 0), ("rejected", 0)]
)
def test_what_a_standing_conclusion_rests_on_is_kept(old, person, state, kept):
    conclusion = Conclusion.objects.create(team=old.team, author=person, claim="A", state=state)
    Evidence.objects.create(conclusion=conclusion, position=1, campaign=old)

    retention.delete_old()

    assert RawSamples.objects.count() == kept


def test_young_samples_and_those_of_a_team_without_a_rule_are_kept(old):
    Attempt.objects.filter(run__position=1).update(finished_at=timezone.now())
    retention.delete_old()
    assert RawSamples.objects.count() == 1

    Retention.objects.all().delete()
    Attempt.objects.update(finished_at=timezone.now() - timedelta(days=400))

    assert retention.delete_old() == 0


def test_a_campaign_that_goes_on_keeps_its_samples(old):
    old.state = "running"
    old.save()

    assert retention.delete_old() == 0


def test_it_stops_after_so_many_and_goes_on_the_next_time(old, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)

    assert retention.delete_old(most=3) == 3
    assert RawSamples.objects.count() == 3
    assert retention.delete_old(most=10) == 3
    assert retention.delete_old() == 0


def test_the_page_of_a_run_says_what_is_no_longer_possible(old, browser):
    path = reverse("run", args=[old.pk, 1])
    assert "were deleted" not in Page(browser.get(path)).text

    retention.delete_old()

    text = Page(browser.get(path)).text
    assert "3 samples of this attempt were deleted" in text
    assert "keeps raw samples for 30 days" in text
