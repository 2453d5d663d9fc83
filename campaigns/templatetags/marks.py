"""Icons, badges and states: each code of the domain has one label, one tone, one icon.

Charts, the REST API and the command line have their own labels.
"""

from functools import lru_cache
from typing import Any

from django.conf import settings
from django.template import Context, Library
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from campaigns.findings.wording.verdicts import Display
from campaigns.kit import log_context
from campaigns.kit.marks import CAMPAIGNS, CONCLUSIONS, HEALTH, RUNS, UNKNOWN, WAITS, Mark
from campaigns.templatetags.terms import terms

register = Library()


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str) -> SafeString:
    """Render an icon of the sprite in base.html; it is decorative."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>', name or "ring"
    )


@register.simple_tag
def badge(mark: Display) -> SafeString:
    """Render a label with its tone and icon."""
    return format_html(
        '<span class="badge{}" data-tone="{}">{}{}</span>',
        f" {mark.form}" if mark.form in ("open", "outline") else "",
        mark.tone,
        icon(mark.icon),
        mark.word,
    )


@register.simple_tag
def campaign_badge(state: str) -> SafeString:
    """Render the state of a campaign."""
    word, tone, name = CAMPAIGNS.get(state, UNKNOWN)
    return badge(Display(word, tone, name, "solid"))


@register.simple_tag
def conclusion_badge(state: str) -> SafeString:
    """Render the state of a conclusion."""
    word, tone, name = CONCLUSIONS.get(state, UNKNOWN)
    return badge(Display(word, tone, name, "solid"))


@register.simple_tag
def simulator_badge(what: str) -> SafeString:
    """Render a badge where a simulator was measured; nothing for a real server."""
    if not what:
        return SafeString("")
    return format_html(
        '<span class="badge" data-tone="warn" title="Measured on a {}, not on a real server">{}simulated</span>',
        what,
        icon("warn"),
    )


@register.simple_tag(takes_context=True)
def run_state(context: Context, state: str) -> SafeString:
    """Render the state of a run or attempt, or its phase."""
    word, tone, name = RUNS.get(state, UNKNOWN)
    return _state((terms(context, word), tone, name))


@register.simple_tag
def health_state(health: str) -> SafeString:
    """Render the health of a target."""
    return _state(HEALTH.get(health, UNKNOWN))


@register.simple_tag
def waits_badge(why: str) -> SafeString:
    """Render why something waits in the inbox."""
    word, tone, name = WAITS.get(why, UNKNOWN)
    return badge(Display(word, tone, name, "solid"))


@register.simple_tag
def production_badge(target: Any) -> SafeString:
    """Render a badge for a production server; nothing for others."""
    if not getattr(target, "is_production", False):
        return mark_safe("")
    return badge(Display("production", "warn", "warn", "solid"))


@register.simple_tag(takes_context=True)
def current(context: Context, *sections: str) -> SafeString:
    """Mark the navigation link of the current section; URL names begin with the section."""
    request = context.get("request")
    match = getattr(request, "resolver_match", None)
    name: Any = getattr(match, "url_name", None) or ""
    if any(name == section or name.startswith(f"{section}-") for section in sections):
        return mark_safe(' aria-current="page"')
    return mark_safe("")


@register.simple_tag
def request_id() -> SafeString:
    """Render the id of this request in the log; nothing without one."""
    result = log_context.current().get("request")
    if not result:
        return mark_safe("")
    return format_html(
        '<p class="xs muted">In the log this request is <code>{}</code>.</p>', result
    )


@register.simple_tag
def version() -> str:
    """Return the version of perfdash."""
    return str(settings.VERSION)


def _state(mark: Mark) -> SafeString:
    word, tone, name = mark
    return format_html('<span class="state" data-tone="{}">{}{}</span>', tone, icon(name), word)
