"""A finished, analysed campaign; an author, reviewers; a conclusion that rests on it."""

import pytest

from campaigns.findings import compute
from campaigns.models import Campaign, Finding
from campaigns.reviews.checklist import checklist
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.deciding import decide
from campaigns.reviews.drafting import create, edit
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.sending import send
from campaigns.tests.findings.compute.conftest import interleaved, noisy, store, target
from campaigns.tests.people import somebody
from campaigns.tests.remembered import remembered

__all__ = ["interleaved", "target"]

LEVELS = {5: 10.0, 10: 8.0, 20: 7.0}


@pytest.fixture
def campaign(interleaved):
    """Nine runs that were stored, and their findings."""

    def make():
        found = interleaved(list(LEVELS))
        store(found, noisy(LEVELS))
        return finished(found)

    return remembered(make)


def finished(campaign):
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    compute.analyse(campaign)
    campaign.refresh_from_db()
    assert Finding.objects.filter(campaign=campaign, name="answer").exists()
    return campaign


@pytest.fixture
def author(db):
    return remembered(somebody, "ann", "author")


@pytest.fixture
def reviewer(db):
    return remembered(somebody, "rob", "reviewer")


@pytest.fixture
def other(db):
    return remembered(somebody, "rita", "reviewer")


def content(campaign, **fields):
    named = {"claim": "20 connections are fastest.", "evidence": [Cited(campaign.pk)]}
    return Content(**{**named, **fields})


def words_on(conclusion):
    """A word on everything that does not pass."""
    return {
        check.key: f"known: {check.name}"
        for check in checklist(conclusion)
        if check.state != "pass"
    }


def drafted(author, campaign):
    made = create(author, content(campaign))
    return edit(made.pk, author, content(campaign, words=words_on(made)))


@pytest.fixture
def draft(author, campaign):
    """With a word on every warning."""
    return remembered(drafted, author, campaign)


@pytest.fixture
def sent(draft, author, reviewer):
    return remembered(sent_to, draft, author, reviewer)


def sent_to(draft, author, reviewer):
    return send(draft.pk, author, [reviewer])


def say(conclusion, user, word="approve", **fields):
    """Decide on what is there now."""
    seen = {
        "revision": conclusion.revision,
        "data_hash": data_hash_of(conclusion),
        "with_failed": True,
    }
    return decide(conclusion.pk, user, word, **{**seen, **fields})
