"""Small drawings in rows of tables, as SVG. They are not templates, since a page has hundreds."""

from django.template import Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from campaigns.findings.charts.strips import Forest, Strip

register = Library()
NOTHING = SafeString("")


@register.simple_tag
def strip_graph(strip: Strip) -> SafeString:
    """Draw the runs of a cell, their mean and its interval."""
    interval = mean = path = NOTHING
    if strip.low:
        interval = format_html(
            '<line class="g-ci-own" x1="{}" x2="{}" y1="24" y2="24"/>', strip.low, strip.high
        )
    if strip.path:
        path = format_html(
            '<svg class="g-dots" viewBox="0 0 100 28" preserveAspectRatio="none"><path d="{}"/></svg>',
            strip.path,
        )
    if strip.mean:
        mean = format_html(
            '<line class="g-mean" x1="{}" x2="{}" y1="4" y2="24"/>', strip.mean, strip.mean
        )
    dots = format_html_join(
        "",
        '<circle class="g-dot" cx="{}" cy="{}" r="3.2"/>',
        ((dot.x, dot.y) for dot in strip.dots),
    )
    return format_html(
        '<svg role="img" aria-label="{}"><line class="g-grid" x1="0" x2="100%" y1="14" y2="14"/>'
        "{}{}{}{}</svg>",
        strip.label,
        interval,
        dots,
        path,
        mean,
    )


@register.simple_tag
def forest_graph(forest: Forest, tone: str) -> SafeString:
    """Draw a change, its interval, and zero."""
    interval = estimate = NOTHING
    if forest.low:
        interval = format_html(
            '<line class="g-ci" x1="{}" x2="{}" y1="14" y2="14"/>', forest.low, forest.high
        )
    if forest.estimate:
        estimate = format_html('<circle class="g-est" cx="{}" cy="14" r="5"/>', forest.estimate)
    return format_html(
        '<svg role="img" aria-label="{}" data-tone="{}">'
        '<line class="g-zero" x1="{}" x2="{}" y1="0" y2="28"/>{}{}</svg>',
        forest.label,
        tone,
        forest.zero,
        forest.zero,
        interval,
        estimate,
    )
