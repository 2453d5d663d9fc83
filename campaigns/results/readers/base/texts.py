"""Parse texts, numbers and instants as tools write them."""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from campaigns.results.readers.base.problems import refuse

MOST_LETTERS = 2000
LEVEL_LETTERS = 500
EARLIEST, LATEST = 631_152_000, 4_102_444_800  # 1990, 2100
INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,12})?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)


def clean(text: str, most: int = MOST_LETTERS) -> str:
    """Remove characters that cannot be shown or stored, and shorten."""
    return "".join(letter if letter.isprintable() else " " for letter in text[: most * 2]).strip()[
        :most
    ]


def number_of(text: str) -> float | None:
    """Read a finite decimal number, at most 1e300; None for anything else."""
    if not NUMBER.fullmatch(text.strip()):
        return None
    value = float(text)
    return value if math.isfinite(value) and abs(value) <= 1e300 else None


def number_from_0(text: str, where: str) -> float:
    """Read a finite decimal number, at least 0. Raise BadFile for anything else."""
    number = number_of(text)
    if number is None or number < 0:
        refuse(where, f"“{text[:40]}” is no number from 0.")
    return number


def instant_of(text: str) -> datetime | None:
    """Read an ISO 8601 instant (without offset: UTC) of the years 1990 to 2099; None otherwise."""
    match = INSTANT.fullmatch(text.strip())
    if match is None:
        return None
    day, time, fraction, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{zone or '+00:00'}")
        moment = moment.replace(microsecond=int(((fraction or ".") + "000000")[1:7]))
        return moment if EARLIEST <= moment.timestamp() < LATEST else None
    except (ValueError, OverflowError):
        return None


def instant_at(seconds: float) -> datetime | None:
    """Return the instant so many seconds after 1970, of the years 1990 to 2099; None otherwise."""
    if not EARLIEST <= seconds < LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def outputs(text: str, begin: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str, str]]:
    """Split a text at each match of `begin`; return the match, its part, and “line n” for messages."""
    match = begin.search(text)
    line, counted = 1, 0
    while match:
        following = begin.search(text, match.end())
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield match, text[match.start() : following.start() if following else None], f"line {line}"
        match = following
