"""A second person's yes: what waits for it on the page of a campaign, and saying it."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from campaigns import dispatch
from campaigns.definition import life
from campaigns.models import Campaign, LaunchRequest
from campaigns.queries.owners import find
from campaigns.queries.rights import NotAllowed, Right
from campaigns.web.people import takes, user_of

Decide = Callable[[LaunchRequest, User, str], LaunchRequest]
LONGEST = 2000


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Say yes as a second operator; it begins then."""
    return _decide(request, pk, life.approve, "You said yes: it begins when it is its turn.")


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Say no."""
    return _decide(request, pk, life.refuse, "You said no: nothing begins.")


@require_POST
@takes(Right.OPERATE, LaunchRequest)
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back what one asked for."""
    return _decide(
        request, pk, lambda row, user, _: life.withdraw(row, user), "Taken back: nothing begins."
    )


def told_if_asked(request: HttpRequest, campaign: Campaign) -> bool:
    """Say that a step waits for a second person's yes; False where none waits."""
    waiting = life.waiting_of(campaign)
    if waiting is None:
        return False
    messages.info(
        request,
        f"Nothing runs yet: the {waiting.get_step_display()} waits for a second person's yes. "
        "Another operator of the team says it on this page.",
    )
    return True


def _decide(request: HttpRequest, pk: int, act: Decide, done: str) -> HttpResponse:
    user = user_of(request)
    row = find(LaunchRequest.objects.select_related("campaign"), user, Right.OPERATE, pk=pk)
    words = request.POST.get("words", "").replace("\x00", "")[:LONGEST]
    try:
        decided = act(row, user, words)
    except NotAllowed:
        raise
    except life.NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        if decided.state == LaunchRequest.State.OUTDATED:
            messages.warning(request, f"The request is void, and nothing began. {decided.words}")
        else:
            messages.success(request, done)
        dispatch.dispatch()
    return redirect("campaign", row.campaign_id)
