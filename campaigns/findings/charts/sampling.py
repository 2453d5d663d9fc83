"""Choose which runs are drawn where there are too many for a point each. Pure.

Runs are chosen in even steps, always with the first and the last: in the order of values these are the
lowest and the highest, which must not be missed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from campaigns.kit.numbers import counted, number

Item = TypeVar("Item")

FEWEST_CROWDED = 50
"""A group of at least so many runs is crowded, in any chart."""
MOST_POINTS = 500
"""Of crowded groups about so many runs are drawn in a chart ..."""
FEWEST_OF_GROUP, MOST_OF_GROUP = 2, 25
"""... and of each group so many at least and at most."""
MOST_DRAWN, FEWEST_OF_MANY = 1000, 10
"""In a chart of more runs, groups of fewer are crowded, too."""
WHERE_ALL_ARE = "The table of runs and the CSV of the campaign have all of them."


@dataclass(frozen=True, slots=True)
class Quota:
    """The number of runs from which a group is crowded, and how many of them are then drawn."""

    crowded_from: int
    most: int

    def of(self, ordered: Sequence[Item]) -> list[Item]:
        """Return the items of one group that are drawn, in the same order."""
        return evenly(ordered, self.drawn(len(ordered)))

    def drawn(self, size: int) -> int:
        """Return how many of a group of this size are drawn."""
        return min(size, self.most) if size >= self.crowded_from else size


def quota_of(sizes: Sequence[int]) -> Quota:
    """Share a chart among its groups, by the number of runs of each."""
    groups = sum(size > 0 for size in sizes) or 1
    most = max(FEWEST_OF_GROUP, min(MOST_OF_GROUP, MOST_POINTS // groups))
    many = sum(sizes) > MOST_DRAWN
    return Quota(max(FEWEST_OF_MANY, most) if many else FEWEST_CROWDED, most)


def evenly(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many items in even steps, with the first and the last; `most` is not 1."""
    if len(items) <= most:
        return list(items)
    step = (len(items) - 1) / (most - 1)
    return [items[round(step * index)] for index in range(most)]


def note(drawn: int, runs: int, noun: str, group: str, quota: Quota) -> str:
    """Return how many of the runs, or pairs, are drawn where not all of them are; else nothing."""
    if drawn == runs:
        return ""
    return (
        f"{number(drawn)} of {counted(runs, noun)} are drawn: up to {quota.most} of each {group} with"
        f" {quota.crowded_from} or more, evenly by rank, with the lowest and the highest."
        f" {WHERE_ALL_ARE}"
    )
