"""The record of who did what: a page with filters, and files."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from campaigns.accounts import activity_export, activity_list
from campaigns.accounts.activity_list import Wanted, events_for, narrowed, people_seen_by
from campaigns.accounts.pages.activity_words import lines_of
from campaigns.kit.activity import Action
from campaigns.kit.pages.fields import Choice, Field, is_key
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right, teams_with, visible
from campaigns.models import Campaign

PAGE_SIZE = 50
NAMES = ("person", "action", "team", "campaign", "means", "from", "to")


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters as they were sent; what cannot be read narrows nothing, and is not shown again."""

    sent: dict[str, str]
    wanted: Wanted

    @property
    def query(self) -> str:
        """The filters as an address takes them."""
        return urlencode(self.sent)


@require_GET
@takes(Right.SEE)
def activity_page(request: HttpRequest) -> HttpResponse:
    """One page of what fits, the newest first; `?older=` goes on after a row."""
    user = user_of(request)
    asked = _asked(request, user)
    every = narrowed(events_for(user), asked.wanted)
    rows = every.select_related("user", "team")
    older = request.GET.get("older", "")
    if is_key(older):
        rows = rows.filter(pk__lt=int(older))
    found = list(rows[: PAGE_SIZE + 1])
    context = {
        "lines": lines_of(found[:PAGE_SIZE]),
        "older": found[PAGE_SIZE - 1].pk if len(found) > PAGE_SIZE else None,
        "oldest": every.order_by("pk").values_list("pk", flat=True)[PAGE_SIZE]
        if len(found) > PAGE_SIZE
        else None,
        "is_first": not is_key(older),
        "query": asked.query,
        "filters": _filters(asked, user),
        "campaign": _campaign(asked, user),
    }
    return render(request, "accounts/activity.html", context)


@require_GET
@takes(Right.SEE)
def activity_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Everything that fits as CSV."""
    return _file(request, "csv")


@require_GET
@takes(Right.SEE)
def activity_jsonl(request: HttpRequest) -> StreamingHttpResponse:
    """Everything that fits, a JSON object a line."""
    return _file(request, "jsonl")


def _file(request: HttpRequest, name: str) -> StreamingHttpResponse:
    user = user_of(request)
    rows = narrowed(events_for(user), _asked(request, user).wanted)
    chosen = activity_export.FORMATS[name]
    return StreamingHttpResponse(
        chosen.pieces(rows),
        content_type=chosen.media_type,
        headers={"Content-Disposition": activity_export.attachment(name)},
    )


def _asked(request: HttpRequest, user: User) -> Asked:
    sent = {
        name: request.GET.get(name, "").replace("\x00", "").strip()[:150]
        for name in NAMES
        if request.GET.get(name, "").strip()
    }
    read: dict[str, Any] = {
        "person": sent.get("person", ""),
        "action": sent.get("action", "") if sent.get("action") in Action.values else "",
        "means": sent.get("means", "") if sent.get("means") in activity_list.MEANS else "",
        "team": _key(sent.get("team", "")),
        "campaign": _key(sent.get("campaign", "")),
        "after": _day(sent.get("from", "")),
        "before": _day(sent.get("to", ""), after=1),
    }
    known = {"from": "after", "to": "before"}
    return Asked(
        {name: text for name, text in sent.items() if read[known.get(name, name)]}, Wanted(**read)
    )


def _key(text: str) -> int | None:
    return int(text) if is_key(text) else None


def _day(text: str, after: int = 0) -> datetime | None:
    try:
        day = date.fromisoformat(text) + timedelta(days=after)
    except (ValueError, OverflowError):
        return None
    return datetime.combine(day, time(), UTC)


def _campaign(asked: Asked, user: User) -> Campaign | None:
    if asked.wanted.campaign is None:
        return None
    return visible(Campaign.objects.filter(pk=asked.wanted.campaign), user).first()


def _filters(asked: Asked, user: User) -> list[Field]:
    people = [(name, name) for name in people_seen_by(user).values_list("username", flat=True)]
    teams = [(str(team.pk), team.name) for team in teams_with(user)]
    actions = [(action.value, action.value.replace("_", " ")) for action in Action]
    means = [(word, f"by {word}") for word in activity_list.MEANS]
    return [
        _select(
            "person", "Everybody", [*people, (activity_list.NOBODY, "perfdash (automatic)")], asked
        ),
        _select("action", "All actions", sorted(actions), asked),
        _select("team", "All teams", teams, asked),
        _select("means", "Any interface", means, asked),
        _date("from", "From", asked),
        _date("to", "To and including", asked),
        Field("campaign", "Campaign", asked.sent.get("campaign", ""), "hidden"),
    ]


def _select(name: str, everything: str, choices: list[tuple[str, str]], asked: Asked) -> Field:
    chosen = asked.sent.get(name, "")
    options = [("", everything), *choices]
    return Field(
        name,
        name.capitalize(),
        chosen,
        "select",
        choices=[Choice(value, label, chosen=value == chosen) for value, label in options],
    )


def _date(name: str, label: str, asked: Asked) -> Field:
    return Field(name, label, asked.sent.get(name, ""), attributes={"type": "date"})
