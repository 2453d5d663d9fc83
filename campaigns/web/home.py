"""The first page: what runs, what was answered, and how the machines are."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.models import Campaign
from campaigns.queries import home as queries
from campaigns.web.sparks import spark


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Everything on one page, or, without any campaign, where to begin."""
    answers = queries.latest_answers()
    context = _running() | {
        "answers": [(answer, spark(answer.means)) for answer in answers],
        "targets": queries.target_rows(),
        "workers": queries.worker_rows(),
        "demonstration": queries.demonstration(),
        "empty": not Campaign.objects.exclude(state=Campaign.State.DRAFT).exists(),
    }
    return render(request, "home/home.html", context)


@require_GET
def running(request: HttpRequest) -> HttpResponse:
    """The panels that change by themselves; an unchanged one is answered with 304."""
    context = _running() | {
        "targets": queries.target_rows(),
        "workers": queries.worker_rows(),
    }
    return render(request, "home/_running.html", context)


def _running() -> dict[str, Any]:
    campaigns = queries.open_campaigns()
    return {
        "campaigns": campaigns,
        "going_on": sum(campaign.run is not None for campaign in campaigns),
    }
