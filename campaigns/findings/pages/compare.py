"""The compare page: campaigns, or cells of them, against the first; its numbers as CSV."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.findings.compared import MOST_CAMPAIGNS
from campaigns.findings.compute.compared import csv_rows
from campaigns.findings.pages.compare_address import Address, read
from campaigns.findings.pages.compare_page import compared_of, context
from campaigns.kit.downloads import lines_of
from campaigns.kit.pages.people import may, takes
from campaigns.kit.rights import Right


@require_GET
@takes(Right.SEE)
def compare(request: HttpRequest) -> HttpResponse:
    """Compare the campaigns or cells in the query, in their order; offer campaigns where they are too few."""
    text = request.GET.get("q", "").replace("\x00", "").strip()[:200]
    shown = context(_address(request), text, may(request).see, request.GET.get("offered"))
    return render(request, "findings/compare/compare.html", {"most": MOST_CAMPAIGNS, **shown})


@require_GET
@takes(Right.SEE)
def compare_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Return a line for each comparison, with its verdict and exact numbers, below a head."""
    return StreamingHttpResponse(
        lines_of(csv_rows(compared_of(_address(request), may(request).see))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="comparison.csv"'},
    )


def _address(request: HttpRequest) -> Address:
    return read(request.GET)
