"""The table of docs/reference/roles.md: what each address gives to whom."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

TABLE = Path(settings.BASE_DIR, "docs/reference/roles.md")
COLUMNS = (
    "viewer",
    "author",
    "operator",
    "reviewer",
    "admin",
    "owner",
    "elsewhere",
    "no team",
    "anonymous",
)
WORDS = frozenset({"yes", "403", "404", "405", "401", "sign in", "–"})
ROW = re.compile(
    r"^\| `(?P<address>/[^`]*)` \| (?P<methods>[A-Z, ]+) \| (?P<cells>.*) \|$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Line:
    """One row: an address, its methods, and a word for each column."""

    address: str
    methods: tuple[str, ...]
    words: dict[str, str]


def lines() -> list[Line]:
    """Read the table; a word that is none of WORDS stops."""
    results = []
    for match in ROW.finditer(TABLE.read_text(encoding="utf-8")):
        cells = [cell.strip() for cell in match["cells"].split("|")]
        assert len(cells) == len(COLUMNS), match[0]
        assert set(cells) <= WORDS, match[0]
        methods = tuple(match["methods"].split(", "))
        results.append(Line(match["address"], methods, dict(zip(COLUMNS, cells, strict=True))))
    return results


@cache
def by_address() -> dict[str, dict[str, dict[str, str]]]:
    """{address: {method: {column: word}}}; an address and method that stands there twice stops."""
    results: dict[str, dict[str, dict[str, str]]] = {}
    for line in lines():
        methods = results.setdefault(line.address, {})
        for method in line.methods:
            assert method not in methods, (line.address, method)
            methods[method] = line.words
    return results
