"""The page of the board."""

from typing import cast

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.kit.pages.people import may, takes
from campaigns.kit.rights import Right
from campaigns.models import PublishedAnswer
from campaigns.overview.board import BoardFilters, board_rows, last_answers

PAGE_SIZE = 25


@require_GET
@takes(Right.SEE)
def board(request: HttpRequest) -> HttpResponse:
    """Show a page of the filtered board; the last answers first unless the query sorts otherwise."""
    teams = may(request).see
    filters = BoardFilters(request.GET, teams)
    page = Paginator(filters.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    rows = board_rows(teams, cast("QuerySet[PublishedAnswer]", page.object_list))
    context = {
        "filters": filters,
        "page": page,
        "rows": rows,
        "teams": len(teams) > 1,
        "any": page.paginator.count or last_answers(teams).exists(),
    }
    return render(request, "overview/board.html", context)
