"""Help: the pages of the documentation, and the search over them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from campaigns.kit.rights import for_everybody
from campaigns.overview.documentation import INDEX, pages, read
from campaigns.overview.help_search import find

MOVED = {
    "api": "reference/api",
    "kinds/downloader": "reference/kinds/downloader",
    "kinds/external-programs": "how-to/external-programs",
    "kinds/http": "reference/kinds/http",
    "kinds/registration": "reference/kinds/registration",
    "kinds/sql": "reference/kinds/sql",
    "kinds/storage": "reference/kinds/storage",
    "kinds/sync": "reference/kinds/sync",
    "sandbox": "reference/sandbox",
    "stand-in-katello": "reference/simulated-katello",
    "stand-in-pulp": "reference/simulated-pulp",
    "statistics": "explanation/which-code-computes-what",
    "statistics/pages": "reference/page-speed",
    "statistics/self-check": "reference/self-check",
}
"""Former names of pages in their addresses, and those of today: bookmarks go on to work."""
LONGEST = 200
"""Characters of a search that are read."""


@require_safe
@for_everybody
def help_page(request: HttpRequest, page: str = "") -> HttpResponse:
    """Show a page of the documentation; without a name its table of contents, or what a search (q) finds."""
    if not page and "q" in request.GET:
        return _found(request, request.GET["q"])
    if page in MOVED:
        return redirect("help-page", MOVED[page], permanent=True)
    path = pages().get(page)
    if path is None:
        raise Http404(f"The documentation has no page “{page}”.")
    result = read(path)
    sections = [heading for heading in result.headings if heading.level == 2]
    context = {"document": result, "sections": sections, "is_index": path == INDEX}
    return render(request, "overview/help.html", context)


def _found(request: HttpRequest, query: str) -> HttpResponse:
    """Show the pages that a search finds."""
    asked = " ".join(query.replace("\0", " ").split())[:LONGEST]
    return render(request, "overview/help_search.html", {"asked": asked, "found": find(asked)})
