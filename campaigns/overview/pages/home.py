"""The home page: running campaigns, latest answers, targets and workers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.execution.manual_steps import open_requests
from campaigns.findings.charts.strips import spark
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.people import may, takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.overview import examples
from campaigns.overview import home as queries
from campaigns.planning.lifecycle.approval import waiting_in
from campaigns.targets.holders import target_rows


@require_GET
@takes(Right.SEE)
def home(request: HttpRequest) -> HttpResponse:
    """Show the home page; without any campaign, how to begin."""
    teams = may(request).see
    answers = queries.latest_answers(teams)
    offers = examples.offered(teams)
    context = _running(request) | {
        "answers": [(answer, spark(answer.text.means)) for answer in answers],
        "targets": target_rows(teams),
        "workers": queries.worker_rows(teams),
        "examples": examples.for_overview(offers),
        "has_examples": bool(offers),
        "begun": queries.has_begun(teams),
        "launches": list(waiting_in(teams)),
        "empty": not Campaign.objects.exclude(state=Campaign.State.DRAFT)
        .filter(team__in=teams)
        .exists(),
    }
    return render(request, "overview/home/home.html", context)


@require_GET
@takes(Right.SEE)
def running(request: HttpRequest) -> HttpResponse:
    """Return the panels that change while the page is open; 304 if unchanged."""
    teams = may(request).see
    context = _running(request) | {
        "targets": target_rows(teams),
        "workers": queries.worker_rows(teams),
    }
    return render(request, "overview/home/_running.html", context)


def _running(request: HttpRequest) -> TemplateContext:
    teams = may(request).see
    campaigns = queries.open_campaigns(teams)
    return {
        "campaigns": campaigns,
        "manual_steps": list(open_requests().filter(target__team__in=teams)),
        "going_on": sum(campaign.run is not None for campaign in campaigns),
    }
