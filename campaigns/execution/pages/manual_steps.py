"""Confirm a manual step from a page."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from campaigns.execution import manual_steps
from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import ManualStep


@require_POST
@takes(Right.OPERATE, ManualStep)
def done(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm a manual step, and request dispatch."""
    row = get_object_or_404(ManualStep, pk=pk)
    try:
        manual_steps.confirm(row, user_of(request))
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, f"Done: {row.words}")
        work_waits.send(sender=None)
    if request.POST.get("back") == "campaign" and row.campaign_id is not None:
        return redirect("campaign", row.campaign_id)
    return redirect("home")
