"""A job of a virtual host, and the script that it pretends to run. Pure but for the event of asyncio that cancels a job."""

import asyncio
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

KILLED = -1
"""The exit code that a real host reports of a script that a signal ended."""


@dataclass(slots=True)
class Job:
    """A job of a host. Instants are of perf_counter_ns, 0 where there is none. told: how often its start was published.

    started_ns: when its script began, where it does not begin as soon as it is there (by SSH).
    """

    uuid: str
    told: int = 1
    notified_ns: int = 0
    fetched_ns: int = 0
    started_ns: int = 0
    finished_ns: int = 0
    sha256: str = ""
    script_bytes: int = 0
    exit_code: int | None = None
    failure: str = ""
    words: str = ""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether the proxy knows its end, or the host has failed with it."""
        return bool(self.finished_ns or self.failure)

    async def cancelled_within(self, seconds: float) -> bool:
        """Wait, and return whether the job was cancelled meanwhile."""
        if seconds <= 0:
            return self.cancelled.is_set()
        try:
            async with asyncio.timeout(seconds):
                return await self.cancelled.wait()
        except TimeoutError:
            return False


@dataclass(frozen=True)
class Script:
    """What each of `hosts` pretends to run. least_seconds, most_seconds: evenly spread over the hosts.

    failed_percent: of all hosts, which exit with `failed_exit_code`. The same seed gives the same hosts and times.
    """

    hosts: int
    least_seconds: float = 0.0
    most_seconds: float = 0.0
    exit_code: int = 0
    failed_percent: float = 0.0
    failed_exit_code: int = 1
    output: str = ""
    seed: int = 1

    def seconds_of(self, number: int) -> float:
        """Return how long the script of a host takes."""
        spread = random.Random(f"{self.seed} seconds {number}")
        return spread.uniform(self.least_seconds, self.most_seconds)

    def exit_code_of(self, number: int) -> int:
        """Return with what the script of a host exits."""
        return self.failed_exit_code if number in self.failing else self.exit_code

    @cached_property
    def failing(self) -> frozenset[int]:
        """The numbers of the hosts whose script fails."""
        count = round(self.hosts * self.failed_percent / 100)
        return frozenset(random.Random(self.seed).sample(range(self.hosts), count))


def updates(output: str, exit_code: int | None) -> bytes:
    """Return the body that a host posts at the end of a job: what it wrote, if anything, and how it ended."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    told: list[dict[str, Any]] = [{"type": "exit", "exit_code": exit_code, "timestamp": now}]
    if output:
        written = {"type": "output", "stream": "stdout", "content": output, "timestamp": now}
        told.insert(0, written)
    return json.dumps({"version": "1", "updates": told}).encode()
