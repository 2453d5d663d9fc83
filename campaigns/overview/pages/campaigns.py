"""The list of campaigns: search, filters, pages; delete a draft."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.findings.answers import published
from campaigns.findings.charts.strips import Spark, spark
from campaigns.kit.pages.people import may, takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.overview.answered import kind_label, measured_runs
from campaigns.planning import drafts
from campaigns.planning.filters import CampaignPageFilters
from campaigns.planning.metrics import driver_if_known
from campaigns.results.environment import simulators

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the list of campaigns. `cloneable`: perfdash can execute its kind."""

    campaign: Campaign
    kind: str
    cloneable: bool
    sentence: str
    runs: int
    spark: Spark | None
    simulator: str


@require_GET
@takes(Right.SEE)
def campaign_list(request: HttpRequest) -> HttpResponse:
    """Show a page of the filtered campaigns; newest first unless the query sorts otherwise."""
    teams = may(request).see
    filters = CampaignPageFilters(request.GET, teams)
    page = Paginator(filters.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filters": filters,
        "page": page,
        "rows": _rows(page),
        "any": page.paginator.count or Campaign.objects.filter(team__in=teams).exists(),
    }
    return render(request, "overview/list.html", context)


@require_POST
@takes(Right.WRITE, Campaign)
def campaign_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a draft."""
    campaign = get_object_or_404(Campaign, pk=pk)
    try:
        drafts.delete(campaign)
    except drafts.NotADraft as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", pk)
    messages.success(request, f"The draft “{campaign.name}” is deleted.")
    return redirect("campaign-list")


def _rows(page: Page[Campaign]) -> list[Row]:
    keys = [campaign.pk for campaign in page]
    counts, marks = measured_runs(keys), simulators(keys)
    answers = published().in_bulk(keys)
    kinds = {each: driver_if_known(each) for each in {campaign.kind for campaign in page}}
    return [
        Row(
            campaign,
            kind_label(campaign.kind),
            (driver := kinds[campaign.kind]) is not None and driver.executable,
            answers[campaign.pk].sentence
            if campaign.pk in answers and campaign.state not in Campaign.ACTIVE
            else "",
            counts.get(campaign.pk, 0),
            spark(answers[campaign.pk].means if campaign.pk in answers else []),
            ", ".join(marks.get(campaign.pk, [])),
        )
        for campaign in page
    ]
