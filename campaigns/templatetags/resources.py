"""Which resource of a target binds in a run: parts of pages of lower rooms that findings word."""

from typing import Any

from django.template import Library

from campaigns.findings.wording.binding import RunBindingText, run_binding_text
from campaigns.stats.binding import RunBinding

register = Library()


@register.simple_tag
def binding_sentence(binding: RunBinding | None) -> str:
    """Return which resource binds as a sentence; an empty text where nothing was judged."""
    return run_binding_text(binding).sentence if binding else ""


@register.inclusion_tag("execution/_binding.html")
def binding_table(binding: RunBinding | None) -> dict[str, Any]:
    """Render the resources of a run with their states and reasons; nothing where nothing was judged."""
    text: RunBindingText | None = run_binding_text(binding) if binding else None
    return {"binding": text}
