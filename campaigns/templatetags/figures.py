"""Figures in pages, as JSON for charts.js."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

ESCAPES = {"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"}


@register.filter
def figure_script(figure: dict[str, Any], element: str) -> SafeString:
    """Render a figure like `json_script`, but ten times as fast: it may have a megabyte."""
    content = json.dumps(figure, separators=(",", ":"), allow_nan=False)
    for sign, escape in ESCAPES.items():
        content = content.replace(sign, escape)
    return format_html(
        '<script id="{}" type="application/json">{}</script>',
        element,
        mark_safe(content),  # noqa: S308  all characters of HTML are escaped
    )
