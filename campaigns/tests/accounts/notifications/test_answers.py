"""The end of a campaign is told with its answer, once that is known."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from campaigns.accounts.notifications.messages import message_of
from campaigns.accounts.notifications.recipients import ANSWER_SECONDS, NO_ANSWER, read_outbox
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Campaign, Delivery, Finding, PublishedAnswer

pytestmark = pytest.mark.django_db
SENTENCE = "Carries 402 hosts (388 to 416, 95 %)."


@pytest.fixture
def ended(team, campaign, hook):
    """A campaign whose end is announced, and whose analysis is not done."""
    Campaign.objects.filter(pk=campaign.pk).update(
        state="finished", launched_at=Now(), closed_at=Now(), analysis_requested_at=Now()
    )
    kind = Announcement.Kind.CAMPAIGN_FINISHED
    announce(kind, team, campaign=campaign, what="The campaign has finished.")
    return campaign


def analyse(campaign: Campaign, sentence: str = SENTENCE) -> None:
    Finding.objects.create(campaign=campaign, name="answer", result={}, data_hash="")
    PublishedAnswer.objects.create(campaign=campaign, sentence=sentence, caveat="One session.")
    Campaign.objects.filter(pk=campaign.pk).update(analysis_requested_at=None)


def message() -> str:
    return message_of(Delivery.objects.get()).text


def test_it_waits_for_the_analysis_and_has_its_answer(ended):
    assert read_outbox() == 0

    analyse(ended)

    assert read_outbox() == 1
    assert f"The campaign has finished.\n\n{SENTENCE} One session." in message()


def test_it_waits_for_ten_minutes_at_most(ended):
    Announcement.objects.update(at=Now() - timedelta(seconds=ANSWER_SECONDS + 1))
    PublishedAnswer.objects.create(campaign=ended, sentence="Of some of the runs.", caveat="")

    assert read_outbox() == 1
    assert NO_ANSWER in message()
    assert "Of some of the runs." not in message()


def test_an_analysis_that_failed_leaves_the_message_without_an_answer(ended):
    PublishedAnswer.objects.create(campaign=ended, sentence="Of some of the runs.", caveat="")
    Campaign.objects.update(analysis_requested_at=None)

    assert read_outbox() == 1
    assert "Of some of the runs." not in message()


def test_what_paused_is_told_at_once(team, campaign, hook):
    Campaign.objects.update(state="paused", launched_at=Now(), analysis_requested_at=Now())
    announce(Announcement.Kind.CAMPAIGN_FAILED, team, campaign=campaign, what="It paused.")

    assert read_outbox() == 1
    assert "answer" not in Announcement.objects.get().data


def test_the_answer_is_what_it_was_when_the_message_was_made(ended):
    analyse(ended)
    read_outbox()

    PublishedAnswer.objects.update(sentence="Another one.")

    assert SENTENCE in message()
