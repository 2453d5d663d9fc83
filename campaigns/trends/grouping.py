"""Which alert a trend that moved belongs to: one for all trends of a subject that moved in overlapping ranges. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Range:
    """After `good`, up to and including `bad`: positions of versions, or instants."""

    good: float
    bad: float

    def common(self, other: "Range") -> "Range | None":
        """Return what two ranges share; None where that is nothing."""
        shared = Range(max(self.good, other.good), min(self.bad, other.bad))
        return shared if shared.good < shared.bad else None


@dataclass(frozen=True, slots=True)
class Group(Generic[Key]):
    """An open alert, as far as grouping goes. members: what belongs to it, in the order of arrival."""

    direction: str
    range: Range
    members: tuple[Key, ...] = ()


def place_for(range_: Range, direction: str, groups: Sequence[Group[Key]]) -> int | None:
    """Return the first group of a direction whose range a new one overlaps; None where a group begins with it."""
    for place, group in enumerate(groups):
        if group.direction == direction and group.range.common(range_):
            return place
    return None


def grouped(arrivals: Iterable[tuple[Key, str, Range]]) -> list[Group[Key]]:
    """Group what arrives (key, direction, range) in its order; the range of a group becomes what its members share."""
    groups: list[Group[Key]] = []
    for key, direction, range_ in arrivals:
        place = place_for(range_, direction, groups)
        if place is None:
            groups.append(Group(direction, range_, (key,)))
            continue
        group = groups[place]
        common = group.range.common(range_) or group.range
        groups[place] = replace(group, range=common, members=(*group.members, key))
    return groups
