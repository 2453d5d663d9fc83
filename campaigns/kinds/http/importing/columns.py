"""Parameters of paths become columns of a scenario's data: `/items/{id}` is asked with the values of a column `id`. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from campaigns.kinds.http.importing.recorded import named, quoted
from campaigns.kinds.http.program.names import GIVEN, RANDOM

IN_PATHS = "/%:@!$'()*+,;=~-._"
PARAMETER = re.compile(r"\{([^{}/]+)\}")
MOST_LETTERS = 38
"""Of a column, which may get a sign or two more to differ from others."""


PLAIN = frozenset(
    {"id", "pk", "uuid", "name", "slug", "key", "number", "version", "href", "code", "type"}
)
"""Names that say nothing of what they are the name of."""


class Columns:
    """The columns of a document, by what they stand behind: `id` of items is another one than `id` of people."""

    def __init__(self) -> None:
        self._behind: dict[str, str] = {}

    def of(self, name: str, before: str, taken: Mapping[str, Any]) -> str:
        """Return the column for a parameter. before: the path up to it. taken: columns of the same path."""
        column, place = _spelled(name), f"{before if name.lower() in PLAIN else ''}{{{name}"
        if self._behind.setdefault(column, place) != place:
            parts = [part for part in before.split("/") if part and "{" not in part]
            column = _spelled(f"{parts[-1]}_{name}" if parts else name)
        while column in taken or self._behind.setdefault(column, place) != place:
            column += "_"
        return column


class Filled:
    """A path whose parameters are filled. columns: a value by column; needed: names of parameters."""

    def __init__(self, places: Columns, path: str) -> None:
        self._places = places
        self._template = path
        self._path = path
        self.columns: dict[str, Any] = {}
        self.needed: list[str] = []

    def parameters(self) -> list[str]:
        """Return the names of the parameters that are not filled yet, each once."""
        return list(dict.fromkeys(PARAMETER.findall(self._path)))

    def begins_with(self, name: str) -> bool:
        """Return whether the path begins with a parameter, which then is a whole path of the server."""
        return self._template.startswith(f"{{{name}}}")

    def fill(self, name: str, value: Any) -> None:
        """Put a column with that value where a parameter stands."""
        self.needed.append(name)
        mark = f"{{{name}}}"
        if mark not in self._path:
            return
        column = self._places.of(name, self._template.partition(mark)[0], self.columns)
        self.columns[column] = value
        self._path = self._path.replace(mark, named(column))

    def fill_the_rest(self) -> None:
        """Fill parameters that the document does not describe."""
        for name in self.parameters():
            rest = self._template.partition(f"{{{name}}}")[2]
            whole = "/text" if rest.startswith("/") else "/text/"
            self.fill(name, whole if self.begins_with(name) else "text")

    def url(self, base: str) -> str:
        """Return the address: a path that begins with a column is whole, and others stand below the base."""
        if self._template.startswith("{"):
            return quoted(self._path, IN_PATHS)
        path = self._path if self._path.startswith("/") or not self._path else f"/{self._path}"
        return base + quoted(path, IN_PATHS)


def _spelled(name: str) -> str:
    """Return a name as one of a column."""
    column = re.sub(r"\W", "_", name, flags=re.ASCII)[:MOST_LETTERS] or "value"
    if column in GIVEN or column == RANDOM:
        return f"its_{column}"
    return f"a_{column}"[:MOST_LETTERS] if column[0].isdigit() else column
