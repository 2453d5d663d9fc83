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
from campaigns.web.confirming import Step, ask_for_name, typed_name
from campaigns.web.people import user_of

LONGEST_REASON = 2000
REFUSALS = (life.NotPossible, drafts.NotADraft)


@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest, pk: int) -> HttpResponse:
    """Lock the definition and begin."""
    user = user_of(request)
    step = Step(
        heading="Launch on a production server?",
        text="The definition is locked, and the first run begins as soon as it is its turn.",
        action=reverse("campaign-launch", args=[pk]),
        back=reverse("campaign", args=[pk]),
        button="Lock and launch",
    )
    return _load(request, pk, step, lambda campaign, name: life.launch(campaign, user, name))


@require_http_methods(["GET", "POST"])
def try_one(request: HttpRequest, pk: int) -> HttpResponse:
    """Make one run of a draft; `cell` chooses which, else the first."""
    user = user_of(request)
    key = request.POST.get("cell", "")
    step = Step(
        heading="Try one run on a production server?",
        text="One run loads it as each run of the campaign would; no analysis will ever see it.",
        action=reverse("campaign-try", args=[pk]),
        back=reverse("campaign", args=[pk]),
        button="Try one run",
        sent=(("cell", key),),
    )

    def one(campaign: Campaign, name: str) -> object:
        cell = campaign.cells.filter(pk=int(key)).first() if is_key(key) else None
        return life.try_one(campaign, user, cell, name)

    return _load(request, pk, step, one)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin no further run."""
    user = user_of(request)
    return _steer(request, pk, lambda campaign: life.pause(campaign, user))


@require_http_methods(["GET", "POST"])
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on after a pause."""
    user = user_of(request)
    step = Step(
        heading="Resume on a production server?",
        text="The next run begins as soon as it is its turn.",
        action=reverse("campaign-resume", args=[pk]),
        back=reverse("campaign", args=[pk]),
        button="Resume",
    )
    return _load(request, pk, step, lambda campaign, name: life.resume(campaign, user, name))


@require_http_methods(["GET", "POST"])
def extend(request: HttpRequest, pk: int) -> HttpResponse:
    """Add repetitions."""
    user = user_of(request)
    given = request.POST.get("blocks", "").strip()
    blocks = int(given) if is_key(given) else 0
    step = Step(
        heading="Extend on a production server?",
        text=f"Every cell is measured {blocks} times more, in a session of its own.",
        action=reverse("campaign-extend", args=[pk]),
        back=reverse("campaign", args=[pk]),
        button="Extend",
        sent=(("blocks", given),),
    )
    return _load(
        request, pk, step, lambda campaign, name: life.extend(campaign, blocks, user, name)
    )


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


def _load(
    request: HttpRequest, pk: int, step: Step, act: Callable[[Campaign, str], object]
) -> HttpResponse:
    """Do it, or ask first for the name of a production server. A GET only asks."""
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    if request.method == "GET":
        if life.production_server(campaign) is None:
            return redirect("campaign", pk)
        return ask_for_name(request, campaign, step)
    try:
        act(campaign, typed_name(request))
    except life.NotConfirmed:
        return ask_for_name(request, campaign, step)
    except REFUSALS as refusal:
        messages.warning(request, str(refusal))
    else:
        dispatch.dispatch()
    return redirect("campaign", pk)


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


def is_key(text: str) -> bool:
    """Whether a text can be a primary key, or a number of that size."""
    return text.isdecimal() and len(text) < 18
