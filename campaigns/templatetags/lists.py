"""Links to the pages of long lists, and headings that sort. Links keep the rest of the query."""

from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest
from django.template import Context, Library
from django.utils.html import format_html
from django.utils.safestring import SafeString

from campaigns.kit.pages.sorting import Sort

register = Library()
MARKS = {
    "": SafeString(""),
    "ascending": SafeString('<span aria-hidden="true"> ▲</span>'),
    "descending": SafeString('<span aria-hidden="true"> ▼</span>'),
}


@register.inclusion_tag("components/_pager.html", takes_context=True)
def pager(
    context: Context,
    page: Page[Any],
    name: str = "page",
    *,
    anchor: str = "",
    label: str = "Pages",
    words: str = "Previous,Next",
) -> dict[str, Any]:
    """Render links to the first, previous, next and last page; nothing if there is one page.

    name: the query parameter. anchor: the id of the list. words: labels of previous and next.
    """
    back, forth = words.split(",")
    last = page.paginator.num_pages
    links = []
    if page.has_previous():
        links += [("first", "First", 1), ("prev", back, page.previous_page_number())]
    if page.has_next():
        links += [("next", forth, page.next_page_number()), ("last", "Last", last)]
    return {
        "page": page,
        "label": label,
        "links": [
            (rel, value, f"{_address(context['request'], name, str(number))}{anchor}")
            for rel, value, number in links
        ],
    }


@register.simple_tag(takes_context=True)
def heading(
    context: Context, sort: Sort, name: str, text: str, *, anchor: str = "", style: str = ""
) -> SafeString:
    """Render the heading of a column that sorts the table, or reverses the order."""
    order = ("descending" if sort.descending else "ascending") if sort.by == name else ""
    address = _address(context["request"], "sort", sort.turned(name), without="page")
    return format_html(
        '<th scope="col" class="{}"{}><a class="sort" href="{}{}">{}{}</a></th>',
        style,
        format_html(' aria-sort="{}"', order) if order else "",
        address,
        anchor,
        text,
        MARKS[order],
    )


def _address(request: HttpRequest, name: str, value: str, without: str = "") -> str:
    """Return the query string with one parameter changed, and one removed."""
    query = request.GET.copy()
    query.pop(without, None)
    query[name] = value
    return f"?{query.urlencode()}"
