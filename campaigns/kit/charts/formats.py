"""Formats of numbers in charts and answers. Pure. Percentages have a sign, with a true minus."""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from campaigns.kit.units import convert

MINUS = "−"
CLOCK_ABOVE_SECONDS = 120
"""Longer durations are written as min:s."""
SECONDS_FROM, MILLISECONDS_FROM = 0.1, 1e-4
BOUND_DIGITS = 10
"""Digits of a computed bound; further ones are floating-point noise."""
READABLE = {"B/s": "MB/s", "B": "MB"}
"""Stored units, and the units that are shown instead."""


def readable(value: float, unit: str) -> tuple[float, str]:
    """Convert a value into the unit in which it is shown."""
    shown = READABLE.get(unit, unit)
    return (value if shown == unit else convert(value, unit, shown)), shown


def number(value: float) -> str:
    """Write three significant digits, and whole numbers from 100 on with commas: 1,206."""
    if not math.isfinite(value):
        return "—"
    if 100 <= abs(value) < 1e9:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", MINUS)


def outward(low: float, high: float) -> tuple[str, str]:
    """Format bounds with the digits of `number`, rounded outward."""
    return _rounded(low, ROUND_FLOOR), _rounded(high, ROUND_CEILING)


def bracketed(low: float, high: float, levels: Sequence[float], confidence: str = "95 %") -> str:
    """Describe an interval by measured levels: between 5 and 7 (5.2 to 6.8, 95 %).

    The levels are those around both bounds; the bounds follow unless they are levels themselves.
    """
    at, end = outward(low, high)
    below = max((level for level in levels if level <= low or number(level) == at), default=low)
    above = min((level for level in levels if level >= high or number(level) == end), default=high)
    named = number(below), number(above)
    where = f"at {named[0]}" if named[0] == named[1] else f"between {named[0]} and {named[1]}"
    bounds = "" if (at, end) == named else f"{at} to {end}, "
    return f"{where} ({bounds}{confidence})"


def clock(seconds: float) -> str:
    """Write min:s, rounded half up: 1750 s is 29:10."""
    whole = math.floor(abs(seconds) + 0.5)
    return f"{MINUS if seconds < 0 else ''}{whole // 60}:{whole % 60:02d}"


def duration(seconds: float) -> str:
    """Write a duration as min:s above 120 s, in ms below a tenth of a second, in µs far below."""
    if math.isfinite(seconds) and abs(seconds) > CLOCK_ABOVE_SECONDS:
        return clock(seconds)
    if not 0 < abs(seconds) < SECONDS_FROM:
        return f"{number(seconds)} s"
    unit = "ms" if abs(seconds) >= MILLISECONDS_FROM else "µs"
    return f"{number(convert(seconds, 's', unit))} {unit}"


def amount(value: float, unit: str) -> str:
    """Format a value with its unit."""
    value, unit = readable(value, unit)
    match unit:
        case "s":
            return duration(value)
        case "share":
            return f"{number(100 * value)} %"
        case "count" | "":
            return number(value)
        case "1/s":
            return f"{number(value)}/s"
    return f"{number(value)} {unit}"


def percent(value: float, digits: int = 1) -> str:
    """Write a change with its sign: −24.0 %, +0.3 %, 0.0 %."""
    return f"{signed(value, digits)} %"


def without_sign(value: float) -> str:
    """Write a share that is never negative: 3.1 %."""
    return percent(value).lstrip("+")


def signed(value: float, digits: int = 1) -> str:
    """Format a number with its sign; one that rounds to zero has none."""
    if abs(value) >= 1000:
        return f"{'+' if value > 0 else ''}{number(value)}"
    text = f"{value:+.{digits}f}"
    return text[1:] if not text.strip("+-0.") else text.replace("-", MINUS)


def span_pct(interval: Sequence[float], digits: int = 1) -> str:
    """Write an interval of changes without its unit: −25.5 … −22.4."""
    return " … ".join(signed(bound, digits) for bound in interval)


def span(interval: Sequence[float], unit: str) -> str:
    """Write an interval of values: 27:08 … 31:21."""
    return " … ".join(amount(bound, unit) for bound in interval)


def short(value: str, limit: int = 60) -> str:
    """Shorten a text in the middle, since names often differ at their end."""
    if len(value) <= limit:
        return value
    return f"{value[: limit // 2]}…{value[len(value) - (limit - limit // 2 - 1) :]}"


def counted(quantity: int, noun: str) -> str:
    """Write a number of things: 1 run, 1,206 runs."""
    return f"{quantity:,} {noun}" if quantity == 1 else f"{quantity:,} {noun}s"


def _rounded(bound: float, rounding: str) -> str:
    exact = Decimal(f"{bound:.{BOUND_DIGITS}g}")
    places = 0 if 100 <= abs(exact) < 1_000_000_000 else exact.adjusted() - 2
    return number(float(exact.quantize(Decimal(1).scaleb(places), rounding=rounding)))
