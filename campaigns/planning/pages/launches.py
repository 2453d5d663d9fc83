"""Approval by a second person on the page of a campaign."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import NotAllowed, Right, find
from campaigns.models import Campaign, LaunchRequest
from campaigns.planning import lifecycle
from campaigns.planning.launch_checks import asked_checks, planned_by

Decide = Callable[[LaunchRequest, User, str], LaunchRequest]
LONGEST = 2000
ANYWAY = "anyway"
"""The name of the field that launches although something is missing on the server."""


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve a request as a second operator; the step is performed then."""
    return _decide(request, pk, lifecycle.approve, "Approved: it starts when it is its turn.")


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Reject a request."""
    return _decide(request, pk, lifecycle.refuse, "Rejected: nothing starts.")


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw one's own request."""
    return _decide(
        request,
        pk,
        lambda row, user, _: lifecycle.withdraw(row, user),
        "Withdrawn: nothing starts.",
    )


def held_back(request: HttpRequest, campaign: Campaign) -> bool:
    """Return whether a launch waits since its runs would miss something on the server.

    The user is warned once, and may launch anyway.
    """
    if request.POST.get(ANYWAY) or campaign.state != Campaign.State.DRAFT:
        return False
    missing = [each for each in asked_checks(planned_by(campaign)) if each.warns]
    for each in missing:
        messages.warning(request, f"Nothing was launched. {each.text}")
    return bool(missing)


def waits_for_approval(request: HttpRequest, campaign: Campaign) -> bool:
    """Return whether a step waits for approval by a second person, with a message to the user."""
    waiting = lifecycle.waiting_of(campaign)
    if waiting is None:
        return False
    messages.info(
        request,
        f"Nothing runs yet: the {waiting.get_step_display()} waits for approval by a second "
        "person. "
        "Another operator of the team can approve it on this page.",
    )
    return True


def _decide(request: HttpRequest, pk: int, act: Decide, done: str) -> HttpResponse:
    user = user_of(request)
    row = find(LaunchRequest.objects.select_related("campaign"), user, Right.OPERATE, pk=pk)
    text = request.POST.get("words", "").replace("\x00", "")[:LONGEST]
    try:
        decided = act(row, user, text)
    except NotAllowed:
        raise
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        if decided.state == LaunchRequest.State.OUTDATED:
            messages.warning(request, f"The request is void, and nothing started. {decided.words}")
        else:
            messages.success(request, done)
        work_waits.send(sender=None)
    return redirect("campaign", row.campaign_id)
