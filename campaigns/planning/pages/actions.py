"""Actions on a campaign: launch, try, pause, resume, extend, cancel. A refusal is a message, never a 500."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import NotConfirmed, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.forms import is_key
from campaigns.kit.pages.confirming import Step, ask_for_name, ask_reason, typed_name
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning import drafts, lifecycle
from campaigns.planning.launch_checks import ask_rights_at, planned_by
from campaigns.planning.pages.launches import ANYWAY, held_back, waits_for_approval

LONGEST_REASON = 2000
REFUSALS = (NotPossible, drafts.NotADraft)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def launch(request: HttpRequest, pk: int) -> HttpResponse:
    """Lock the definition and launch the campaign."""
    user = user_of(request)
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    requested = lifecycle.production_server(campaign) is not None and not typed_name(request)
    if request.method == "POST" and not requested and held_back(request, campaign):
        return redirect(f"{reverse('campaign', args=[pk])}?{ANYWAY}=on")
    step = _step(
        pk,
        "launch",
        "Launch on a production server?",
        "The definition is locked, and the first run starts as soon as it is its turn.",
        "Lock and launch",
        **({ANYWAY: "on"} if ANYWAY in request.GET or ANYWAY in request.POST else {}),
    )
    return _load(request, pk, step, lambda result, name: lifecycle.launch(result, user, name))


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def try_one(request: HttpRequest, pk: int) -> HttpResponse:
    """Try one run of a draft; `cell` chooses its cell, by default the first."""
    user = user_of(request)
    key = request.POST.get("cell", "")
    step = _step(
        pk,
        "try",
        "Try one run on a production server?",
        "One run loads it like each run of the campaign; it is never analysed.",
        "Try one run",
        cell=key,
    )

    def one(campaign: Campaign, name: str) -> object:
        cell = campaign.cells.filter(pk=int(key)).first() if is_key(key) else None
        return lifecycle.try_or_request_approval(campaign, user, cell, name)

    return _load(request, pk, step, one)


@require_POST
@takes(Right.OPERATE, Campaign)
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a campaign: no further run starts."""
    user = user_of(request)
    campaign = get_object_or_404(Campaign, pk=pk)
    return _steer(request, campaign, lambda result: lifecycle.pause(result, user))


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a paused campaign."""
    user = user_of(request)
    step = _step(
        pk,
        "resume",
        "Resume on a production server?",
        "The next run starts as soon as it is its turn.",
        "Resume",
    )
    return _load(
        request,
        pk,
        step,
        lambda campaign, name: lifecycle.resume(campaign, user, name),
        may_need_approval=False,
    )


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def extend(request: HttpRequest, pk: int) -> HttpResponse:
    """Add repetitions."""
    user = user_of(request)
    value = request.POST.get("blocks", "").strip()
    blocks = int(value) if is_key(value) else 0
    step = _step(
        pk,
        "extend",
        "Extend on a production server?",
        f"Every cell is measured {blocks} times more, in a session of its own.",
        "Extend",
        blocks=value,
    )
    return _load(
        request, pk, step, lambda campaign, name: lifecycle.extend(campaign, blocks, user, name)
    )


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for the reason, then cancel the campaign."""
    campaign = get_object_or_404(Campaign, pk=pk)
    if request.method == "POST":
        user, reason = user_of(request), reason_in(request)
        return _steer(request, campaign, lambda result: lifecycle.cancel(result, reason, user))
    if campaign.state not in (Campaign.State.RUNNING, Campaign.State.PAUSED):
        messages.warning(request, f"There is nothing to cancel: the campaign is {campaign.state}.")
        return redirect("campaign", pk)
    step = _step(
        pk,
        "cancel",
        "Cancel the campaign?",
        "The current run is stopped within seconds, and no further run starts. All measurements "
        "are kept; a cancelled campaign cannot be resumed.",
        "Cancel the campaign",
    )
    return ask_reason(request, campaign, step)


def reason_in(request: HttpRequest) -> str:
    """Return the typed reason without invisible characters."""
    typed = request.POST.get("reason", "")[:LONGEST_REASON]
    return "".join(sign for sign in typed if sign.isprintable() or sign in "\n\t").strip()


def _step(pk: int, name: str, heading: str, text: str, button: str, **sent: str) -> Step:
    """Return the text on a step, by the name of its URL."""
    action, back = reverse(f"campaign-{name}", args=[pk]), reverse("campaign", args=[pk])
    return Step(heading, text, action, back, button, tuple(sent.items()))


def _load(
    request: HttpRequest,
    pk: int,
    step: Step,
    act: Callable[[Campaign, str], object],
    *,
    may_need_approval: bool = True,
) -> HttpResponse:
    """Perform a step, or require the name of a production server first. A GET shows that form.

    may_need_approval: whether a second person may have to approve the step.
    """
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    name = lifecycle.name_to_confirm(campaign)
    if request.method == "GET":
        if not name:
            return redirect("campaign", pk)
        return ask_for_name(request, campaign, step, name)
    ask_rights_at(planned_by(campaign))
    try:
        answer = _steer(request, campaign, lambda result: act(result, typed_name(request)))
    except NotConfirmed:
        return ask_for_name(request, campaign, step, name)
    if may_need_approval:
        waits_for_approval(request, campaign)
    return answer


def _steer(
    request: HttpRequest, campaign: Campaign, act: Callable[[Campaign], object]
) -> HttpResponse:
    """Perform a step, start dispatch, and redirect to the campaign. Raise NotConfirmed."""
    try:
        act(campaign)
    except NotConfirmed:
        raise
    except REFUSALS as refusal:
        messages.warning(request, str(refusal))
    else:
        work_waits.send(sender=None)
    return redirect("campaign", campaign.pk)
