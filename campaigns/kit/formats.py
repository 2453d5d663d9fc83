"""Formats of numbers, times and sizes on pages. Pure, except `ago`, which reads the clock."""

import re
from datetime import UTC, datetime
from math import isfinite

from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

MISSING = "—"
MINUS = "\u2212"
SPACE = "\u202f"
"""A narrow no-break space: between thousands, and between a number and its unit."""

UNITS = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?B(?:/s)?|m?s|min|files?|runs?)(?!\w))")
LIMIT = re.compile(r"(at least|at most|below|above) (\d+)")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def number(value: object, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, grouped thousands and a true minus."""
    if not isinstance(value, int | float) or not _is_number(value):
        return MISSING if value is None else str(value)
    if isinstance(value, int) or abs(value) >= 10**digits:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
        if "e" in text:
            text = f"{value:.2e}"
    return text.replace(",", SPACE).replace("-", MINUS)


def minus(text: object) -> str:
    """Turn the hyphen of a negative number into a true minus."""
    return str(text).replace("-", MINUS)


def direction(lower_is_better: object) -> str:
    """Return which way a metric is better as text; None: neither."""
    if lower_is_better is None:
        return "neither way is better"
    return "lower is better" if lower_is_better else "higher is better"


def percent(share: object) -> str:
    """Write a share of 1 as a percentage: 0.057 is 5.7 %."""
    if not isinstance(share, int | float) or not _is_number(share):
        return MISSING
    return f"{_percentage(share * 100)}{SPACE}%"


def _percentage(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}".removesuffix(".0")
    return ("0" if text == "-0" else text).replace("-", MINUS)


def duration(seconds: object) -> str:
    """Write a measured time: 320 ms, 8.93 s, 22.8 s, 10:36, 1:02:03."""
    if not isinstance(seconds, int | float) or not _is_number(seconds):
        return MISSING
    sign, size = (MINUS, -seconds) if seconds < 0 else ("", seconds)
    if size < 0.9995:
        return f"{sign}{size * 1000:.3g}{SPACE}ms" if size else f"0{SPACE}s"
    if size < 9.995:
        return f"{sign}{size:.2f}{SPACE}s"
    if size < 59.95:
        return f"{sign}{size:.1f}{SPACE}s"
    minutes, rest = divmod(round(size), 60)
    hours, minutes = divmod(minutes, 60)
    return sign + (f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}")


def about(seconds: object) -> str:
    """Format an expected time with at most two units: 40 s, 3 min, 5 h 28 min, 2 d 4 h."""
    if not isinstance(seconds, int | float) or not _is_number(seconds):
        return MISSING
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}{SPACE}s" if whole else f"under 1{SPACE}s"
    parts = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
    size, name, below, small = next(part for part in parts if whole >= part[0])
    first, rest = divmod(whole, size)
    second = rest // below
    if name == "min" and first >= 10:
        return f"{round(whole / 60)}{SPACE}min"
    return f"{first}{SPACE}{name}" + (f" {second}{SPACE}{small}" if second else "")


def size(count: object) -> str:
    """Write a number of bytes in decimal units: 4.19 MB."""
    if not isinstance(count, int | float) or not _is_number(count):
        return MISSING
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 999.5:
            return f"{number(float(f'{value:.3g}'))}{SPACE}{unit}"
        value /= 1000
    return f"{number(value)}{SPACE}TB"


def quantity(value: object, unit: str) -> str:
    """Format a value with its unit."""
    if value is None:
        return MISSING
    if unit == "s":
        return duration(value)
    if unit == "share":
        return percent(value)
    if unit == "B":
        return size(value)
    return number(value) if unit in {"", "count"} else f"{number(value)}{SPACE}{unit}"


def ordinal(number: int) -> str:
    """Format an ordinal number: 1st, 2nd, 3rd, 11th."""
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def unbroken(text: object) -> str:
    """Put no-break spaces between the numbers and units of a sentence."""
    return UNITS.sub("\u00a0", str(text))


def breakable(text: object) -> SafeString:
    """Allow line breaks in a long name after slashes and commas only."""
    return mark_safe(re.sub(r"([/,])(?=\w)", r"\1<wbr>", escape(text)))  # noqa: S308 - escaped here


def observed(value: object, unit: str) -> str:
    """Format an expected or observed value of a proof: a number, or a limit as text."""
    if isinstance(value, bool) or value is None:
        return "none" if value is None else "on" if value else "off"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int | float):
        return quantity(value, unit or "count")
    limit = LIMIT.fullmatch(str(value))
    return f"{limit[1]} {quantity(int(limit[2]), unit)}" if limit else str(value)


def instant(value: datetime | str | None) -> SafeString | str:
    """Format an instant in UTC, to the second, as a `time` element."""
    moment = _moment(value)
    if moment is None:
        return MISSING
    return format_html(
        '<time datetime="{}">{}</time>', moment.isoformat(), f"{moment:%Y-%m-%d %H:%M:%S}"
    )


def ago(value: datetime | str | None) -> SafeString | str:
    """Format the time since an instant as a `time` element, with the instant as title."""
    moment = _moment(value)
    if moment is None:
        return MISSING
    seconds = (timezone.now() - moment).total_seconds()
    text = "just now" if seconds < 1 else f"{about(seconds)} ago"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        text,
    )


def _moment(value: datetime | str | None) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    return value.astimezone(UTC) if value is not None else None
