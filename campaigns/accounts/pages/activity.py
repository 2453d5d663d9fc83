"""The page of the activity log, with filters and files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET

from campaigns.accounts import activity_export
from campaigns.accounts.activity_list import NOBODY, events_for
from campaigns.accounts.filters import EventPageFilters
from campaigns.kit.activity import Action
from campaigns.kit.forms import is_key
from campaigns.kit.mappings import Json
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right, visible
from campaigns.models import AuditEvent, Campaign, Conclusion, Target, Thread

PAGE_SIZE = 50

LONGEST = 160
PAGES = {
    "conclusion": ("conclusion", Conclusion),
    "target": ("target", Target),
    "thread": ("thread", Thread),
}
SUBJECTS = {
    "apitoken": "token",
    "handrequest": "",  # as rows of 0.1.0 name a manual step
    "manualstep": "",
    "sshlogin": "login",
    "targetstep": "step",
    "submission": "",
    "thread": "",
    "user": "",
    "invitation": "",
}
"""Labels of kinds of subjects before their names; other kinds are their own label."""


@require_GET
@takes(Right.SEE)
def activity_page(request: HttpRequest) -> HttpResponse:
    """Show one page of matching events, the newest first; `?older=` continues after a row."""
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
    """Stream all matching events as CSV."""
    return _file(request, "csv")


@require_GET
@takes(Right.SEE)
def activity_jsonl(request: HttpRequest) -> HttpResponseBase:
    """Stream all matching events, one JSON object per line."""
    return _file(request, "jsonl")


def _file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Stream matching events; with an invalid filter, redirect to the page, which shows the error."""
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


@dataclass(frozen=True, slots=True)
class Line:
    """An event as the page shows it. address: of the page of its subject, if that exists."""

    event: AuditEvent
    who: str
    did: str
    kind: str
    name: str
    address: str
    campaign: str
    campaign_address: str
    details: tuple[str, ...]


def lines_of(events: Iterable[AuditEvent]) -> list[Line]:
    """Describe events, with two queries for all of them."""
    events = list(events)
    campaigns = dict(
        Campaign.objects.filter(pk__in={each.campaign_key for each in events}).values_list(
            "pk", "name"
        )
    )
    there = {
        kind: set(
            model._default_manager.filter(
                pk__in={each.subject_key for each in events if each.subject_kind == kind}
            ).values_list("pk", flat=True)
        )
        for kind, (_, model) in PAGES.items()
        if any(each.subject_kind == kind for each in events)
    }
    return [_line(each, campaigns, there) for each in events]


def _line(event: AuditEvent, campaigns: Mapping[int, str], there: Mapping[str, set[int]]) -> Line:
    campaign = event.campaign_key if event.campaign_key in campaigns else None
    names_campaign = event.subject_kind in ("campaign", "thread")
    own = event.subject_kind == "user" and event.subject_key == event.user_id
    did = Action(event.action).label if event.action in Action.values else event.action
    kind = SUBJECTS.get(event.subject_kind, event.subject_kind)
    texts = [*did.split(), *event.subject_name.split()[:1]]
    return Line(
        event,
        who=event.user.get_username() if event.user else NOBODY,
        did=did,
        kind="" if kind in texts else kind,
        name="" if own else event.subject_name,
        address=_address(event, campaign, there),
        campaign="" if names_campaign or campaign is None else campaigns[campaign],
        campaign_address="" if campaign is None else reverse("campaign", args=[campaign]),
        details=tuple(_details(event.details)),
    )


def _address(event: AuditEvent, campaign: int | None, there: Mapping[str, set[int]]) -> str:
    if event.subject_kind == "campaign":
        return "" if campaign is None else reverse("campaign", args=[campaign])
    position = event.subject_name.removeprefix("run ")
    if event.subject_kind == "run" and campaign is not None and position.isdecimal():
        return reverse("run", args=[campaign, int(position)])
    if event.subject_key in there.get(event.subject_kind, ()):
        try:
            return reverse(PAGES[event.subject_kind][0], args=[event.subject_key])
        except NoReverseMatch:
            return ""
    return ""


def _details(details: Json) -> Iterable[str]:
    for name, value in details.items():
        if value in (None, "", [], {}):
            continue
        if name == "changes" and isinstance(value, Mapping):
            for field, change in value.items():
                yield _change(field, change)
        else:
            yield f"{name.replace('_', ' ')}: {_text(value)}"


def _change(field: str, change: Any) -> str:
    named = field.replace("_", " ")
    if not isinstance(change, Mapping) or not {"before", "after"} <= change.keys():
        return f"{named}: {_text(change)}"
    return f"{named}: {_text(change['before'])} → {_text(change['after'])}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        text = ", ".join(map(_text, value))
    elif isinstance(value, Mapping):
        text = ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    else:
        text = "nothing" if value in (None, "") else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
