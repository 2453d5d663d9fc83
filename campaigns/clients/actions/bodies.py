"""What a body of JSON may hold, so that it can be stored and sent. Pure."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

DEEPEST = 16


def flaw_of(body: Any, depth: int = 0) -> str:
    """Say why a body can be neither stored nor sent; empty where it can."""
    if depth > DEEPEST:
        return f"It is nested deeper than {DEEPEST} levels."
    if isinstance(body, float):
        return "" if isfinite(body) else "It holds a number that JSON does not have."
    if isinstance(body, str):
        return _flaw_of_text(body)
    parts = [*body, *body.values()] if isinstance(body, Mapping) else body
    if not isinstance(parts, list | tuple):
        return ""
    return next((flaw for part in parts if (flaw := flaw_of(part, depth + 1))), "")


def _flaw_of_text(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        return "It holds U+0000 or half of a surrogate pair."
    return ""
