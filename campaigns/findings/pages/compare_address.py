"""Parse and build addresses of the compare page. Pure.

`/compare/?c=12&c=9`: campaigns, the first one is the baseline. `&cell=12:40&cell=9:31`: cells of them
instead, by campaign and cell. `&hardware=1`: builds on other hardware are compared. The order of the address is that of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlencode

from django.http import QueryDict

from campaigns.findings.compared import MOST_CAMPAIGNS, MOST_CELLS, Choice
from campaigns.kit.forms import is_key

MOST_READ = 100
"""Only so many values of a query are read."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Move:
    """A link that changes the choice. query: of its address; empty where it is not possible."""

    word: str
    icon: str
    query: str


@dataclass(frozen=True, slots=True)
class Address(Choice):
    """The choice in an address. wrong: messages about what could not be read."""

    wrong: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        """Return the query string of the choice."""
        return urlencode(self.pairs)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return all names and values of the query in order, also for hidden inputs."""
        named = [("c", str(campaign)) for campaign in self.campaigns]
        named += [("cell", f"{campaign}:{cell}") for campaign, cell in self.cells]
        named += [("metric", self.metric)] if self.metric else []
        return [*named, *([("hardware", "1")] if self.hardware else [])]

    def moves(self, place: int) -> list[Move]:
        """Return the links of the campaign, or the cell, at a place."""
        chosen: Sequence[object] = self.cells or self.campaigns
        last = len(chosen) - 1
        return [
            Move("Make the baseline", "edge", self._moved(place, 0) if place else ""),
            Move("Move up", "up", self._moved(place, place - 1) if place else ""),
            Move("Move down", "down", self._moved(place, place + 1) if place < last else ""),
            Move("Remove", "x", self._without(place)),
        ]

    @property
    def swapped(self) -> str:
        """Return the query with baseline and candidate swapped; empty unless there are two."""
        return self._moved(1, 0) if len(self.cells or self.campaigns) == 2 else ""

    @property
    def with_hardware(self) -> str:
        """Return the query that makes the hardware part of the question."""
        return replace(self, hardware=True).query

    @property
    def without_cells(self) -> str:
        """Return the query for the whole campaigns."""
        return replace(self, campaigns=self.all_campaigns, cells=()).query

    def _moved(self, place: int, to: int) -> str:
        if self.cells:
            return replace(self, cells=_moved(self.cells, place, to)).query
        return replace(self, campaigns=_moved(self.campaigns, place, to)).query

    def _without(self, place: int) -> str:
        if self.cells:
            left = (*self.cells[:place], *self.cells[place + 1 :])
            return replace(self, campaigns=self.all_campaigns, cells=left).query
        return replace(
            self, campaigns=(*self.campaigns[:place], *self.campaigns[place + 1 :])
        ).query


def read(query: QueryDict) -> Address:
    """Parse a query. Duplicates and what exceeds the limits are left out, with a message."""
    wrong: list[str] = []
    campaigns = [
        int(text) for text in _texts(query, "c") if _is_right(is_key(text), text, "campaign", wrong)
    ]
    cells = []
    for text in _texts(query, "cell"):
        parts = text.split(":")
        right = len(parts) == 2 and all(map(is_key, parts))
        if _is_right(right, text, "cell (campaign:cell)", wrong):
            cells.append((int(parts[0]), int(parts[1])))
    hardware = query.get("hardware", "").strip()
    if hardware not in ("", "0", "1"):
        wrong.append(
            f"“{hardware.replace(chr(0), '')[:40]}” says nothing about hardware: 1 compares builds on other hardware."
        )
    stored = _bounded(campaigns, MOST_CAMPAIGNS, "campaigns", wrong)
    chosen = _bounded(cells, MOST_CELLS, "cells", wrong)
    owners = set(list(dict.fromkeys(campaign for campaign, _ in chosen))[:MOST_CAMPAIGNS])
    if len({campaign for campaign, _ in chosen}) > len(owners):
        wrong.append(
            f"At most {MOST_CAMPAIGNS} campaigns are compared; further cells are left out."
        )
    return Address(
        campaigns=stored,
        cells=tuple(each for each in chosen if each[0] in owners),
        metric=query.get("metric", "").replace("\x00", "")[:50],
        hardware=hardware == "1",
        wrong=tuple(wrong),
    )


def _texts(query: QueryDict, name: str) -> list[str]:
    return [text.strip() for text in query.getlist(name)[:MOST_READ] if text.strip()]


def _is_right(right: bool, text: str, what: str, wrong: list[str]) -> bool:
    if not right:
        wrong.append(f"“{text.replace(chr(0), '')[:40]}” is no number of a {what}.")
    return right


def _bounded(items: Sequence[T], most: int, noun: str, wrong: list[str]) -> tuple[T, ...]:
    once = tuple(dict.fromkeys(items))
    if len(once) < len(items):
        wrong.append(f"Some {noun} are named twice; each counts once.")
    if len(once) > most:
        wrong.append(
            f"At most {most} {noun} are compared at a time; {len(once) - most} are left out. "
            "Remove some, and add those that you want to see."
        )
    return once[:most]


def _moved(items: Sequence[T], place: int, to: int) -> tuple[T, ...]:
    rest = [*items[:place], *items[place + 1 :]]
    return (*rest[:to], items[place], *rest[to:])
