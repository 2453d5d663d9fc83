"""What the operator declares of a target for a sizing table: numbers by which it divides, and a class of hardware. Pure."""

import math
import re

DECLARED = re.compile(
    r"(?<![\w.])([A-Za-z][A-Za-z0-9_]{0,29})\s*=\s*(\d+(?:\.\d+)?)(?![\w.]*\d|,\d)"
)
CLASS = re.compile(r"(?<![\w.])class\s*=\s*([A-Za-z0-9][\w.+-]{0,39})", re.IGNORECASE)
MOST_UNITS = 6


def sizes_of(hardware: str) -> dict[str, float]:
    """Return the numbers that are written as name=number in the description of the hardware: CPU=8, GiB=24, price=120.

    Anything else in the text is no size: nothing is guessed from words.
    """
    sizes: dict[str, float] = {}
    for match in DECLARED.finditer(hardware):
        value = float(match[2])
        if match[1].lower() == "class":  # a class may be called 8
            continue
        if value > 0 and math.isfinite(value) and len(sizes) < MOST_UNITS:
            sizes.setdefault(match[1], value)
    return sizes


def class_of(hardware: str) -> str:
    """Return the class of hardware that is written as class=name; empty where none is."""
    match = CLASS.search(hardware)
    return match[1].rstrip(".") if match else ""
