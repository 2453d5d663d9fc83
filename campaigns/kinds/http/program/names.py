"""Names in texts of a scenario: `{name}` is replaced by a value, `{{name}}` stands for `{name}`. Pure.

Anything else in braces is text, so that a body may be written as JSON.
"""

import re
from collections.abc import Iterator
from typing import Any

GIVEN = {
    "host": "the number of the virtual host, from 0",
    "round": "the number of the host's round, from 0",
    "number": "a number of this round that no other round of the run has",
    "uuid": "a UUID of this round, the same in each run",
    "attempt": "the number of the attempt",
    "target_user": "the target's user",
    "target_password": "the target's password; not in a path",
}
"""Names that every scenario knows."""
PASSWORD = "target_password"  # noqa: S105 - the name, not a password
RANDOM = "random"
WRITTEN = re.compile(
    r"\{\{(?P<literal>[A-Za-z_][A-Za-z0-9_]*(?::[^{}]*)?)\}\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*(?::[^{}]*)?)\}"
)
RANGE = re.compile(r"random:(-?\d{1,15})-(-?\d{1,15})\Z")


def split(text: str) -> list[tuple[str, bool]]:
    """Return the parts of a text: (text, False), or (name, True) for what is replaced. Empty texts are left out."""
    parts: list[tuple[str, bool]] = []
    literal, end = "", 0
    for match in WRITTEN.finditer(text):
        literal += text[end : match.start()]
        end = match.end()
        if match["literal"] is not None:
            literal += f"{{{match['literal']}}}"
            continue
        if literal:
            parts.append((literal, False))
        literal = ""
        parts.append((match["name"], True))
    literal += text[end:]
    return [*parts, (literal, False)] if literal else parts


def names_in(text: str) -> Iterator[str]:
    """Yield the names that a text asks for."""
    for part, is_name in split(text):
        if is_name:
            yield part


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts within a value of JSON, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def range_of(name: str) -> tuple[int, int] | None:
    """Return the bounds of `random:1-100`; None for another name, or where the first is larger."""
    match = RANGE.match(name)
    if match is None or int(match[1]) > int(match[2]):
        return None
    return int(match[1]), int(match[2])
