"""Figures in pages, as JSON that charts.js reads."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

ESCAPES = {"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"}


@register.filter
def figure_script(figure: dict[str, Any], element: str) -> SafeString:
    """Write a figure as `json_script` does, ten times as fast: there may be a megabyte of it."""
    content = json.dumps(figure, separators=(",", ":"), allow_nan=False)
    for sign, escape in ESCAPES.items():
        content = content.replace(sign, escape)
    return format_html(
        '<script id="{}" type="application/json">{}</script>',
        element,
        mark_safe(content),  # noqa: S308  no sign of HTML is left in it
    )
