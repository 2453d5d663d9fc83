"""Limits the requests of the tasks of an event loop to the rate that a target's owner allows. Standard library only."""

import asyncio

from campaigns.kit.http.pacing import Pacer


class Tasks:
    """A pacer for the tasks of an event loop."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._queue = asyncio.Lock()

    async def turn(self) -> float:
        """Wait until a request may begin; return the seconds that it waited."""
        requested_at = self._pacer.clock()
        async with self._queue:
            while (left := self._pacer.left()) > 0:
                await asyncio.sleep(left)
            return self._pacer.begin(requested_at)
