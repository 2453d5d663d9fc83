"""One supervised service: its current process, and the book of its starts and ends. Starts nothing."""

import signal
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from perfdash.local.process import Service, describe_end

FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 10.0
STABLE_SECONDS = 30.0
KEPT_LINES = 100
MOST_FALSE_STARTS = 6  # 13 s and the starts themselves
MOST_FALSE_STARTS_LATER = 30  # four minutes: a port or a disk may be taken for that long
FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}


@dataclass(slots=True)
class Child:
    """A service with its current process, or the instant of its next start.

    `false_starts` counts ends in a row that were the service's own doing before it was ready. What
    came up once gets more of them before it is given up.
    """

    service: Service
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    since: datetime | None = None
    ready: bool = False
    asked: float = float("-inf")
    starts: int = 0
    ended: float = float("-inf")
    last_end: str = ""
    false_starts: int = 0
    most_false_starts: int = MOST_FALSE_STARTS
    delay: float = 0.0
    due: float = 0.0
    output: list[str] = field(default_factory=list)

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """Take note of a start."""
        self.process = process
        self.started = time.monotonic()
        self.since = datetime.now(UTC)
        self.ready = False
        self.starts += 1
        self.output = []

    def check(self) -> bool:
        """Say whether the service is ready, or was since its start."""
        if not self.ready and self.process is not None and self.service.ready is not None:
            self.ready = self.service.ready(self.process.pid)
            self.asked = time.monotonic()
        return self.ready

    @property
    def hopeless(self) -> bool:
        """Whether it is not worth another start."""
        return self.false_starts >= self.most_false_starts

    @property
    def came_up(self) -> bool:
        """Whether it was ready; without a way to ask, whether it lived for a while."""
        return self.ready or time.monotonic() - self.started > STABLE_SECONDS

    def end(self, code: int, *, excused: bool) -> None:
        """Take note of an end, and plan the next start. An `excused` one is no false start."""
        now = time.monotonic()
        killed = code < 0 and -code in FROM_OUTSIDE
        if self.came_up:
            self.false_starts = 0
            self.most_false_starts = MOST_FALSE_STARTS_LATER
        elif not excused and not killed:
            self.false_starts += 1
        if now - self.started > STABLE_SECONDS or (killed and self.ready):
            self.delay = 0.0
        self.delay = min(max(2 * self.delay, FIRST_DELAY_SECONDS), LONGEST_DELAY_SECONDS)
        self.ended = now
        self.last_end = f"{describe_end(code)} at {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        self.since = None
        self.ready = False
        self.due = now + self.delay

    def remember(self, lines: list[str]) -> None:
        """Keep the end of the output."""
        self.output = [*self.output, *lines][-KEPT_LINES:]
