"""Connect the signals of `campaigns.kit.events` with their receivers in higher rooms."""

from typing import Any

from django.dispatch import receiver

from campaigns.execution import dispatch
from campaigns.kit.events import data_changed, findings_stored, work_waits
from campaigns.models import Campaign
from campaigns.reviews import reopening


@receiver(work_waits)
def start_what_may_start(**signal: Any) -> None:
    """Start what may start, then re-open the conclusions that were overtaken."""
    dispatch.dispatch()
    reopening.look_at_overdue()


@receiver(data_changed)
def reopen_conclusions(campaign: Campaign, **signal: Any) -> None:
    """Re-open the conclusions that rest on data which are others now."""
    reopening.look_again(campaign)


@receiver(findings_stored)
def publish_answer(campaign: Campaign, **signal: Any) -> None:
    """Publish the answer that the findings give."""
    # Every process connects this module's signals; few analyse.
    from campaigns.findings.answers import publish_answer

    publish_answer(campaign)
