"""End campaigns in which nothing is open any more."""

from django.db.models.functions import Now

from campaigns.dispatch.analyses import request_analysis
from campaigns.dispatch.untouched import untouched
from campaigns.models import Attempt, Campaign, LogLine, Run


def close_campaigns() -> None:
    """Finish campaigns without an open run, and end a cancel whose load has stopped."""
    open_runs = Run.objects.filter(state__in=Run.OPEN)
    open_attempts = Attempt.objects.filter(state__in=Attempt.OPEN)
    launched = Campaign.objects.filter(state__in=[Campaign.State.RUNNING, Campaign.State.PAUSED])
    for campaign in untouched(launched.exclude(pk__in=open_runs.values("campaign"))):
        if not open_runs.filter(campaign=campaign).exists():  # nor since it is locked
            _end(campaign, Campaign.State.FINISHED)
    cancelling = Campaign.objects.filter(state=Campaign.State.CANCELLING)
    for campaign in untouched(cancelling.exclude(pk__in=open_attempts.values("run__campaign"))):
        _end(campaign, Campaign.State.CANCELLED)


def _end(campaign: Campaign, state: Campaign.State) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state, closed_at=Now())
    text = f"campaign {state}"
    if state == Campaign.State.FINISHED and campaign.state_reason:
        text += f": {campaign.state_reason}"
    LogLine.objects.create(campaign=campaign, text=text)
    request_analysis(campaign)
