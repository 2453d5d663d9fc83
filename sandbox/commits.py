"""Transactions that a simulator holds: a change is taken in, and has its effect later, whether its client waits or not."""

import asyncio
from dataclasses import dataclass, field


class RolledBack(Exception):
    """The transaction is not committed."""


@dataclass(slots=True, eq=False)
class Commits:
    """The transactions that are held now."""

    _held: set[asyncio.Future[bool]] = field(default_factory=set)

    def __len__(self) -> int:
        """Count them."""
        return len(self._held)

    async def wait(self, seconds: float) -> None:
        """Hold a transaction until it is committed: after so many seconds, or by `end`. Raise RolledBack."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._held.add(done)
        timer = asyncio.get_running_loop().call_later(seconds, self._end, done, True)
        try:
            if not await done:
                raise RolledBack
        finally:
            timer.cancel()
            self._held.discard(done)

    def end(self, *, commit: bool) -> None:
        """Commit all that are held, or roll them back."""
        for done in self._held:
            self._end(done, commit)

    def _end(self, done: asyncio.Future[bool], commit: bool) -> None:
        if not done.done():
            done.set_result(commit)
