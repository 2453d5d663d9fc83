"""Numbers that the operator declares of a target, by which a sizing table divides. Pure."""

import math
import re

DECLARED = re.compile(r"(?<![\w.])([A-Za-z][A-Za-z0-9_]{0,29})\s*=\s*(\d+(?:\.\d+)?)(?![\w.]*\d)")
MOST_UNITS = 6


def sizes_of(hardware: str) -> dict[str, float]:
    """Return the numbers that are written as name=number in the description of the hardware: CPU=8, GiB=24, price=120.

    Anything else in the text is no size: nothing is guessed from words.
    """
    sizes: dict[str, float] = {}
    for match in DECLARED.finditer(hardware):
        value = float(match[2])
        if value > 0 and math.isfinite(value) and len(sizes) < MOST_UNITS:
            sizes.setdefault(match[1], value)
    return sizes
