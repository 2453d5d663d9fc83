"""A campaign as files: runs as CSV and Parquet, everything as JSON. No secret is in any."""

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from campaigns.findings.comparison_rows import comparison_rows
from campaigns.findings.pages.panels import panel_of
from campaigns.findings.pages.view import shown_of
from campaigns.findings.store import findings_of
from campaigns.findings.texts import texts_of
from campaigns.kit.downloads import lines_of
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning import storage
from campaigns.results import exports
from campaigns.results.pages_data import outline_of


@require_GET
@takes(Right.SEE, Campaign)
def runs_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Return a line for each run; the first columns are the factors, average, value, start and finish."""
    return _file(pk, "csv")


@require_GET
@takes(Right.SEE, Campaign)
def runs_parquet(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Return a row for each run and metric, in typed columns."""
    return _file(pk, "parquet")


@require_GET
@takes(Right.SEE, Campaign)
def document(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Return definition, runs with all values, and findings, in one JSON document."""
    return _file(pk, "json")


@require_GET
@takes(Right.SEE, Campaign)
@one_moment()
def comparisons_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Return a line for each comparison, with its verdict and exact numbers; only the head before the analysis.

    An active campaign has no verdicts yet, so it has no such file.
    """
    campaign = get_object_or_404(Campaign, pk=pk)
    if campaign.state in Campaign.ACTIVE:
        raise Http404("Verdicts are withheld until the stop rule is met.")
    return StreamingHttpResponse(
        lines_of(list(comparison_rows(campaign))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": exports.attachment(campaign, "comparisons.csv")},
    )


@require_GET
@takes(Right.SEE, Campaign)
@one_moment()
def chart_csv(request: HttpRequest, pk: int, chart: str) -> StreamingHttpResponse:
    """Return the exact numbers of a chart of the result page, for the same query."""
    campaign = get_object_or_404(Campaign, pk=pk)
    outline = outline_of(campaign)
    findings = findings_of(campaign, request.GET.get("metric", ""))
    panel = panel_of(shown_of(campaign, outline, findings, request.GET), chart)
    if panel is None:
        raise Http404(f"There is no chart “{chart}” with numbers on this result.")
    return StreamingHttpResponse(
        lines_of([panel.numbers.heads, *panel.numbers.rows]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": exports.attachment(campaign, f"{chart}.csv")},
    )


def _file(pk: int, name: str) -> StreamingHttpResponse:
    campaign = get_object_or_404(Campaign.objects.select_related("target", "author"), pk=pk)
    result = exports.FORMATS[name]
    return StreamingHttpResponse(
        result.pieces(campaign, storage.definition_of(campaign), texts_of),
        content_type=result.media_type,
        headers={"Content-Disposition": exports.attachment(campaign, name)},
    )
