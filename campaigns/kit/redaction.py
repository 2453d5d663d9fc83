"""Takes secrets out of what is stored, logged or passed on. Knows only what this process has opened.

A driver's error may quote what it was given, as it stands or as it went over the wire.
"""

import html
import json
import re
import shlex
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

REDACTED = "[secret]"
SHORTEST = 6
"""Letters; what is shorter is found in ordinary words, and is not looked for."""

ORDINARY = frozenset({"password"})
"""Passwords that are words of our own sentences: to take them out protects nobody, and hides what is said."""

Value = TypeVar("Value")
_forms: dict[str, None] = {}
_secrets: set[str] = set()


def remember(secret: str) -> None:
    """Take this secret out of everything from now on, in every form that it may come in."""
    if len(secret) < SHORTEST or secret in ORDINARY or secret in _secrets:
        return
    _secrets.add(secret)
    known = {*_forms, *_written(secret)}
    _forms.clear()
    _forms.update(dict.fromkeys(sorted(known, key=len, reverse=True)))


def redact(text: str) -> str:
    """Return the text without any secret that is remembered."""
    if len(text) < SHORTEST:
        return text
    for form in tuple(_forms):
        if form in text:
            text = text.replace(form, REDACTED)
    return text


def redact_all(value: Value) -> Value:
    """Do so with every text within mappings, lists and dataclasses."""
    found: Any = value
    if isinstance(value, str):
        found = redact(value)
    elif isinstance(value, Mapping):
        found = {redact_all(key): redact_all(inner) for key, inner in value.items()}
    elif isinstance(value, list | tuple):
        inner = [each if isinstance(each, int | float) else redact_all(each) for each in value]
        make = getattr(value, "_make", type(value))  # a NamedTuple takes its fields one by one
        found = make(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: redact_all(getattr(value, each.name)) for each in fields(value)}
        found = replace(value, **changed)
    return found  # type: ignore[no-any-return]


def _written(secret: str) -> Iterator[str]:
    """The forms of a secret: as it is, and as URL, JSON, HTML, Python, shell, SQL and wire have it."""
    raw = secret.encode(errors="surrogateescape")
    plain = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        html.escape(secret),
        repr(secret)[1:-1],
        repr(raw)[2:-1],
        shlex.quote(secret)[1:-1] if shlex.quote(secret) != secret else secret,
        secret.replace("'", "''"),
        raw.hex(),
    }
    for escaped in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        plain |= {escaped, re.sub("%..", lambda found: found.group().lower(), escaped)}
    yield from plain
    for before in range(3):  # "user:password" is encoded as one; where it begins is not known
        code = b64encode(b"\0" * before + raw).decode()
        inner = code[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")


def storable(text: str) -> str:
    """Take out secrets, and what PostgreSQL takes in no text: NUL, and halves of surrogate pairs."""
    return redact(text).encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
