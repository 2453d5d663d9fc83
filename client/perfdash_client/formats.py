"""How numbers are written, as on perfdash's pages: 18:29 min, 1.21 GB/s, −24.0 %. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

MISSING, MINUS = "—", "−"
DIGITS, MOST_DIGITS = 3, 6
PLAIN_BELOW = 1e9
LEAST_PERCENT, MOST_PERCENT = -90.0, 200.0
MOST_TIMES, TIMES_DIGITS = 1e9, 2
CLOCK_FROM_SECONDS = 119.5
SINGULARS = {"files": "file", "connections": "connection"}
SCALES = {"B": ("B", "kB", "MB", "GB", "TB"), "B/s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")}


def number(value: float | None, digits: int = DIGITS) -> str:
    """Write significant digits, and whole numbers from 100 on with commas; a dash for no number."""
    if value is None or not math.isfinite(value):
        return MISSING
    whole = isinstance(value, int) or abs(value) >= 10 ** (digits - 1)
    if whole and abs(value) < PLAIN_BELOW:
        text = f"{value:,.0f}"
    else:
        text = f"{value:{'#' if digits > DIGITS else ''},.{digits}g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            text = f"{mantissa}e{int(exponent)}"
    return ("0" if text == "-0" else text).replace("-", MINUS)


def amount(value: float | None, unit: str, digits: int = DIGITS) -> str:
    """Write a value with its unit; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return MISSING
    if unit == "s":
        return seconds(value, digits)
    if unit == "share":
        return share(value)
    if unit == "%" and 99.9 < abs(value) < 100:
        return share(value / 100)
    if unit in ("", "count"):
        return number(value, digits)
    if unit == "1/s":
        return f"{number(value, digits)}/s"
    scales = SCALES.get(unit, (unit,))
    place = 0
    while abs(value) >= 999.5 and place < len(scales) - 1:
        value, place = value / 1000, place + 1
    text = number(value, digits)
    return f"{text} {SINGULARS.get(unit, scales[place]) if text == '1' else scales[place]}"


def seconds(value: float, digits: int = DIGITS) -> str:
    """Write a duration: 45 µs, 320 ms, 8.93 s, 18:29 min, 26:01:40 h."""
    size = abs(value)
    if PLAIN_BELOW > size >= CLOCK_FROM_SECONDS:
        minutes, rest = divmod(math.floor(size + 0.5), 60)
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"
        return f"{MINUS if value < 0 else ''}{text}"
    if size == 0 or size >= 0.9995:
        return f"{number(float(value), digits)} s"
    if size >= 0.9995e-4:
        return f"{number(value * 1e3, digits)} ms"
    return f"{number(value * 1e6, digits)} µs"


def share(value: float) -> str:
    """Write a share of 1 as a percentage, 0 % and 100 % only where it is exactly that."""
    percentage = 100 * value
    if 0 < abs(percentage) < 0.1:
        return f"{number(percentage, 2)} %"
    if 99.9 < abs(percentage) < 100:
        exact = 100 - float(f"{100 - abs(percentage):.1g}")
        return f"{MINUS if value < 0 else ''}{exact:.10g} %"
    text = f"{percentage:,.0f}" if abs(percentage) >= 1000 else f"{percentage:.1f}"
    return f"{text.removesuffix('.0').replace('-', MINUS)} %"


def percent(value: float | None) -> str:
    """Write a change with its sign; a dash where there is none."""
    signed = _signed(value)
    return signed if signed == MISSING else f"{signed} %"


def _signed(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.1f}"
    return text[1:] if not text.strip("+-0.") else text.replace("-", MINUS)


def about(value: float) -> str:
    """Write how long something still takes, with at most two units: 40 s, 5 h 28 min."""
    if not math.isfinite(value):
        return MISSING
    whole = max(0, round(value))
    if whole < 60:
        return f"{whole} s" if whole else "under 1 s"
    parts = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
    size, name, below, small = next(part for part in parts if whole >= part[0])
    first, rest = divmod(whole, size)
    second = rest // below
    if name == "min" and first >= 10:
        return f"{round(whole / 60)} min"
    return f"{first} {name}" + (f" {second} {small}" if second else "")


def span(low: float | None, high: float | None, unit: str) -> str:
    """Write an interval with the digits that its width calls for; empty where there is none."""
    if low is None or high is None:
        return ""
    digits = digits_of(low, high)
    return f"{amount(low, unit, digits)} … {amount(high, unit, digits)}"


def in_times(*changes: float | None) -> bool:
    """Return whether one of these changes in percent is too large for a percentage: it, and what stands beside it, are factors."""
    return any(each is not None and not LEAST_PERCENT <= each <= MOST_PERCENT for each in changes)


def times(ratio: float, digits: int = TIMES_DIGITS) -> str:
    """Write a factor with two digits: 2.7, 10, 0.083; one that is too large or too small for a measurement as a bound."""
    if ratio > MOST_TIMES:
        return "over a billion"
    if ratio < 1 / MOST_TIMES:
        return "under a billionth"
    return number(float(f"{ratio:.{max(digits, DIGITS)}g}"), digits)


def ratio_of(percentage: float) -> float:
    """Return the factor of a change in percent: 10 for +900 %."""
    return max(0.0, 1 + percentage / 100)


def with_times(text: str) -> str:
    """Add the unit of factors: 2.7 times, over a billion times, under a billionth."""
    return text if text.endswith("billionth") else f"{text} times"


def change(value: float | None) -> str:
    """Write a change: +12.0 %; beyond −90 % and +200 % as a factor: 3.1 times."""
    if value is not None and math.isfinite(value) and in_times(value):
        return with_times(times(ratio_of(value)))
    return percent(value)


def change_span(interval: Sequence[float], value: float | None = None) -> str:
    """Write an interval of changes, on the scale of the change in it; empty where there is none."""
    if not interval:
        return ""
    if in_times(value, *interval):
        low, high = map(ratio_of, interval)
        texts = times(low), times(high)
        if texts[0] == texts[1]:
            digits = digits_of(low, high)
            texts = times(low, digits), times(high, digits)
        return with_times(" … ".join(dict.fromkeys(texts)))
    return f"{' … '.join(map(_signed, interval))} %"


def digits_of(low: float, high: float) -> int:
    """Return the significant digits that show the width of an interval to its first digit; three to six."""
    size, width = max(abs(low), abs(high)), high - low
    if not (math.isfinite(size) and width > 0 and size > 0):
        return DIGITS
    needed = math.floor(math.log10(size)) - math.floor(math.log10(width)) + 1
    return min(MOST_DIGITS, max(DIGITS, needed))


def levels(found: Mapping[str, Any]) -> str:
    """Write levels: engine=futures, concurrency=20."""
    return ", ".join(f"{name}={level}" for name, level in found.items())


def distinct_labels(values: Sequence[Any]) -> list[str]:
    """Shorten texts to the parts of their paths in which they differ."""
    texts = [str(value) for value in values]
    parts = [text.split("/") for text in texts]
    if len(set(texts)) < 2 or len({len(each) for each in parts}) != 1:
        return texts
    differ = [
        place for place, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1
    ]
    return ["/".join(each[place] for place in differ) for each in parts]
