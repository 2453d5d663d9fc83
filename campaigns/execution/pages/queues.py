"""The page of the queues: who holds each server, who waits in which order, move up or down."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from campaigns.execution import move_in_queue, queues
from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.people import may, takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign

Move = Callable[[Campaign, User | None], Campaign]


@require_GET
@takes(Right.SEE)
def queue_list(request: HttpRequest) -> HttpResponse:
    """Show all queues; those in which somebody waits come first."""
    return render(request, "execution/queues/list.html", _context(request))


@require_GET
@takes(Right.SEE)
def queue_part(request: HttpRequest) -> HttpResponse:
    """Show the part of the page that is updated."""
    return render(request, "execution/queues/_queues.html", _context(request))


@require_POST
@takes(Right.OPERATE, Campaign)
def move_up(request: HttpRequest, pk: int) -> HttpResponse:
    """Swap a campaign with the one before it."""
    return _move(request, pk, move_in_queue.move_up)


@require_POST
@takes(Right.OPERATE, Campaign)
def move_down(request: HttpRequest, pk: int) -> HttpResponse:
    """Swap a campaign with the one after it."""
    return _move(request, pk, move_in_queue.move_down)


def _move(request: HttpRequest, pk: int, move: Move) -> HttpResponse:
    """Move, and redirect to the page of origin: `back` is queue, target or campaign."""
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    refusal = ""
    try:
        move(campaign, user_of(request))
    except NotPossible as error:
        refusal = str(error)
    else:
        work_waits.send(sender=None)
    if request.headers.get("HX-Request"):
        return render(
            request, "execution/queues/_queues.html", _context(request) | {"refusal": refusal}
        )
    if refusal:
        messages.warning(request, refusal)
    return redirect(_place(request.POST.get("back", ""), campaign))


def _place(back: str, campaign: Campaign) -> str:
    if back == "campaign":
        return reverse("campaign", args=[campaign.pk])
    if back == "target" and campaign.target is not None:
        return reverse("target", args=[campaign.target.pk]) + "#queue"
    return reverse("queue-list")


def _context(request: HttpRequest) -> TemplateContext:
    result = queues.queues(may(request))
    busy = [queue for queue in result if queue.waiting or queue.try_outs or queue.held_by]
    return {"queues": busy, "free": [queue for queue in result if queue not in busy]}
