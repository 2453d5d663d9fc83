"""What an answer says, of its text or of what REST gives of it."""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins


def caveats_of(answer: Any) -> str:
    """Return all caveats, the worst first."""
    said = _of(answer)
    return " ".join(filter(None, (said["caveat"], *said["further"])))


def details_of(answer: Any) -> str:
    """Return all statements."""
    return " ".join(each["text"] for each in _of(answer)["statements"])


def all_said(answer: Any) -> str:
    """Return verdict, certainty, caveats and statements."""
    said = _of(answer)
    return " ".join((said["sentence"], said["certainty"], caveats_of(answer), details_of(answer)))


def _of(answer: Any) -> Mapping[str, Any]:
    return answer if isinstance(answer, Mapping) else to_builtins(answer)
