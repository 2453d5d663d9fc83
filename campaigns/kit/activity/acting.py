"""Who acts at the moment, and by which means: known to whatever is called, without being passed on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from django.contrib.auth.models import User

BROWSER, COMMAND, SYSTEM = "browser", "command", "system"


@dataclass(frozen=True, slots=True)
class Acting:
    """By which means something is done, and who is asked when somebody wants to know by whom."""

    means: str = SYSTEM
    user: Callable[[], User | None] = lambda: None


_acting: ContextVar[Acting] = ContextVar("acting", default=Acting())  # noqa: B039 - it is frozen


@contextmanager
def by_means(of: str) -> Iterator[None]:
    """Let what is recorded inside be done by these means: browser, command, or a token by its name."""
    with _as(replace(_acting.get(), means=of)):
        yield


@contextmanager
def by_request(user: Callable[[], User | None]) -> Iterator[None]:
    """Let what is recorded inside be done by whoever sends a web request; `user` says who that is."""
    with _as(Acting(BROWSER, user)):
        yield


def set_means(of: str) -> None:
    """Say, within `by_request`, by which other means it came."""
    _acting.set(replace(_acting.get(), means=of))


def token_means(name: str) -> str:
    """How a token is named as the means."""
    return f"token “{name}”"


def means() -> str:
    """By which means something is done at the moment."""
    return _acting.get().means


def who() -> User | None:
    """Who sent the request; None for commands and tasks."""
    return _acting.get().user()


@contextmanager
def _as(acting: Acting) -> Iterator[None]:
    token = _acting.set(acting)
    try:
        yield
    finally:
        _acting.reset(token)
