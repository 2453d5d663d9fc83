"""Terms of the glossary as links, each at its first use on a page."""

import re
from functools import cache

from django.template import Context, Library
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from campaigns.overview.documentation import glossary

register = Library()


@register.simple_tag(takes_context=True)
def term(context: Context, name: str, text: str = "", part: str = "") -> SafeString:
    """Link a term, unless the page has linked it already; text: how it is written here.

    part: of the page, where that is refreshed again and again: the link is always there, and has an id,
    so that it keeps the focus.
    """
    if part:
        return _link(name, text or name, f"{part}-{name}")
    return _linked(context, name, text or name)


@register.simple_tag(takes_context=True)
def terms(context: Context, text: str) -> SafeString:
    """Link the terms of the glossary in a text, each at its first use on the page."""
    parts = _text().split(str(text))
    linked = [
        _linked(context, _known(part), part) if place % 2 else conditional_escape(part)
        for place, part in enumerate(parts)
    ]
    return mark_safe("".join(linked))  # noqa: S308 - each part is escaped


def _linked(context: Context, name: str, text: str) -> SafeString:
    result = glossary()[name.lower()]
    linked = _linked_before(context)
    if result.address in linked:
        return conditional_escape(text)
    linked.add(result.address)
    return _link(name, text)


def _link(name: str, text: str, key: str = "") -> SafeString:
    result = glossary()[name.lower()]
    return format_html(
        '<a class="term"{} href="{}" target="glossary" title="{}">{}</a>',
        format_html(' id="{}"', key.replace(" ", "-")) if key else "",
        result.address,
        result.hint,
        text,
    )


def _linked_before(context: Context) -> set[str]:
    """Return the entries that this page links already; without a request all, so that none is linked."""
    request = getattr(context, "request", None)
    if request is None:
        return {term.address for term in glossary().values()}
    if not hasattr(request, "_terms_linked"):
        request._terms_linked = set()
    linked: set[str] = request._terms_linked
    return linked


@cache
def _text() -> re.Pattern[str]:
    """Return a pattern that matches terms, but not within other words or paths, such as run-to-run or /campaigns/.

    Case is ignored in ASCII only: a pattern treats some other letters as equal that `lower` does not, such as dotless i and i.
    """
    names = sorted(glossary(), key=len, reverse=True)
    return re.compile(rf"(?<![\w/-])((?ai:(?:{'|'.join(map(re.escape, names))})s?))(?![\w/-])")


def _known(word: str) -> str:
    """Return the name of the entry of a term in singular or plural, in any case."""
    lower = word.lower()
    return lower if lower in glossary() else lower.removesuffix("s")
