"""How coarsely values are written. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from math import isfinite

DIGITS = 12
"""What a conversion of units adds beyond them is no digit of the tool's."""


def step_of(values: Sequence[float]) -> float | None:
    """Give the step in which values are written: the place of the last digit that any of them has.

    In their unit; None where there is no number. 0.0636 and 0.06 are written in steps of 0.0001.
    """
    places = [_last_place(value) for value in values if isfinite(value)]
    return 10.0 ** min(places) if places else None


def _last_place(value: float) -> int:
    exponent = Decimal(f"{value:.{DIGITS}g}").normalize().as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
