"""Comments on the pages of their subjects, latest conclusions, and the number of the inbox."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.template import Context, Library
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from campaigns.models import Campaign, Conclusion
from campaigns.reviews.baselines import BaselinePanel
from campaigns.reviews.baselines import baseline_panel as panel_of_baseline
from campaigns.reviews.comments.queries import Counts, open_counts
from campaigns.reviews.inbox import count
from campaigns.reviews.pages.threads import discussion as discussion_of
from campaigns.reviews.queries import conclusions_on
from campaigns.templatetags.marks import icon

register = Library()
MOST_CONCLUSIONS = 10


@register.inclusion_tag("reviews/comments/_discussion.html", takes_context=True)
def discussion(
    context: Context, what: Campaign | Conclusion, folded: bool = False
) -> dict[str, Any]:
    """Render the threads of a campaign or a conclusion, with the form for a new one. folded: a click unfolds them."""
    request = context["request"]
    return {
        "talk": discussion_of(what, request.user),
        "folded": folded,
        "user": request.user,
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag(takes_context=True)
def latest_conclusions(context: Context, campaign: Campaign) -> QuerySet[Conclusion]:
    """Return the latest conclusions on a campaign that the user may see."""
    return conclusions_on(campaign, context["request"].user)[:MOST_CONCLUSIONS]


@register.simple_tag(takes_context=True)
def baseline_panel(context: Context, campaign: Campaign) -> BaselinePanel | None:
    """Return the comparison of a campaign with the accepted baseline, or None."""
    return panel_of_baseline(campaign, context["request"].user)


@register.simple_tag(takes_context=True)
def inbox_count(context: Context) -> int:
    """Return the number of items in the inbox of the user."""
    user = getattr(context.get("request"), "user", None)
    return count(user) if isinstance(user, User) else 0


@register.simple_tag
def open_threads(campaign: Campaign) -> Counts:
    """Return the number of open threads on each cell, run and chart; counted once per page."""
    known: Any = campaign
    if not hasattr(known, "_open_threads"):
        known._open_threads = open_counts(campaign)
    result: Counts = known._open_threads
    return result


@register.simple_tag
def comments_link(
    campaign: Campaign, on: str, key: object, counts: Mapping[Any, int]
) -> SafeString:
    """Render a link to the open threads on a subject, with their number; nothing without any."""
    number = counts.get(key, 0)
    if not number:
        return SafeString("")
    address = reverse("campaign-threads", args=[campaign.pk])
    return format_html(
        '<a class="talk" href="{}?on={}&amp;key={}">{}{}<span class="vh"> open thread{} on {} {}</span></a>',
        address,
        on,
        key,
        icon("talk"),
        number,
        "" if number == 1 else "s",
        on,
        key,
    )


@register.filter
def of_key(counts: Mapping[Any, int], key: object) -> int:
    """Return the number of open threads on a subject."""
    return counts.get(key, 0)


@register.filter
def chart_threads(csv: str) -> str:
    """Return the URL of the threads on a view of a chart, from the URL of its CSV."""
    path, mark, query = csv.partition("?")
    campaign, _, name = path.removesuffix(".csv").partition("charts/")
    return f"{campaign}threads/?on=chart&key={quote(f'{name}{mark}{query}', safe='')}"
