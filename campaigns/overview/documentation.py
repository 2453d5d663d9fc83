"""The documentation of docs/ in this installation: its pages, their addresses, and the glossary."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.urls import reverse

from campaigns.kit.markup import Document, document

INDEX, GLOSSARY, CHANGELOG = "docs/README.md", "docs/reference/glossary.md", "CHANGELOG.md"
ALL_PAGES = "docs/all-pages.md"
CONTENTS = {INDEX, ALL_PAGES}
"""Pages that only lead to others."""
SCHEMA = "docs/reference/campaign.schema.json"
OUTSIDE = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the glossary: the address of its explanation, and its hint."""

    address: str
    hint: str


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
    home = address_of(GLOSSARY)
    return {
        name.strip().lower(): Term(f"{home}#{heading.anchor}", heading.first)
        for heading in read(GLOSSARY).headings
        if heading.level == 2
        for name in heading.text.split(",")
    }


def _name(path: str) -> str:
    return path.removeprefix("docs/").removesuffix(".md").removesuffix("README").strip("/").lower()


def address_of(path: str) -> str:
    """Return the address of a page of the documentation."""
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
    return f"{address_of(file)}{mark}{anchor}" if file in pages().values() else None
