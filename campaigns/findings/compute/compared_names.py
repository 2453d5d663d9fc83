"""Names of campaigns and cells where several campaigns are compared."""

from collections.abc import Iterable, Sequence
from typing import Any

from campaigns.findings.compared import Side
from campaigns.findings.compute.comparability import Cell, label_of, text_of, values_of
from campaigns.kit.charts.labels import short_labels


class Names:
    """Names of campaigns and levels; long levels are shortened to the part that tells them apart.

    campaigns: their names; those that share one have their number, too.
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self.sides = sides
        names = [side.campaign.name for side in sides]
        self.campaigns = [
            name if names.count(name) == 1 else f"{name} (#{side.campaign.pk})"
            for name, side in zip(names, sides, strict=True)
        ]
        varied = dict.fromkeys(factor for side in sides for factor in side.factors)
        self._short = {
            factor: short_labels(
                list(
                    dict.fromkeys(
                        text_of(value) for side in sides for value in values_of(side, factor)
                    )
                )
            )
            for factor in varied
        }

    def cell(self, side: int, cell: Cell, among: Iterable[str] = ()) -> str:
        """Levels with their factors; among: of these alone, fixed ones too."""
        owner = self.sides[side]
        return ", ".join(
            f"{label_of(owner, name).lower()} {self._level(name, value)}"
            for name, value in self._wanted(side, cell, among)
        )

    def levels(self, side: int, cell: Cell, among: Iterable[str] = ()) -> str:
        """Levels without their factors."""
        return ", ".join(
            self._level(name, value) for name, value in self._wanted(side, cell, among)
        )

    def whole(self, side: int, cell: Cell) -> str:
        """A cell with its campaign."""
        levels = self.cell(side, cell)
        return f"{self.campaigns[side]}: {levels}" if levels else self.campaigns[side]

    def _wanted(self, side: int, cell: Cell, among: Iterable[str]) -> list[tuple[str, Any]]:
        known = {**self.sides[side].campaign.parameters, **cell["levels"]}
        names = set(among) or set(cell["levels"])
        return [(name, value) for name, value in known.items() if name in names]

    def _level(self, name: str, value: Any) -> str:
        text = text_of(value)
        return self._short.get(name, {}).get(text, text)
