"""Actions on one run: cancel, run again, exclude, include. An exclusion is a record with a reason."""

from collections.abc import Callable

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import NotConfirmed
from campaigns.kit.events import work_waits
from campaigns.kit.pages.confirming import Step, ask_for_name, ask_reason, typed_name
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Run
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis
from campaigns.planning.pages.actions import REFUSALS, reason_in
from campaigns.planning.pages.launches import waits_for_approval


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def cancel(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Ask for the reason, then end the run."""
    return _cancel(request, find_run(pk, position))


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def cancel_trial(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Ask for the reason, then end the try-out."""
    return _cancel(request, find_run(pk, position, trial=True))


@require_POST
@takes(Right.OPERATE, Campaign)
def again(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Plan a failed or void run once more."""
    user, run = user_of(request), find_run(pk, position)
    text = f"Run {run.position} loads it once more; its former attempts stay on record."
    step = _step(run, "run-again", "Run again on a production server?", text, "Run again")
    name = typed_name(request)
    try:
        answer = _steer(request, run, lambda result: lifecycle.run_again(result, user, name))
    except NotConfirmed:
        return ask_for_name(request, run.campaign, step, lifecycle.name_to_confirm(run.campaign))
    if waits_for_approval(request, run.campaign):
        return redirect("campaign", pk)
    return answer


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Campaign)
def exclude(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Ask for the reason, then take the run out of the analysis."""
    run = find_run(pk, position)
    if request.method == "POST":
        user, reason = user_of(request), reason_in(request)
        return _steer(
            request, run, lambda result: lifecycle.exclude(result, user, reason), analyse=True
        )
    text = "It is left out of all results from now on. It stays in the tables, crossed out, with your name and your reason. An unwelcome value is not a reason."
    step = _step(run, "run-exclude", f"Exclude run {position}?", text, "Exclude the run")
    return ask_reason(request, run.campaign, step)


@require_POST
@takes(Right.WRITE, Campaign)
def include(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Let an excluded run count again; the record of the exclusion stays."""
    user = user_of(request)
    run = find_run(pk, position)
    return _steer(request, run, lambda result: lifecycle.include(result, user), analyse=True)


def find_run(pk: int, position: int, *, trial: bool = False) -> Run:
    """Find a run of a campaign. Raise Http404."""
    campaign = get_object_or_404(Campaign, pk=pk)
    try:
        runs = campaign.runs.select_related("cell", "block__session", "campaign__target")
        return runs.at(position, trial=trial)
    except Run.DoesNotExist:
        raise Http404(f"There is no run {position} in this campaign.") from None


def page_of(run: Run) -> str:
    """Return the address of a run's page."""
    name = "trial" if run.purpose == Run.Purpose.TRIAL else "run"
    return reverse(name, args=[run.campaign_id, run.position])


def _cancel(request: HttpRequest, run: Run) -> HttpResponse:
    if request.method == "POST":
        user, reason = user_of(request), reason_in(request)
        return _steer(request, run, lambda result: lifecycle.cancel_run(result, reason, user))
    text = "Load stops within seconds. The campaign goes on with its next run."
    name = "trial-cancel" if run.purpose == Run.Purpose.TRIAL else "run-cancel"
    step = _step(run, name, f"Cancel run {run.position}?", text, "Cancel the run")
    return ask_reason(request, run.campaign, step)


def _step(run: Run, url_name: str, heading: str, text: str, button: str) -> Step:
    action = reverse(url_name, args=[run.campaign_id, run.position])
    return Step(heading, text, action, page_of(run), button)


def _steer(
    request: HttpRequest, run: Run, act: Callable[[Run], object], *, analyse: bool = False
) -> HttpResponse:
    """Act, request what follows from it, and redirect to the run. Raise NotConfirmed."""
    try:
        with transaction.atomic():
            act(run)
            if analyse:
                request_analysis(run.campaign)
    except NotConfirmed:
        raise
    except REFUSALS as refusal:
        messages.warning(request, str(refusal))
        return redirect(page_of(run))
    work_waits.send(sender=None)
    return redirect(page_of(run))
