"""A sample of many rows in which each has the same chance (Vitter's algorithm R), and the sum of such samples. Pure."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

Stored = Mapping[str, Any]
"""`seen`, `most` and `rows`: how many rows were offered, how many may be kept, and those that were."""


class Reservoir:
    """Keeps at most so many rows of all that are offered."""

    def __init__(self, most: int, seed: int) -> None:
        self.most = most
        self.seen = 0
        self._rows: list[Sequence[Any]] = []
        self._chance = random.Random(seed)

    def place(self) -> int:
        """Count a row; return where to put it, -1 where it is not kept. So a row that is not kept is never made."""
        self.seen += 1
        if self.seen <= self.most:
            return self.seen - 1
        place = int(self._chance.random() * self.seen)
        return place if place < self.most else -1

    def put(self, place: int, row: Sequence[Any]) -> None:
        """Put a row where `place` says."""
        if place == len(self._rows):
            self._rows.append(row)
        else:
            self._rows[place] = row

    def stored(self) -> Stored:
        """Return the sample as JSON."""
        return {"seen": self.seen, "most": self.most, "rows": [list(row) for row in self._rows]}


def merged(parts: Sequence[Stored]) -> Stored:
    """Return a sample of all that several have seen; each part gives rows in proportion to what it has seen."""
    most = max(part["most"] for part in parts)
    seen = sum(part["seen"] for part in parts)
    if sum(len(part["rows"]) for part in parts) <= most:
        rows = [row for part in parts for row in part["rows"]]
    else:
        chance = random.Random(seen)
        rows = [
            row
            for part in parts
            for row in chance.sample(
                list(part["rows"]), min(len(part["rows"]), most * part["seen"] // seen)
            )
        ]
    return {"seen": seen, "most": most, "rows": rows}


def columns_of(stored: Stored, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the rows as columns with these names."""
    rows = stored["rows"]
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
