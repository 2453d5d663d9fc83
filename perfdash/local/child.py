"""One supervised service: its process, its starts and ends, how long it is waited for. Starts nothing."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from perfdash.local.process import Process, Service, describe_end

FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 10.0
STABLE_SECONDS = 30.0
KEPT_LINES = 100
MOST_FALSE_STARTS = 6  # 13 s and the starts themselves
MOST_FALSE_STARTS_LATER = 30  # four minutes: a port or a disk may be taken for that long
QUIET_SECONDS = 60.0
LONGEST_SECONDS = 1800.0
LOOK_SECONDS = 1.0
FIRST_REPORT_SECONDS = 10.0
LEAST_USED_SECONDS = 0.1  # in QUIET_SECONDS; what only waits wakes up now and then
FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}


@dataclass(slots=True)
class Child:
    """A service with its current process, or the instant of its next start.

    `false_starts` counts ends in a row that were the service's own doing before it was ready. What
    came up once gets more of them before it is given up.
    """

    service: Service
    process: Process | None = None
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
    written: int = 0

    def begin(self, process: Process) -> None:
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


class Patience:
    """How long somebody waits: while there is progress, but not for ever.

    written: bytes of output so far. used: seconds that were computed so far. wants: whether it waits for a
    processor or a disk, which others may keep busy. A slow machine takes minutes for what takes seconds
    elsewhere; what hangs does none of these.
    """

    def __init__(
        self,
        written: Callable[[], int],
        used: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        wants: Callable[[], bool] = lambda: False,
    ) -> None:
        """Begin to wait."""
        self._written, self._used, self._clock, self._wants = written, used, clock, wants
        self._began = self._moved = self._looked = clock()
        self._seen_written, self._seen_used = written(), used()
        self._next_report = FIRST_REPORT_SECONDS

    def exhausted(self) -> str:
        """Say why it is not worth waiting any longer; empty while it is."""
        now = self._clock()
        if now - self._looked < LOOK_SECONDS:
            return ""
        self._looked = now
        self._look(now)
        if now - self._moved > QUIET_SECONDS:
            return (
                f"is not ready after {now - self._began:.0f} s, and has done nothing for the last "
                f"{QUIET_SECONDS:.0f} s: it wrote nothing and used no processor time"
            )
        if now - self._began > LONGEST_SECONDS:
            return f"is still busy, and not ready after {LONGEST_SECONDS / 60:.0f} minutes"
        return ""

    def report(self) -> str:
        """Return how long the wait has been and what was seen, after 10, 20, 40 … seconds; else nothing."""
        waited = self._clock() - self._began
        if waited < self._next_report:
            return ""
        self._next_report *= 2
        quiet = self._clock() - self._moved
        seen = "it is at work" if quiet < FIRST_REPORT_SECONDS else f"quiet for {quiet:.0f} s"
        return f"{waited:.0f} s so far, {seen}"

    def _look(self, now: float) -> None:
        written, used = self._written(), self._used()
        if (
            written != self._seen_written
            or used - self._seen_used >= LEAST_USED_SECONDS
            or self._wants()
        ):
            self._moved = now
            self._seen_written, self._seen_used = written, used
        self._seen_used = min(self._seen_used, used)  # it was started again
