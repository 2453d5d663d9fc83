"""The page of one run or trial run, its charts as pages of their own, and its status while it goes on."""

from django.http import Http404, HttpRequest, HttpResponse
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
from campaigns.results import exports
from campaigns.results.chart_pages import ChartPage, as_file, lines_about
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


@require_GET
@takes(Right.SEE, Campaign)
def run_chart(request: HttpRequest, pk: int, position: int, number: int, plot: str) -> HttpResponse:
    """Return a chart of an attempt as an HTML file in which it can be zoomed."""
    return _chart(request, find_run(pk, position), number, plot)


@require_GET
@takes(Right.SEE, Campaign)
def trial_chart(
    request: HttpRequest, pk: int, position: int, number: int, plot: str
) -> HttpResponse:
    """Return a chart of an attempt at a try-out as an HTML file in which it can be zoomed."""
    return _chart(request, find_run(pk, position, trial=True), number, plot)


def _chart(request: HttpRequest, result: Run, number: int, wanted: str) -> HttpResponse:
    """Find a chart of an attempt and return it as a file. Raise Http404."""
    campaign = result.campaign
    attempt = next((each for each in attempts_of(result) if each.number == number), None)
    plots = _view(campaign, attempt).all_plots if attempt else ()
    plot = next((each for each in plots if each.id == wanted), None)
    if attempt is None or plot is None:
        raise Http404(f"There is no chart “{wanted}” of this attempt.")
    name = "Try-out" if result.purpose == Run.Purpose.TRIAL else "Run"
    cell = _cell(campaign, result)
    page = ChartPage(
        plot=plot,
        heading=campaign.question,
        about=(
            *lines_about(campaign, attempt.claimed_at, attempt.finished_at),
            (name, f"{result.position}, {cell}" if cell else str(result.position)),
        ),
        address=request.build_absolute_uri(f"{page_of(result)}?attempt={number}#{wanted}"),
    )
    ending = f"{name.lower()}-{result.position}.{wanted}.html"
    return as_file(page, request.GET.dict(), exports.attachment(campaign, ending))


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
        "cell": _cell(campaign, result),
        "purpose": PURPOSES[result.purpose],
        "state": state,
        "metric": metric,
        "value": value_text(measured),
        "attempts": attempts,
        "view": _view(campaign, shown) if shown else None,
        "chart": "trial-chart" if result.purpose == Run.Purpose.TRIAL else "run-chart",
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


def _cell(campaign: Campaign, result: Run) -> str:
    """Return the levels of a run with their factors."""
    return LevelLabels(factors_of(campaign)).sentence(result.cell.levels_by_factor)


def _view(campaign: Campaign, attempt: Attempt) -> AttemptView:
    metrics, sample = metrics_of(campaign), sample_of(campaign)
    return attempt_view(attempt, metrics, samples_of(attempt), sample)


def _shown(request: HttpRequest, attempts: list[Attempt]) -> Attempt | None:
    """Return the attempt that the address names, else the accepted one, else the last."""
    wanted = request.GET.get("attempt", "")
    named = [attempt for attempt in attempts if str(attempt.number) == wanted]
    accepted = [attempt for attempt in attempts if attempt.state == Attempt.State.ACCEPTED]
    return next(iter([*named, *accepted, *attempts[::-1]]), None)
