"""Removes secrets from what is stored, logged or sent. Covers the secrets that this process has decrypted.

The error of a driver may quote its input, as it is or as it was encoded for sending.
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
"""Letters; shorter secrets occur in ordinary words, and are not removed."""

ORDINARY = frozenset({"password"})
"""Passwords that are words of our own messages: removing them protects nobody, and makes messages unreadable."""

Value = TypeVar("Value")
_forms: dict[str, None] = {}
_secrets: set[str] = set()


def remember(secret: str) -> None:
    """Remove this secret from now on, in each of its encoded forms."""
    if len(secret) < SHORTEST or secret in ORDINARY or secret in _secrets:
        return
    _secrets.add(secret)
    known = {*_forms, *forms_of(secret)}
    _forms.clear()
    _forms.update(dict.fromkeys(sorted(known, key=len, reverse=True)))


def redact(text: str) -> str:
    """Return the text without remembered secrets."""
    if len(text) < SHORTEST:
        return text
    for form in tuple(_forms):
        if form in text:
            text = text.replace(form, REDACTED)
    return text


def begin_of(text: str, letters: int) -> str:
    """Return the begin of a text without remembered secrets, and without the begin of one in which the text is cut.

    To cut first and remove secrets afterwards would leave half of a secret, at a place that whoever gives the text chooses.
    """
    begin = text[:letters]
    if len(text) > letters:
        begin = begin[
            : len(begin) - max((_begun(begin, form) for form in tuple(_forms)), default=0)
        ]
    return redact(begin)[:letters]


def _begun(text: str, form: str) -> int:
    """Return how many letters of a form, if it is not whole, a text ends with."""
    sizes = range(len(form) - 1, 0, -1)
    return next((size for size in sizes if text.endswith(form[:size])), 0)


def redact_all(value: Value) -> Value:
    """Return a value without secrets in any text within mappings, lists and dataclasses."""
    result: Any = value
    if isinstance(value, str):
        result = redact(value)
    elif isinstance(value, Mapping):
        result = {redact_all(key): redact_all(inner) for key, inner in value.items()}
    elif isinstance(value, list | tuple):
        inner = [each if isinstance(each, int | float) else redact_all(each) for each in value]
        make = getattr(value, "_make", type(value))  # a NamedTuple takes its fields one by one
        result = make(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: redact_all(getattr(value, each.name)) for each in fields(value)}
        result = replace(value, **changed)
    return result  # type: ignore[no-any-return]


def forms_of(secret: str) -> Iterator[str]:
    """Yield the forms of a secret: as it is, and encoded for URL, JSON, HTML, Python, shell, SQL, hex and base64."""
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
        plain |= {escaped, re.sub("%..", lambda match: match.group().lower(), escaped)}
    yield from plain
    for offset in range(3):  # "user:password" is encoded as one text, so the secret begins anywhere
        code = b64encode(b"\0" * offset + raw).decode()
        inner = code[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")


def storable(text: str) -> str:
    """Remove secrets, and what PostgreSQL cannot store in a text: NUL and lone surrogates."""
    return redact(text).encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
