"""The list of conclusions, filtered."""

from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from campaigns.kit.pages.fields import Choice, Field, is_key
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right, teams_with
from campaigns.models import Conclusion
from campaigns.reviews.queries import conclusions_seen_by, mine, waiting_for

PAGE_SIZE = 25
SORTS = {
    "oldest": ("Oldest first", ("pk",)),
    "changed": ("Last changed first", ("-changed_at", "-pk")),
}
WHOSE = {"mine": "written by me", "waiting": "waiting for my decision"}


@require_safe
@takes(Right.SEE)
def conclusion_list(request: HttpRequest) -> HttpResponse:
    """One page of the conclusions that fit, the newest first unless the address says otherwise."""
    wanted = {name: _given(request, name) for name in ("q", "state", "whose", "team", "sort")}
    rows = _found(request, wanted)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "text": wanted["q"],
        "page": page,
        "filters": _filters(request, wanted),
        "query": urlencode({name: value for name, value in wanted.items() if value}),
    }
    return render(request, "reviews/conclusions/list.html", context)


def _given(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "").strip()[:200]


def _found(request: HttpRequest, wanted: dict[str, str]) -> QuerySet[Conclusion]:
    user = user_of(request)
    match wanted["whose"]:
        case "mine":
            rows = mine(user)
        case "waiting":
            rows = waiting_for(user)
        case _:
            rows = conclusions_seen_by(user)
    rows = rows.select_related("author", "team").prefetch_related("evidence__campaign")
    for word in wanted["q"].split():
        rows = rows.filter(
            Q(claim__icontains=word)
            | Q(recommendation__icontains=word)
            | Q(evidence__campaign__name__icontains=word)
        )
    if wanted["state"]:
        rows = rows.filter(state=wanted["state"])
    if wanted["team"]:
        rows = rows.filter(team=int(wanted["team"])) if is_key(wanted["team"]) else rows.none()
    _, order = SORTS.get(wanted["sort"], ("", ("-pk",)))
    return rows.order_by(*order).distinct()


def _filters(request: HttpRequest, wanted: dict[str, str]) -> list[Field]:
    teams = [(str(team.pk), team.name) for team in teams_with(user_of(request))]
    fields = [
        _select("state", "All states", list(Conclusion.State.choices), wanted["state"]),
        _select("whose", "Everybody's", list(WHOSE.items()), wanted["whose"]),
    ]
    if len(teams) > 1:
        fields.append(_select("team", "All teams", teams, wanted["team"]))
    sorts = [(name, said) for name, (said, _) in SORTS.items()]
    return [*fields, _select("sort", "Newest first", sorts, wanted["sort"])]


def _select(name: str, every: str, options: list[tuple[str, str]], chosen: str) -> Field:
    choices = [
        Choice(value, str(label)[:1].upper() + str(label)[1:], value == chosen)
        for value, label in [("", every), *options]
    ]
    return Field(name, name.capitalize(), chosen, "select", choices=choices)
