"""What a line of the log belongs to: a web request, or an attempt. Knows no Django.

Threads begin without it; one that works for an attempt is started in a copy of the context.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

NAMES = ("request", "campaign", "run", "attempt")

_context: ContextVar[Mapping[str, Any] | None] = ContextVar("log_context", default=None)


def current() -> Mapping[str, Any]:
    """What lines belong to now, by name."""
    return _context.get() or {}


def add(**values: Any) -> None:
    """Let the lines from here on belong to these as well; `run` is its position in the campaign."""
    if unknown := set(values) - set(NAMES):
        raise ValueError(
            f"Lines belong to {', '.join(NAMES)}; {', '.join(unknown)} is none of them."
        )
    _context.set({**current(), **values})


def clear() -> None:
    """Let the lines from here on belong to nothing."""
    _context.set(None)
