"""What is known to happen on the targets of a draft while it would run."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.kit.errors import Invalid
from campaigns.kit.pages.people import campaign_of, takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning import storage
from campaigns.planning.checking import check
from campaigns.planning.preview import preview
from campaigns.targets.watches.expected import expected_on

LEAST_SECONDS = 600.0
"""How far it is looked ahead at least: between looking and launching passes some time."""


@require_GET
@takes(Right.OPERATE, Campaign)
def expected_events(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the watches of the targets, and list what happens within the expected time of the campaign."""
    campaign = campaign_of(request, pk, Right.OPERATE)
    try:
        seconds = max(LEAST_SECONDS, preview(check(storage.definition_of(campaign))).seconds)
    except Invalid:
        seconds = LEAST_SECONDS
    expected = expected_on(campaign.targets, seconds)
    context = {"expected": expected, "seconds": seconds}
    return render(request, "planning/_expected_events.html", context)
