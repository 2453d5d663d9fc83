"""One chart or table of a result, loaded when it scrolls into view."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_GET

from campaigns.findings.answers import answer_of
from campaigns.findings.charts.curve import CURVE, main_plot
from campaigns.findings.pages.level_tables import GROUP, levels_of
from campaigns.findings.pages.panels import panel_of
from campaigns.findings.pages.result import STATEMENTS
from campaigns.findings.pages.tables import CELLS, cells_of
from campaigns.findings.pages.view import comes_late, shown_of
from campaigns.findings.store import findings_of
from campaigns.kit.charts.drawings import placed
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning.metrics import metric_of
from campaigns.results import versions
from campaigns.results.environment import simulators_of
from campaigns.results.pages_data import outline_of
from campaigns.results.run_plots import labelled
from perfdash import __version__


@require_GET
@takes(Right.SEE, Campaign)
@one_moment()
def chart(request: HttpRequest, pk: int, chart: str) -> HttpResponse:
    """Return a part of the result page for the same query; 304 where its findings are unchanged."""
    return _unless_known(request, pk, chart, _chart)


@require_GET
@takes(Right.SEE, Campaign)
@one_moment()
def figures(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the figures of the chart next to the answer by their ids, where its page has their drawings alone."""
    return _unless_known(request, pk, CURVE, _figures)


Answer = Callable[[HttpRequest, Campaign, str, list[str]], HttpResponse]


def _unless_known(request: HttpRequest, pk: int, chart: str, answer: Answer) -> HttpResponse:
    """Return 304 where the findings of a browser's copy are unchanged, or else the answer."""
    campaign = get_object_or_404(Campaign, pk=pk)
    simulators = simulators_of(campaign)
    if chart == CELLS:  # has the numbers of open threads, which are no finding
        return answer(request, campaign, chart, simulators)
    version = versions.fingerprint(versions.findings_version(campaign), simulators, __version__)
    etag = quote_etag(version)
    unchanged = get_conditional_response(request, etag=etag)
    if unchanged is not None:
        return unchanged
    response = answer(request, campaign, chart, simulators)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


def _figures(
    request: HttpRequest, campaign: Campaign, chart: str, simulators: list[str]
) -> HttpResponse:
    findings = findings_of(campaign, request.GET.get("metric", ""))
    shown = shown_of(campaign, outline_of(campaign), findings, request.GET)
    plot, multiples = main_plot(shown)
    if plot is None:
        raise Http404(f"There is no “{chart}” on this result.")
    plots = [labelled(each, simulators) for each in multiples or [plot]]
    return JsonResponse({each.figure_id: placed(each.figure, each.height) for each in plots})


def _with_query(name: str, request: HttpRequest, campaign: Campaign, chart: str) -> str:
    """Return the address of a file of a chart, for the same query."""
    return f"{reverse(name, args=[campaign.pk, chart])}?{request.GET.urlencode()}"


def _chart(
    request: HttpRequest, campaign: Campaign, chart: str, simulators: list[str]
) -> HttpResponse:
    outline = outline_of(campaign)
    of_levels = chart.startswith(GROUP)
    brief = (of_levels or chart in (CELLS, STATEMENTS)) and comes_late(outline)
    findings = findings_of(campaign, request.GET.get("metric", ""), brief=brief)
    shown = shown_of(campaign, outline, findings, request.GET)
    if of_levels:
        tables = levels_of(shown, {chart})
        group = next((each for each in tables.groups if each.id == chart), None) if tables else None
        if group is not None:
            lines = {"tables": tables, "group": group}
            return render(request, "findings/_level_group.html", lines)
    elif chart == CELLS and (cells := cells_of(shown)) is not None:
        metric = metric_of(campaign, shown.view.metric)
        context = {"cells": cells, "metric": metric, "campaign": campaign}
        return render(request, "findings/_cells.html", context)
    elif chart == STATEMENTS and shown.judged and (answer := answer_of(findings)) is not None:
        return render(request, "findings/_statements.html", {"statements": answer.statements})
    elif chart == CURVE:
        plot, multiples = main_plot(shown)
        if plot is not None:
            context = {
                "page": _with_query("campaign-chart-page", request, campaign, plot.id),
                "plot": labelled(plot, simulators),
                "multiples": [labelled(small, simulators) for small in multiples],
            }
            return render(request, "components/_plot.html", context)
    elif (panel := panel_of(shown, chart)) is not None:
        context = {
            "panel": panel.labelled(simulators),
            "csv": _with_query("campaign-chart-csv", request, campaign, chart),
            "page": _with_query("campaign-chart-page", request, campaign, chart),
        }
        return render(request, "findings/_panel_body.html", context)
    raise Http404(f"There is no “{chart}” on this result.")
