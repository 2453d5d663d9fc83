"""What readers of foreign files return: requests as they were sent or are described, with their answers where these are known. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

OPENS, CLOSES = "\ue000", "\ue001"
"""Around the key of a value that is filled in later, within any text of a request: `=name` of a name, else the number of an offer."""
MOST_SHOWN = 3
"""Messages of one sort that are shown of a file."""
MOST_NEEDED = 5
MARKS = re.compile(f"({OPENS}[^{OPENS}{CLOSES}]*{CLOSES})")


class BadImport(ValueError):
    """A file cannot be read; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. type: its media type, in lower case without parameters."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request. url: whole, or a path on whatever server is the target.

    name: what its author calls it. why_not: why it is not proposed; empty where it is. began_at, seconds: when, and how long it took.
    columns: values by name for the names in its texts. basic: it is signed in by user and password. needs_token: by something else.
    """

    method: str
    url: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""
    type: str = ""
    reply: Reply | None = None
    status: int = 0
    name: str = ""
    why_not: str = ""
    began_at: float | None = None
    seconds: float = 0.0
    columns: Mapping[str, Any] = field(default_factory=dict)
    basic: bool = False
    needs_token: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """All requests of a file, in order. left_out: messages about what is not among them; hints: about what is."""

    format: str
    requests: list[Recorded]
    left_out: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def named(name: str) -> str:
    """Return the mark that stands for a name of the scenario."""
    return f"{OPENS}={name}{CLOSES}"


def quoted(text: str, safe: str) -> str:
    """Return a text percent-encoded, but for its marks."""
    return "".join(
        part if part.startswith(OPENS) else quote(part, safe=safe) for part in MARKS.split(text)
    )


def some_of(messages: Sequence[str]) -> str:
    """Return the first few messages of many as sentences, and how many more there are."""
    shown = " ".join(f"{each.rstrip('.')}." for each in messages[:MOST_SHOWN])
    more = len(messages) - MOST_SHOWN
    return f"{shown} {more:,} more like that." if more > 0 else shown


def needs(names: Iterable[str]) -> str:
    """Return why a request that needs values is not proposed; empty where it needs none."""
    known = [without_marks(each)[:60] for each in dict.fromkeys(names)]
    more = len(known) - MOST_NEEDED
    shown = ", ".join(known[:MOST_NEEDED]) + (f" and {more} more" if more > 0 else "")
    return f"it needs values: {shown}" if known else ""


def without_marks(text: str) -> str:
    """Return a text of a file without the characters that marks are made of."""
    return text.replace(OPENS, "").replace(CLOSES, "")
