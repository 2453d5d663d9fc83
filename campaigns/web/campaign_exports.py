"""A campaign as files: runs as CSV, everything as JSON. No secret is in either."""

from dataclasses import asdict

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from campaigns.definition import drafts
from campaigns.models import Campaign
from campaigns.queries import exports
from campaigns.queries.amendments import amendments_of
from campaigns.queries.environment import changes_of, environment_of, stand_ins_of
from campaigns.queries.pages import findings_of, outline_of
from campaigns.web.panels import panel_of
from campaigns.web.panels.base import Shown
from campaigns.web.phrases import Levels
from campaigns.web.view import view_of


@require_GET
def runs_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """One line a run; the first columns are the factors, average, value, start and finish."""
    campaign = get_object_or_404(Campaign, pk=pk)
    lines = exports.csv_lines(campaign, outline_of(campaign).factors)
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": _attachment(campaign, "csv")},
    )


@require_GET
def comparisons_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """One line a comparison, with its verdict and exact numbers; only the head before the analysis.

    While a campaign goes on nobody judges, so there is none.
    """
    campaign = get_object_or_404(Campaign, pk=pk)
    if campaign.state in Campaign.ACTIVE:
        raise Http404("Nothing is judged before the stop rule says so.")
    return StreamingHttpResponse(
        exports.comparison_lines(campaign),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": _attachment(campaign, "comparisons.csv")},
    )


@require_GET
def chart_csv(request: HttpRequest, pk: int, chart: str) -> StreamingHttpResponse:
    """What a chart of the result page draws, exactly, for the same address."""
    campaign = get_object_or_404(Campaign, pk=pk)
    outline = outline_of(campaign)
    findings = findings_of(campaign, request.GET.get("metric", ""))
    view = view_of(request.GET, campaign, outline, findings)
    words = Levels(outline.factors, campaign.block_word)
    shown = Shown(campaign, outline, findings, words, view, request.GET.dict())
    panel = panel_of(shown, chart)
    if panel is None:
        raise Http404(f"There is no chart “{chart}” with numbers on this result.")
    return StreamingHttpResponse(
        exports.lines_of([panel.numbers.heads, *panel.numbers.rows]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": _attachment(campaign, f"{chart}.csv")},
    )


@require_GET
def document(request: HttpRequest, pk: int) -> HttpResponse:
    """Definition, runs with all values, and findings, in one JSON document."""
    campaign = get_object_or_404(Campaign.objects.select_related("target", "author"), pk=pk)
    outline = outline_of(campaign)
    target = campaign.target
    facts = environment_of(campaign)
    content = {
        "format": "perfdash campaign 1",
        "campaign": {
            "id": campaign.pk,
            "state": campaign.state,
            "state_reason": campaign.state_reason,
            "author": campaign.author.get_username() if campaign.author else None,
            "target": {"name": target.name, "family": target.family} if target else None,
            "source": campaign.source,
            "fidelity": campaign.fidelity,
            "stand_in": stand_ins_of(campaign),
            "created_at": campaign.created_at,
            "launched_at": campaign.launched_at,
            "closed_at": campaign.closed_at,
            "sessions": outline.sessions,
            "primary_metric": exports.described(outline.metric),
        },
        "definition": drafts.as_data(campaign),
        "amendments": [asdict(amendment) for amendment in amendments_of(campaign)],
        "runs": exports.run_entries(campaign),
        "findings": exports.finding_entries(campaign),
        "environment": [asdict(fact) for fact in facts],
        "environment_changes": [asdict(change) for change in changes_of(campaign, facts)],
    }
    return JsonResponse(
        content,
        json_dumps_params={"ensure_ascii": False, "indent": 1},
        headers={"Content-Disposition": _attachment(campaign, "json")},
    )


def _attachment(campaign: Campaign, suffix: str) -> str:
    name = slugify(campaign.name)[:60].strip("-") or "campaign"
    return f'attachment; filename="{campaign.pk}-{name}.{suffix}"'
