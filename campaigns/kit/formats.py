"""Format instants, names and proofs on pages. Pure, except `ago` and `age`, which read the clock. Numbers: `numbers`."""

import re
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from campaigns.kit.numbers import MINUS, MISSING, about, amount, counted

UNITS = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?B(?:/s)?|m?s|min|files?|runs?)(?!\w))")
DATED_DAYS = 60
LIMIT = re.compile(r"(at least|at most|below|above) (\d+)")


def minus(text: object) -> str:
    """Turn the hyphen of a negative number into a true minus."""
    return str(text).replace("-", MINUS)


def direction(lower_is_better: object) -> str:
    """Return which way a metric is better as text; None: neither."""
    if lower_is_better is None:
        return "neither way is better"
    return "lower is better" if lower_is_better else "higher is better"


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
        return amount(value, unit)
    limit = LIMIT.fullmatch(str(value))
    return f"{limit[1]} {amount(int(limit[2]), unit)}" if limit else str(value)


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
    text = "just now" if seconds < 1 else f"{unbroken(about(seconds))} ago"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        text,
    )


def age(value: datetime | str | None) -> SafeString | str:
    """Format the age of an answer: as `ago` for a day, then in days, and from 60 days on as its date."""
    moment = _moment(value)
    days = (timezone.now() - moment).days if moment else 0
    if moment is None or days < 1:
        return ago(value)
    text = counted(days, "day") + " ago" if days < DATED_DAYS else f"{moment:%Y-%m-%d}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        unbroken(text),
    )


def _moment(value: datetime | str | None) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    return value.astimezone(UTC) if value is not None else None
