"""Where the readings of a line cannot be compared with those before: their environment changed, or time passed. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

Facts = Mapping[str, str]

MOST_CHANGES, READINGS_A_CHANGE = 2, 10
"""A fact is restless if it changes more often than twice, and than once in so many readings."""
LONGEST_GAP = timedelta(days=30)
MEDIAN_GAPS = 5
UNKNOWN = frozenset({"", "unknown", "not told"})


@dataclass(frozen=True, slots=True)
class Border:
    """Before which reading (its place, from 0) an environment ends. changed: by fact, the value before and after.

    gap: the time that passed, where it is that which ends it.
    """

    at: int
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    gap: timedelta | None = None


def restless_in(readings: Sequence[Facts]) -> list[str]:
    """Return the facts that change again and again; they border nothing."""
    changes: dict[str, int] = {}
    last: dict[str, str] = {}
    before: Facts = {}
    for facts in readings:
        if facts is before:  # of one set, as most readings are
            continue
        before = facts
        for name, value in _known(facts).items():
            if last.get(name, value) != value:
                changes[name] = changes.get(name, 0) + 1
            last[name] = value
    return sorted(
        name
        for name, count in changes.items()
        if count > MOST_CHANGES and count * READINGS_A_CHANGE > len(readings)
    )


def borders_in(
    readings: Sequence[Facts], instants: Sequence[datetime] = ()
) -> tuple[list[Border], list[str]]:
    """Return the borders between readings in the order of time, and the restless facts.

    instants: of the readings; without them no gap is found. A fact that is unknown is not different.
    """
    restless = restless_in(readings)
    longest = _longest_gap(instants)
    last: dict[str, str] = {}
    borders = []
    before: Facts = {}
    for place, facts in enumerate(readings):
        gap = instants[place] - instants[place - 1] if instants and place else timedelta(0)
        if facts is before and gap <= longest:
            continue
        before = facts
        known = {name: value for name, value in _known(facts).items() if name not in restless}
        changed = {
            name: (last[name], value)
            for name, value in known.items()
            if last.get(name, value) != value
        }
        if changed or gap > longest:
            borders.append(Border(place, changed, gap if gap > longest else None))
        last |= known
    return borders, restless


def _known(facts: Facts) -> dict[str, str]:
    return {name: value for name, value in facts.items() if value not in UNKNOWN}


def _longest_gap(instants: Sequence[datetime]) -> timedelta:
    """Return the longest time between two readings that ends nothing: 30 days, or five times what is usual."""
    gaps = [later - sooner for sooner, later in pairwise(instants)]
    if not gaps:
        return LONGEST_GAP
    usual = timedelta(seconds=median(gap.total_seconds() for gap in gaps))
    return max(LONGEST_GAP, MEDIAN_GAPS * usual)
