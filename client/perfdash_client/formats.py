"""How numbers are written, as on perfdash's pages: 18:29, 1,206 MB/s, −24.0 %. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

MINUS = "−"
CLOCK_ABOVE_SECONDS = 120


def number(value: float) -> str:
    """Write three significant digits, and whole numbers from 100 on with commas."""
    if not math.isfinite(value):
        return "—"
    text = f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", MINUS)


def amount(value: float | None, unit: str) -> str:
    """Write a value with its unit; a dash where there is none."""
    if value is None:
        return "—"
    if unit in ("B", "B/s"):
        value, unit = value / 1e6, unit.replace("B", "MB")
    if unit == "s":
        return seconds(value)
    if unit == "share":
        return f"{number(100 * value)} %"
    if unit in ("", "count"):
        return number(value)
    return f"{number(value)} {unit}"


def seconds(value: float) -> str:
    """Write a duration: 0.61 s, 18:29, 26:01:40."""
    if not math.isfinite(value) or abs(value) <= CLOCK_ABOVE_SECONDS:
        return f"{number(value)} s"
    whole = math.floor(abs(value) + 0.5)
    sign, hours = MINUS if value < 0 else "", whole // 3600
    if hours:
        return f"{sign}{hours}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{sign}{whole // 60}:{whole % 60:02d}"


def percent(value: float | None) -> str:
    """Write a change with its sign; a dash where there is none."""
    if value is None:
        return "—"
    text = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.1f}"
    plain = text[1:] if not text.strip("+-0.") else text.replace("-", MINUS)
    return f"{plain} %"


def about(value: float) -> str:
    """Write how long something still takes, roughly."""
    if value < 90:
        return f"about {max(1, round(value))} s"
    if value < 5400:
        return f"about {round(value / 60)} min"
    return f"about {value / 3600:.1f} h"


def span(low: float | None, high: float | None, unit: str) -> str:
    """Write an interval; empty where there is none."""
    if low is None or high is None:
        return ""
    return f"{amount(low, unit)} … {amount(high, unit)}"


def span_percent(low: float | None, high: float | None) -> str:
    """Write an interval of changes; empty where there is none."""
    if low is None or high is None:
        return ""
    return f"{percent(low).removesuffix(' %')} … {percent(high)}"


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
