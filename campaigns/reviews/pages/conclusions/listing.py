"""The list of conclusions, filtered."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.reviews.filters import ConclusionPageFilters

PAGE_SIZE = 25


@require_safe
@takes(Right.SEE)
def conclusion_list(request: HttpRequest) -> HttpResponse:
    """Show a page of the filtered conclusions, newest first unless the query sorts otherwise."""
    filters = ConclusionPageFilters(request.GET, user_of(request))
    rows = filters.rows.select_related("author", "team").prefetch_related("evidence__campaign")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "reviews/conclusions/list.html", {"filters": filters, "page": page})
