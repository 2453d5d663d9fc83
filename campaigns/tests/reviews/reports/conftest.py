import pytest
from django.utils import timezone

from campaigns.models import Conclusion, Decision, Evidence
from campaigns.tests.browsing import browser, person, target, toy, worker
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.people import somebody

__all__ = ["browser", "person", "target", "toy", "worker"]


def half_as_long(run):
    slower = run.cell.levels_by_factor["engine"] == "old"
    return (20.0 if slower else 10.0) + run.position / 100


@pytest.fixture
def measured(target, person):
    """Six pairs of two engines; the new one is faster."""
    campaign = launched(target, person, repetitions=6)
    store(campaign, half_as_long)
    return finish(campaign)


def concluded(campaign, author, **fields):
    """A conclusion on a campaign; accepted, where nothing else is said."""
    answer = campaign.findings.get(name="answer")
    values = {"claim": "The new engine halves the duration.", "state": "accepted", "revision": 1}
    values["sent_at"] = timezone.now()
    conclusion = Conclusion.objects.create(team=campaign.team, author=author, **(values | fields))
    Evidence.objects.create(
        conclusion=conclusion,
        position=1,
        campaign=campaign,
        data_hash=answer.data_hash,
        findings_at=answer.computed_at,
    )
    return conclusion


@pytest.fixture
def accepted(measured, person):
    conclusion = concluded(
        measured,
        somebody("ada", "author"),
        recommendation="Ship it.",
        limits="Only small files.",
    )
    Decision.objects.create(
        conclusion=conclusion,
        revision=1,
        user=person,
        word="approve",
        reason="Sound.",
        data_hash=measured.findings.get(name="answer").data_hash,
    )
    return conclusion
