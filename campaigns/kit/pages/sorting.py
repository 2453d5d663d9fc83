"""The sort order of a table: `?sort=name`, `?sort=-name`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Sort:
    """by: the name of the column; empty: the default order."""

    by: str = ""
    descending: bool = False

    @classmethod
    def parse(cls, text: str, names: Collection[str]) -> "Sort":
        """Return the order of a query parameter; an unknown column is ignored."""
        by = text.removeprefix("-")
        return cls(by, text.startswith("-")) if by in names else cls()

    @property
    def text(self) -> str:
        """The query parameter."""
        return f"-{self.by}" if self.descending else self.by

    def turned(self, name: str) -> str:
        """Return the query parameter for the heading of a column, which reverses the current order."""
        return f"-{name}" if self.by == name and not self.descending else name

    def apply(self, rows: Iterable[Row], keys: Mapping[str, Callable[[Row], Any]]) -> list[Row]:
        """Sort rows, stable, those without a value last."""
        rows = list(rows)
        if not self.by:
            return rows
        key = keys[self.by]
        known = [row for row in rows if key(row) is not None]
        unknown = [row for row in rows if key(row) is None]
        return [*sorted(known, key=key, reverse=self.descending), *unknown]
