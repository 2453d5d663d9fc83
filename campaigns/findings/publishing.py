"""Publish the answer of a campaign as text to readers of the database; see `PublishedAnswer`."""

from campaigns.findings.answers import answers_of
from campaigns.models import Campaign, PublishedAnswer


def publish_answer(campaign: Campaign) -> None:
    """Store the answer that the stored findings of a campaign give."""
    for key, answer in answers_of([campaign.pk]).items():
        PublishedAnswer.objects.update_or_create(
            campaign_id=key, defaults={"sentence": answer.sentence, "caveat": answer.caveat}
        )
