"""What lines of the log belong to: a web request, or an attempt. No Django.

Threads begin without it; one that works for an attempt is started in a copy of the context.
"""

from contextvars import ContextVar
from typing import Any

from campaigns.kit.mappings import Json

NAMES = ("request", "campaign", "run", "attempt")

_context: ContextVar[Json | None] = ContextVar("log_context", default=None)


def current() -> Json:
    """Return the current values by name."""
    return _context.get() or {}


def add(**values: Any) -> None:
    """Add values to the lines that follow; `run`: its position in the campaign."""
    if unknown := set(values) - set(NAMES):
        raise ValueError(
            f"Lines belong to {', '.join(NAMES)}; {', '.join(unknown)} is none of them."
        )
    _context.set({**current(), **values})


def clear() -> None:
    """Remove all values."""
    _context.set(None)
