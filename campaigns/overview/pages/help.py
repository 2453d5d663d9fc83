"""The documentation, served from docs/ of this installation, and the glossary."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from campaigns.kit.markup import Document, document
from campaigns.kit.owners import for_everybody

INDEX, GLOSSARY, CHANGELOG = "docs/README.md", "docs/reference/glossary.md", "CHANGELOG.md"
SCHEMA = "docs/reference/campaign.schema.json"
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
OUTSIDE = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the glossary: the address of its explanation, and its hint."""

    address: str
    hint: str


@require_safe
@for_everybody
def help_page(request: HttpRequest, page: str = "") -> HttpResponse:
    """Show a page of the documentation; without a name its table of contents."""
    if page in MOVED:
        return redirect("help-page", MOVED[page], permanent=True)
    path = pages().get(page)
    if path is None:
        raise Http404(f"The documentation has no page “{page}”.")
    result = read(path)
    sections = [heading for heading in result.headings if heading.level == 2]
    context = {"document": result, "sections": sections, "is_index": path == INDEX}
    return render(request, "overview/help.html", context)


@cache
def pages() -> dict[str, str]:
    """Return the files of the documentation, relative to the installation, by the name in their address."""
    root = settings.BASE_DIR
    files = [path.relative_to(root).as_posix() for path in sorted(root.glob("docs/**/*.md"))]
    return {_name(path): path for path in [*files, CHANGELOG]}


@cache
def read(path: str) -> Document:
    """Return a page whose links lead to addresses of perfdash."""
    text = Path(settings.BASE_DIR, path).read_text(encoding="utf-8")
    return document(text, lambda link: _address(path, link))


@cache
def glossary() -> Mapping[str, Term]:
    """Return the terms of the glossary; a heading may have several, separated by commas."""
    home = _of_page(GLOSSARY)
    return {
        name.strip().lower(): Term(f"{home}#{heading.anchor}", heading.first)
        for heading in read(GLOSSARY).headings
        if heading.level == 2
        for name in heading.text.split(",")
    }


def _name(path: str) -> str:
    return path.removeprefix("docs/").removesuffix(".md").removesuffix("README").strip("/").lower()


def _of_page(path: str) -> str:
    name = _name(path)
    return reverse("help-page", args=[name]) if name else reverse("help")


def _address(path: str, link: str) -> str | None:
    """Return the address to which a link of a page leads; None for anything but a page, such as code."""
    if OUTSIDE.match(link) or link.startswith("#"):
        return link
    file, mark, anchor = link.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if file == SCHEMA:
        return reverse("api-schema")
    return f"{_of_page(file)}{mark}{anchor}" if file in pages().values() else None
