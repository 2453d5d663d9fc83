"""The record of who did what: a page with filters, and files."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from campaigns.accounts import activity_export
from campaigns.accounts.activity_list import events_for
from campaigns.accounts.filters import EventPageFilters
from campaigns.accounts.pages.activity_labels import lines_of
from campaigns.kit.forms import is_key
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right, visible
from campaigns.models import Campaign

PAGE_SIZE = 50


@require_GET
@takes(Right.SEE)
def activity_page(request: HttpRequest) -> HttpResponse:
    """One page of what fits, the newest first; `?older=` goes on after a row."""
    user = user_of(request)
    filters = EventPageFilters(request.GET, events_for(user), user)
    rows = filters.rows.select_related("user", "team")
    older = request.GET.get("older", "")
    if is_key(older):
        rows = rows.filter(pk__lt=int(older))
    results = list(rows[: PAGE_SIZE + 1])
    more = len(results) > PAGE_SIZE
    oldest = filters.rows.order_by("pk").values_list("pk", flat=True)
    campaigns = Campaign.objects.filter(pk=filters.form.cleaned_data.get("campaign"))
    context = {
        "lines": lines_of(results[:PAGE_SIZE]),
        "older": results[PAGE_SIZE - 1].pk if more else None,
        "oldest": oldest[PAGE_SIZE] if more else None,
        "is_first": not is_key(older),
        "filters": filters,
        "campaign": visible(campaigns, user).first(),
    }
    return render(request, "accounts/activity.html", context)


@require_GET
@takes(Right.SEE)
def activity_csv(request: HttpRequest) -> HttpResponseBase:
    """Everything that fits as CSV."""
    return _file(request, "csv")


@require_GET
@takes(Right.SEE)
def activity_jsonl(request: HttpRequest) -> HttpResponseBase:
    """Everything that fits, a JSON object a line."""
    return _file(request, "jsonl")


def _file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Stream what fits; where a filter cannot be read, go to the page, which says so."""
    user = user_of(request)
    filters = EventPageFilters(request.GET, events_for(user), user)
    if not filters.is_valid():
        return redirect(reverse("activity", query=request.GET))
    chosen = activity_export.FORMATS[name]
    return StreamingHttpResponse(
        chosen.pieces(filters.rows),
        content_type=chosen.media_type,
        headers={"Content-Disposition": activity_export.attachment(name)},
    )
