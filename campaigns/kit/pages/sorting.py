"""By which column the table of a page is sorted, as its address says it: `?sort=name`, `?sort=-name`."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Sort:
    """by: the name of the column; empty for the order that the table has by itself."""

    by: str = ""
    descending: bool = False

    @classmethod
    def parse(cls, text: str, names: Collection[str]) -> "Sort":
        """Read an address; a column that there is not is as if it were not named."""
        by = text.removeprefix("-")
        return cls(by, text.startswith("-")) if by in names else cls()

    @property
    def text(self) -> str:
        """What the address says."""
        return f"-{self.by}" if self.descending else self.by

    def turned(self, name: str) -> str:
        """What the address says after a click on the heading of a column."""
        return f"-{name}" if self.by == name and not self.descending else name

    def apply(self, rows: Iterable[Row], keys: Mapping[str, Callable[[Row], Any]]) -> list[Row]:
        """Sort rows, those without a value last; equal ones stay in their order."""
        rows = list(rows)
        if not self.by:
            return rows
        key = keys[self.by]
        known = [row for row in rows if key(row) is not None]
        unknown = [row for row in rows if key(row) is None]
        return [*sorted(known, key=key, reverse=self.descending), *unknown]
