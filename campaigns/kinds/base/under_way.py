"""Remove what a run made, also what the server makes only after the run has ended.

A request that was under way when its connection was closed may take effect later: the server commits it all the same.
So a clean-up that looks once finds nothing, and something appears afterwards. It looks again until nothing has appeared
for a time that comes from how long requests took.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from campaigns.kinds.base.values import Context

MARGIN = 2.0
"""How much longer than the longest answered request one that was not answered is waited for."""
LEAST_SECONDS = 1.0
UNMEASURED_SECONDS = 30.0
"""How long nothing must appear if no request was answered that could be measured."""
MOST_SECONDS = 240.0
"""How long a clean-up looks, at most."""


def note(context: Context, longest_seconds: float | None) -> None:
    """Note that a request of this attempt was under way when its connection was closed.

    longest_seconds: how long a request took or had waited, at the most; None: none was answered.
    """
    noted = _noted(context)
    context.directory.mkdir(parents=True, exist_ok=True)
    _file(context).write_text(json.dumps([*noted, longest_seconds]))


@dataclass(frozen=True, slots=True)
class Patience:
    """How a clean-up waits for what may appear: for how many seconds nothing must; 0: nothing can.

    most_later: how many things can appear after the first look; None: unknown.
    """

    seconds: float
    most_later: int | None = None


def patience_of(context: Context) -> Patience:
    """Return how long a clean-up of this attempt waits. Each request that was noted makes at most one thing."""
    noted = _noted(context)
    known = [each for each in noted if each is not None]
    if noted and not known:
        return Patience(UNMEASURED_SECONDS, len(noted))
    seconds = min(MOST_SECONDS, max(LEAST_SECONDS, MARGIN * max(known))) if known else 0.0
    return Patience(seconds, len(noted))


def _noted(context: Context) -> list[float | None]:
    file = _file(context)
    noted: list[float | None] = json.loads(file.read_text()) if file.is_file() else []
    return noted


def _file(context: Context) -> Path:
    return context.directory / "under-way.json"


@dataclass(frozen=True, slots=True)
class Removed:
    """What a clean-up removed: at its first look, and later.

    last_seconds: from the first look until the last one that found something. quiet_seconds: for how long nothing appeared then.
    settled: whether that was long enough, or everything that could appear was removed.
    """

    at_first: int
    later: int = 0
    last_seconds: float = 0.0
    quiet_seconds: float = 0.0
    looked_again: bool = False
    settled: bool = True

    @property
    def count(self) -> int:
        """How many were removed."""
        return self.at_first + self.later

    def text(self, things: str) -> str:
        """Return what was removed, and what may be left. things: their plural, such as hosts."""
        text = f"{self.count} {things} removed"
        if self.later:
            text += f", {self.later} of them appeared up to {self.last_seconds:.1f} s after the first look"
        if not self.settled:
            return f"{text}; they still appeared then, so some may be left"
        return (
            f"{text}; nothing more appeared for {self.quiet_seconds:.1f} s"
            if self.looked_again
            else text
        )


def remove_until_quiet(
    remove: Callable[[], int],
    patience: Patience,
    rest: Callable[[float], None],
    *,
    expected: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Removed:
    """Call `remove`, which returns how many it found and removed, until it finds nothing for long enough.

    rest: waits before the next look; it takes the seconds since something appeared last. expected: how many there can be; None:
    unknown. What appears late has taken at least as long, so others are waited for as long from then on.
    """
    began = last = clock()
    at_first, later, looked_again = remove(), 0, False
    seconds, most_later = patience.seconds, patience.most_later

    def is_all() -> bool:
        return (expected is not None and at_first + later >= expected) or (
            most_later is not None and later >= most_later
        )

    while clock() - last < seconds and not is_all():
        if clock() - began >= MOST_SECONDS:
            return Removed(
                at_first, later, last - began, clock() - last, looked_again, settled=False
            )
        rest(clock() - last)
        looked_again = True
        if found := remove():
            later, last = later + found, clock()
            seconds = max(seconds, last - began)
    return Removed(at_first, later, last - began, clock() - last, looked_again)
