"""Steer a campaign: launch, try, pause, resume, extend, cancel. What is refused is said, never a 500."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns import dispatch
from campaigns.definition import drafts, life
from campaigns.models import Campaign
from campaigns.web.people import user_of

LONGEST_REASON = 2000
REFUSALS = (life.NotPossible, drafts.NotADraft)


@require_POST
def launch(request: HttpRequest, pk: int) -> HttpResponse:
    """Lock the definition and begin."""
    user = user_of(request)
    return _steer(request, pk, lambda campaign: life.launch(campaign, user))


@require_POST
def try_one(request: HttpRequest, pk: int) -> HttpResponse:
    """Make one run of a draft; `cell` chooses which, else the first."""
    user = user_of(request)
    key = request.POST.get("cell", "")

    def one(campaign: Campaign) -> object:
        cell = campaign.cells.filter(pk=int(key)).first() if _is_key(key) else None
        return life.try_one(campaign, user, cell)

    return _steer(request, pk, one)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin no further run."""
    user = user_of(request)
    return _steer(request, pk, lambda campaign: life.pause(campaign, user))


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on after a pause."""
    user = user_of(request)
    return _steer(request, pk, lambda campaign: life.resume(campaign, user))


@require_POST
def extend(request: HttpRequest, pk: int) -> HttpResponse:
    """Add repetitions."""
    user = user_of(request)
    given = request.POST.get("blocks", "").strip()
    blocks = int(given) if _is_key(given) else 0
    return _steer(request, pk, lambda campaign: life.extend(campaign, blocks, user))


@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the reason, then end the campaign."""
    campaign = get_object_or_404(Campaign, pk=pk)
    if request.method == "POST":
        user, reason = user_of(request), reason_in(request)
        return _steer(request, pk, lambda stored: life.cancel(stored, reason, user))
    if campaign.state not in (Campaign.State.RUNNING, Campaign.State.PAUSED):
        messages.warning(request, f"There is nothing to cancel: the campaign is {campaign.state}.")
        return redirect("campaign", pk)
    context = {
        "campaign": campaign,
        "heading": "Cancel the campaign?",
        "text": (
            "The run that is on is stopped within seconds, and no further one begins. "
            "What was measured stays; a cancelled campaign cannot be resumed."
        ),
        "action": reverse("campaign-cancel", args=[pk]),
        "back": reverse("campaign", args=[pk]),
        "button": "Cancel the campaign",
    }
    return render(request, "campaigns/confirm.html", context)


def reason_in(request: HttpRequest) -> str:
    """The reason that somebody typed, without what nobody can see."""
    typed = request.POST.get("reason", "")[:LONGEST_REASON]
    return "".join(sign for sign in typed if sign.isprintable() or sign in "\n\t").strip()


def _steer(request: HttpRequest, pk: int, act: Callable[[Campaign], object]) -> HttpResponse:
    """Do it, let dispatch look, and go back to the campaign."""
    campaign = get_object_or_404(Campaign, pk=pk)
    try:
        act(campaign)
    except REFUSALS as refusal:
        messages.warning(request, str(refusal))
    else:
        dispatch.dispatch()
    return redirect("campaign", pk)


def _is_key(text: str) -> bool:
    return text.isdecimal() and len(text) < 18
