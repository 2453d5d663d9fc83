"""Approval by a second person on the page of a campaign."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.owners import find
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import NotAllowed, Right
from campaigns.models import Campaign, LaunchRequest, Run
from campaigns.planning import lifecycle
from campaigns.targets.probing import missing_at

Decide = Callable[[LaunchRequest, User, str], LaunchRequest]
LONGEST = 2000
ANYWAY = "anyway"
"""What a form sends to launch although something was found to be missing."""


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Say yes as a second operator; it begins then."""
    return _decide(request, pk, lifecycle.approve, "Approved: it starts when it is its turn.")


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Say no."""
    return _decide(request, pk, lifecycle.refuse, "Rejected: nothing starts.")


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back what one asked for."""
    return _decide(
        request,
        pk,
        lambda row, user, _: lifecycle.withdraw(row, user),
        "Withdrawn: nothing starts.",
    )


def failed_try_out(campaign: Campaign) -> str:
    """Say that the last try-out of a draft came to nothing, and why; empty where it did not.

    A change of the draft takes its try-outs away, so that they are always of what it says now.
    """
    last = campaign.runs.filter(purpose=Run.Purpose.TRIAL, state__in=Run.CLOSED)
    run = last.order_by("-position").first()
    if run is None or run.state not in (Run.State.FAILED, Run.State.VOID):
        return ""
    reason = run.reason.rstrip(".")
    return f"The last try-out is {run.get_state_display()}: {reason}. Runs of a launch would probably end the same way."


def held_back(request: HttpRequest, campaign: Campaign) -> bool:
    """Look for what the runs begin with; where it is missing, say so, unless it was said before."""
    if request.POST.get(ANYWAY) or campaign.state != Campaign.State.DRAFT:
        return False
    result = missing_at(campaign)
    for sentence in result:
        messages.warning(request, f"Nothing was launched. {sentence}")
    return bool(result)


def waits_for_approval(request: HttpRequest, campaign: Campaign) -> bool:
    """Say that a step waits for approval by a second person; False where none waits."""
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
