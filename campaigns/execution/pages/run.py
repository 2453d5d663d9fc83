"""The page of one run or trial run, and its status while it goes on."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.execution import live
from campaigns.execution.pages.run_actions import find_run, page_of
from campaigns.execution.pages.run_details import AttemptView, attempt_view, steps_of
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.people import takes
from campaigns.kit.rights import Right
from campaigns.models import Attempt, Campaign, Run
from campaigns.planning.metrics import metric_of, metrics_of
from campaigns.planning.outline import factors_of, sample_of
from campaigns.results.details import attempts_of, exclusions_of, log_of_run, samples_of
from campaigns.results.phrases import PURPOSES, value_text
from campaigns.results.rows import accepted_of, state_of

STOP_POLLING = 286


AGAIN = (Run.State.FAILED, Run.State.VOID)
CAN_GO_ON = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)


@require_GET
@takes(Right.SEE, Campaign)
def run(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Show a planned run."""
    return _page(request, find_run(pk, position))


@require_GET
@takes(Right.SEE, Campaign)
def trial(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Show a try-out."""
    return _page(request, find_run(pk, position, trial=True))


@require_GET
@takes(Right.SEE, Campaign)
def status(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Show the steps of an open run."""
    return _status(request, find_run(pk, position))


@require_GET
@takes(Right.SEE, Campaign)
def trial_status(request: HttpRequest, pk: int, position: int) -> HttpResponse:
    """Show the steps of an open try-out."""
    return _status(request, find_run(pk, position, trial=True))


def _status(request: HttpRequest, result: Run) -> HttpResponse:
    if result.state in Run.CLOSED:
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
    return render(request, "execution/_run_status.html", _going_on(result))


def _going_on(result: Run) -> TemplateContext:
    """Return the steps of an open run; none where another run is open."""
    current = live.current_of(result.campaign)
    mine = current if current and current.run == result.pk else None
    return {
        "run": result,
        "is_trial": result.purpose == Run.Purpose.TRIAL,
        "is_open": result.state not in Run.CLOSED,
        "current": mine,
        "steps": steps_of(mine) if mine else [],
    }


def _page(request: HttpRequest, result: Run) -> HttpResponse:
    campaign = result.campaign
    attempts = attempts_of(result)
    shown = _shown(request, attempts)
    metric = metric_of(campaign, campaign.primary_metric)
    measured = accepted_of(result, metric.name)
    exclusions = exclusions_of(result)
    excluded = next((each for each in exclusions if each.withdrawn_at is None), None)
    state = "excluded" if excluded else state_of(result.state, measured, "")
    context = _going_on(result) | {
        "campaign": campaign,
        "cell": LevelLabels(factors_of(campaign)).sentence(result.cell.levels_by_factor),
        "purpose": PURPOSES[result.purpose],
        "state": state,
        "metric": metric,
        "value": value_text(measured),
        "attempts": attempts,
        "view": _view(campaign, shown) if shown else None,
        "exclusions": exclusions,
        "excluded": excluded,
        "log": log_of_run(result),
        "address": page_of(result),
        "can_cancel": result.state not in Run.CLOSED,
        "can_run_again": result.state in AGAIN
        and campaign.state in CAN_GO_ON
        and result.purpose != Run.Purpose.TRIAL,
        "can_exclude": result.state in Run.CLOSED
        and not excluded
        and result.purpose == Run.Purpose.MEASURED,
    }
    return render(request, "execution/run.html", context)


def _view(campaign: Campaign, attempt: Attempt) -> AttemptView:
    metrics, sample = metrics_of(campaign), sample_of(campaign)
    return attempt_view(attempt, metrics, samples_of(attempt), sample)


def _shown(request: HttpRequest, attempts: list[Attempt]) -> Attempt | None:
    """Return the attempt that the address names, else the accepted one, else the last."""
    wanted = request.GET.get("attempt", "")
    named = [attempt for attempt in attempts if str(attempt.number) == wanted]
    accepted = [attempt for attempt in attempts if attempt.state == Attempt.State.ACCEPTED]
    return next(iter([*named, *accepted, *attempts[::-1]]), None)
