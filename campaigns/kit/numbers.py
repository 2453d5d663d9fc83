"""Write numbers, amounts, durations and changes as text: the only place that does.

Pages, charts, sentences and texts of the REST API call it. The command line has a copy of its own, which
the same table of values tests (`campaigns/tests/kit/numbers.json`). Three significant digits, commas between
thousands, a true minus, a plain space before a unit. What is no number is MISSING. Pure.
"""

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, TypeGuard

from campaigns.kit.units import convert

MISSING, MINUS = "—", "−"
DIGITS, MOST_DIGITS = 3, 6
PLAIN_BELOW = 1e9
"""Larger numbers are written with a power of ten."""
SECONDS_FROM, MILLISECONDS_FROM = 0.9995, 0.9995e-4
CLOCK_FROM_SECONDS = 119.5
"""What rounds to two minutes or more is written as 2:00 min or 1:02:03 h."""
LEAST_PERCENT, MOST_PERCENT = -90.0, 200.0
"""Changes beyond are written as factors: 10 times, not +900 %."""
MOST_TIMES, TIMES_DIGITS = 1e9, 2
LEAST_POINTS = 1e-9
"""Smaller differences of shares are rounding."""
BOUND_DIGITS = 10
"""Digits of a computed bound; further ones are floating-point noise."""
LONGEST_GROUPED = 1e15
"""Larger numbers are not written out."""
SCALES = {"B": ("B", "kB", "MB", "GB", "TB"), "B/s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")}
SINGULARS = {"files": "file", "connections": "connection"}
AXES = {"B/s": "MB/s", "B": "MB"}
"""Stored units, and the one unit of an axis or a column."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def ascending(levels: Iterable[Any], unlimited: float | None = None) -> list[Any]:
    """Return levels that are numbers in ascending order, the one that means no limit last."""
    return sorted(levels, key=lambda level: rank_of(level, unlimited))


def rank_of(level: float, unlimited: float | None) -> tuple[bool, float]:
    """Return what a level is sorted by among numbers; unlimited: the one that means no limit."""
    return (level == unlimited, level)


def readable(value: float, unit: str) -> tuple[float, str]:
    """Convert a value into the unit of an axis."""
    shown = AXES.get(unit, unit)
    return (value if shown == unit else convert(value, unit, shown)), shown


def number(value: object, digits: int = DIGITS) -> str:
    """Write significant digits, and whole numbers from 100 on: 0.0123, 22.8, 1,206, 2.5e12."""
    if not is_number(value):
        return MISSING
    if (isinstance(value, int) and abs(value) < PLAIN_BELOW) or 10 ** (digits - 1) <= abs(
        value
    ) < PLAIN_BELOW:
        text = f"{value:,.0f}"
    else:
        text = f"{value:{'#' if digits > DIGITS else ''},.{digits}g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            text = f"{mantissa}e{int(exponent)}"
    return ("0" if text == "-0" else text).replace("-", MINUS)


def counted(quantity: int, noun: str) -> str:
    """Write a number of things: 1 run, 1,206 runs."""
    return f"{number(quantity)} {noun}{'' if quantity == 1 else 's'}"


def plain(value: float) -> str:
    """Write a number that was chosen, not measured, such as a level: 5, 2.5, 0.125."""
    return f"{value:.10g}".replace("-", MINUS)


def grouped(value: float) -> str:
    """Write a number that was chosen, such as a load, with commas between thousands: 0.125, 2,000, 4,000,000,000."""
    if abs(value) >= LONGEST_GROUPED:
        return number(value, _digits(value))
    text = f"{Decimal(f'{value:.{BOUND_DIGITS}g}'):,f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", MINUS)


def bound(value: object, unit: str) -> str:
    """Write a limit that was chosen, with all its digits: 5.25 %, 180.4 s, 3:00 min, 1,234.5/s."""
    if not is_number(value):
        return MISSING
    if unit == "share":
        return plain_percent(100 * value)
    if unit == "s" and value >= CLOCK_FROM_SECONDS and not float(value).is_integer():
        return f"{grouped(value)} s"
    return amount(value, unit, max(DIGITS, _digits(value)))


def _digits(value: float) -> int:
    """Return how many significant digits a number has."""
    return len(Decimal(f"{value:.{BOUND_DIGITS}g}").normalize().as_tuple().digits)


def plain_percent(percentage: float) -> str:
    """Write a percentage that was chosen, such as a margin: 5 %, 2.5 %."""
    return f"{plain(percentage)} %"


def coefficient(value: float) -> str:
    """Write a number between −1 and 1 with two decimals: 0.94, −0.72."""
    return f"{value:.2f}".replace("-", MINUS)


def duration(seconds: object, digits: int = DIGITS) -> str:
    """Write a time: 45 µs, 320 ms, 8.93 s, 61.2 s, 10:36 min, 1:02:03 h; the unit tells it from a time of day."""
    if not is_number(seconds):
        return MISSING
    size = abs(seconds)
    if PLAIN_BELOW > size >= CLOCK_FROM_SECONDS:
        text = clock(seconds)
        return f"{text} {'h' if text.count(':') > 1 else 'min'}"
    if size == 0 or size >= SECONDS_FROM:
        return f"{number(float(seconds), digits)} s"
    unit = "ms" if size >= MILLISECONDS_FROM else "µs"
    return f"{number(convert(seconds, 's', unit), digits)} {unit}"


def clock(seconds: float) -> str:
    """Write min:s, from an hour on h:min:s, rounded half up, as on an axis: 1750 s is 29:10."""
    minutes, rest = divmod(math.floor(abs(seconds) + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{MINUS if seconds < 0 else ''}{text}"


def about(seconds: object) -> str:
    """Write an expected time with at most two units: 40 s, 3 min, 5 h 28 min, 2 d 4 h."""
    if not is_number(seconds):
        return MISSING
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s" if whole else "under 1 s"
    parts = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
    size, name, below, small = next(part for part in parts if whole >= part[0])
    first, rest = divmod(whole, size)
    second = rest // below
    if name == "min" and first >= 10:
        return f"{round(whole / 60)} min"
    return f"{first} {name}" + (f" {second} {small}" if second else "")


def share(value: object, places: int = 1) -> str:
    """Write a share of 1 as a percentage: 5.7 %, 100 %.

    With decimals, as many digits as keep what is more than 0 from 0 %, and what is less than 1 from 100 %.
    """
    if not is_number(value):
        return MISSING
    percentage = 100 * value
    if places and 0 < abs(percentage) < 0.1:
        return f"{number(percentage, 2)} %"
    if places and 99.9 < abs(percentage) < 100:
        return f"{MINUS if value < 0 else ''}{100 - float(f'{100 - abs(percentage):.1g}'):.10g} %"
    text = f"{percentage:,.0f}" if abs(percentage) >= 1000 else f"{percentage:.{places}f}"
    return f"{text.removesuffix('.0').replace('-', MINUS)} %"


def p_value(p: object) -> str:
    """Write a p value: three decimals, below 0.001 two digits: 0.012, 0.00012, 1.2e−7."""
    if not is_number(p):
        return MISSING
    return f"{p:.3f}" if p >= 0.001 else number(float(f"{p:.1e}"))


def amount(value: object, unit: str, digits: int = DIGITS) -> str:
    """Write a value with its unit: 29:10 min, 48.2 MB/s, 10.4 %, 50/s, 7 files."""
    if not is_number(value):
        return MISSING
    match unit:
        case "s":
            return duration(value, digits)
        case "share":
            return share(value)
        case "count" | "":
            return number(value, digits)
        case "1/s":
            return f"{number(value, digits)}/s"
        case "%" if 99.9 < abs(value) < 100:
            return share(value / 100)
        case "B" | "B/s":
            return _scaled(value, SCALES[unit], digits)
    text = number(value, digits)
    return f"{text} {SINGULARS.get(unit, unit) if text == '1' else unit}"


def _scaled(value: float, units: Sequence[str], digits: int) -> str:
    for unit in units[:-1]:
        if abs(value) < 999.5:
            return f"{number(value, digits)} {unit}"
        value /= 1000
    return f"{number(value, digits)} {units[-1]}"


def percent(value: object, digits: int = 1) -> str:
    """Write a change in percent with its sign: −24.0 %, +0.3 %, 0.0 %."""
    return f"{signed(value, digits)} %" if is_number(value) else MISSING


def without_sign(value: object) -> str:
    """Write a percentage that is never negative: 3.1 %."""
    return percent(value).lstrip("+")


def signed(value: object, digits: int = 1) -> str:
    """Write a number with its sign; one that rounds to zero has none."""
    if not is_number(value):
        return MISSING
    if abs(value) >= 1000:
        return f"{'+' if value > 0 else ''}{number(float(value))}"
    text = f"{value:+.{digits}f}"
    return text[1:] if not text.strip("+-0.") else text.replace("-", MINUS)


def in_times(*changes: float | None) -> bool:
    """Return whether one of these changes in percent is too large for a percentage: it, and what stands beside it, are factors."""
    return any(
        is_number(change) and not LEAST_PERCENT <= change <= MOST_PERCENT for change in changes
    )


def ratio_of(change: float) -> float:
    """Return the factor of a change in percent: 10 for +900 %."""
    return max(0.0, 1 + change / 100)


def times(ratio: float, digits: int = TIMES_DIGITS) -> str:
    """Write a factor with two digits: 2.7, 10, 0.083; one that is too large or too small for a measurement as a bound."""
    if ratio > MOST_TIMES:
        return "over a billion"
    if ratio < 1 / MOST_TIMES:
        return "under a billionth"
    return number(float(f"{ratio:.{max(digits, DIGITS)}g}"), digits)


def times_span(low: float, high: float) -> str:
    """Write an interval of factors, with the digits that its width calls for: 8.3 … 12, 10.9 … 11.2."""
    texts = times(low), times(high)
    if texts[0] == texts[1]:
        texts = times(low, digits_of(low, high)), times(high, digits_of(low, high))
    return " … ".join(dict.fromkeys(texts))


def with_times(text: str) -> str:
    """Add the unit of factors: 2.7 times, over a billion times, under a billionth."""
    return text if text.endswith("billionth") else f"{text} times"


def change(value: object, digits: int = 1) -> str:
    """Write a change: −24.0 %, +12.0 %; beyond −90 % and +200 % as a factor: 3.1 times, 0.083 times."""
    if is_number(value) and in_times(value):
        return with_times(times(ratio_of(value)))
    return percent(value, digits)


def points(value: object) -> str:
    """Write a difference of shares in percentage points, small ones with two digits: −0.09 points, +12.3 points."""
    if not is_number(value):
        return MISSING
    return f"{_signed_points(value)} points"


def points_span(interval: Sequence[float]) -> str:
    """Write an interval of differences of shares: −0.12 … −0.06 points."""
    return f"{' … '.join(map(_signed_points, interval))} points"


def _signed_points(value: float) -> str:
    if abs(value) >= 1 or abs(value) < LEAST_POINTS:
        return signed(float(value))
    return f"{'+' if value > 0 else ''}{number(float(value), 2)}"


def improvement(
    value: float,
    interval: Sequence[float] | None = None,
    *,
    lower_is_better: bool,
) -> str:
    """Write an improvement with its interval, positive where it is better: +24.0 % (+20.1 … +27.6); 20 times as good (17 … 24)."""

    def good(pct: float) -> float:
        if not lower_is_better:
            return ratio_of(pct)
        return 1 / ratio_of(-pct) if ratio_of(-pct) else math.inf

    beside = interval or ()
    if in_times(*(-each if lower_is_better else each for each in (value, *beside))):
        text = f"{with_times(times(good(value)))} as good"
        bounds = times_span(*map(good, beside)) if beside else ""
    else:
        text, bounds = percent(value), " … ".join(map(signed, beside))
    return f"{text} ({bounds})" if bounds else text


def change_span(interval: Sequence[float], value: float | None = None, digits: int = 1) -> str:
    """Write an interval of changes, on the scale of the change in it: −25.5 … −22.4 %, 2.8 … 3.4 times."""
    if in_times(value, *interval):
        return with_times(times_span(*map(ratio_of, interval)))
    return f"{' … '.join(signed(bound, digits) for bound in interval)} %"


def span(interval: Sequence[float], unit: str) -> str:
    """Write an interval of values, with the digits that its width calls for: 27:08 min … 31:21 min."""
    low, high = interval
    digits = digits_of(low, high)
    return f"{amount(low, unit, digits)} … {amount(high, unit, digits)}"


def digits_of(low: float, high: float) -> int:
    """Return the significant digits that show the width of an interval to its first digit; three to six."""
    size, width = max(abs(low), abs(high)), high - low
    if not (math.isfinite(size) and width > 0 and size > 0):
        return DIGITS
    needed = math.floor(math.log10(size)) - math.floor(math.log10(width)) + 1
    return min(MOST_DIGITS, max(DIGITS, needed))


def outward(low: float, high: float) -> tuple[str, str]:
    """Write bounds with the digits of `number`, rounded outward."""
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


def short(value: str, limit: int = 60) -> str:
    """Shorten a text in the middle, since names often differ at their end."""
    if len(value) <= limit:
        return value
    return f"{value[: limit // 2]}…{value[len(value) - (limit - limit // 2 - 1) :]}"


def _rounded(bound: float, rounding: str) -> str:
    exact = Decimal(f"{bound:.{BOUND_DIGITS}g}")
    places = 0 if 100 <= abs(exact) < PLAIN_BELOW else exact.adjusted() - 2
    return number(float(exact.quantize(Decimal(1).scaleb(places), rounding=rounding)))
