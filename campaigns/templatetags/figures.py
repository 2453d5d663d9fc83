"""Figures in pages: as a drawing that is there at once, and as JSON for charts.js, which takes it over."""

import json
import re
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from campaigns.kit.charts.drawings import drawings_of
from campaigns.kit.charts.template import TEMPLATE
from campaigns.results.run_plots import Plot

register = template.Library()

OF_HTML = re.compile("<(?=[!/s])", re.IGNORECASE)
"""What begins a comment, the end of an element, or another script; nothing else is read as HTML within a script."""


@register.simple_tag
def figure_script(figure: dict[str, Any] | None, element: str, source: str = "") -> SafeString:
    """Render a figure like `json_script`, but ten times as fast: it may have a megabyte. source: of one that is None."""
    if figure is None:
        return format_html(
            '<script id="{}" type="application/json" data-source="{}"></script>', element, source
        )
    content = json.dumps(figure, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    content = OF_HTML.sub(r"\\u003C", content)
    return format_html(
        '<script id="{}" type="application/json">{}</script>',
        element,
        mark_safe(content),  # noqa: S308  what HTML reads in a script is escaped
    )


@register.simple_tag
def chart_template() -> str:
    """Return what all figures share, as JSON for charts.js."""
    return json.dumps(TEMPLATE, separators=(",", ":"))


@register.inclusion_tag("components/_chart.html")
def chart(
    plot: Plot, group: str = "", live: str = "", at_once: bool = True, source: str = ""
) -> dict[str, Any]:
    """Render a chart without its legend.

    group: the chart in whose place small ones stand. live: address of a figure that changes. at_once: whether it is seen
    when the page comes, and so is drawn already. source: address of the figure, of which the page has the drawing alone.
    """
    figure, drawings = plot.figure, None
    if at_once:
        figure, drawings = drawings_of(figure, plot.height, plot.label, plot.id)
    return {
        "plot": plot,
        "figure": None if source else figure,
        "drawings": drawings,
        "group": group,
        "live": live,
        "source": source,
    }
