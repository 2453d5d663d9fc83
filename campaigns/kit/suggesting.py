"""Suggestions for a name that is not known, and lists of those that are: bounded, however many there are. Pure."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice

MOST_LETTERS = 60
MOST_COMPARED = 200
"""Known names that a wrong one is compared with, which takes some 20 µs each."""
MOST_LISTED = 30


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return the known name that is most like a name; empty if none is, or if the name is long."""
    if len(name) > MOST_LETTERS:
        return ""
    return next(iter(get_close_matches(name, islice(known, MOST_COMPARED), 1, likeness)), "")


def listed(names: Collection[str]) -> str:
    """Return names with commas between them; of many, the first, and how many more there are."""
    shown = ", ".join(name[:MOST_LETTERS] for name in islice(names, MOST_LISTED))
    more = len(names) - MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown
