"""A pair of bounds. Pure."""

from typing import NamedTuple


class Interval(NamedTuple):
    """Two bounds, low first; it is stored in JSON as a list of two."""

    low: float
    high: float
