"""What is known to happen on the targets of a draft while it would run."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.kit.errors import Invalid
from campaigns.kit.pages.people import campaign_of, takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning import drafts
from campaigns.planning.checking import check
from campaigns.planning.preview import preview
from campaigns.targets.watches.expected import expected_on


@require_GET
@takes(Right.OPERATE, Campaign)
def expected_events(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the watches of the targets, and list what happens within the expected time of the campaign."""
    campaign = campaign_of(request, pk, Right.OPERATE)
    try:
        seconds = preview(check(drafts.as_data(campaign))).seconds
    except Invalid:
        seconds = 3600.0
    expected = expected_on(campaign.targets, seconds)
    context = {"expected": expected, "seconds": seconds}
    return render(request, "planning/_expected_events.html", context)
