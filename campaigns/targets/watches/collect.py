"""Sample the watches of a target while a run goes on: a thread for each. A watch that breaks is noted, and nothing else. Pure."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from campaigns.kit.ssh.access import HostKeyRefused
from campaigns.targets.watches.base import Access, Source, Span, WatchFailed
from campaigns.targets.watches.recording import Recording

STOP_SECONDS = 5.0
"""Seconds that a source may take to end; a thread that hangs longer is left to itself, and its frames count."""
AT_ONCE_SECONDS = 0.5
"""The same where nobody wants to know what it has seen."""
FETCH_SECONDS = 20.0
"""Seconds for asking the sources that are read after the run."""
BEFORE_SECONDS = 300.0
"""What such a source is asked for before the run, to prove that it sees the target."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Collected:
    """What one watch gave in one run. failure: why it ended, or never began; made, began, ended: monotonic seconds."""

    source: Source
    access: Access
    recording: Recording = field(default_factory=Recording)
    failure: str = ""
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    made: float = field(default_factory=time.monotonic)
    worker_cpu_seconds: float = 0.0


class Collecting:
    """Samples several watches, from `start` to `finish`; both return soon, whatever the sources do."""

    def __init__(self, watches: Sequence[tuple[Source, Access]]) -> None:
        self.watches = [Collected(source, access) for source, access in watches]
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._began_at = datetime.now(UTC).timestamp()

    def start(self) -> None:
        """Begin to sample the live ones."""
        self._began_at = datetime.now(UTC).timestamp()
        for watch in self.watches:
            if watch.source.live:
                self._threads.append(
                    threading.Thread(
                        target=self._sample, args=(watch,), name=watch.source.name, daemon=True
                    )
                )
                self._threads[-1].start()

    def awaited(self) -> bool:
        """Return whether a live watch that still runs has given no frame yet."""
        return any(each.ended is None for each in self.missing())

    def missing(self) -> list[Collected]:
        """Return the live watches that have given no frame, or have ended since."""
        return [
            each
            for each in self.watches
            if each.source.live and (not each.recording.count or each.ended is not None)
        ]

    def unproved(self) -> list[Collected]:
        """Return the watches that do not see the target; those that are asked afterwards are asked for the time before."""
        now = datetime.now(UTC).timestamp()
        asked = [
            Collected(each.source, each.access) for each in self.watches if not each.source.live
        ]
        self._fetch_all(asked, Span(now - BEFORE_SECONDS, now))
        return [*self.missing(), *(each for each in asked if not each.recording.count)]

    def finish(self, *, at_once: bool = False) -> list[Collected]:
        """End the sampling, ask the sources that are not live, and return what all have seen.

        at_once: nothing was measured, or the run was stopped: nobody is asked, or waited for long.
        """
        self._stop.set()
        ends = time.monotonic() + (AT_ONCE_SECONDS if at_once else STOP_SECONDS)
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))
        afterwards = [each for each in self.watches if not each.source.live]
        if at_once:
            for watch in afterwards:
                watch.failure = "It was not asked, since the run was not measured to its end."
        else:
            self._fetch_all(afterwards, Span(self._began_at, datetime.now(UTC).timestamp()))
        for watch in self.watches:
            watch.recording.close()
            if watch.ended is None and not watch.failure and not watch.source.live:
                watch.failure = f"It did not answer within {FETCH_SECONDS:g} s."
        return self.watches

    def _fetch_all(self, watches: Sequence[Collected], span: Span) -> None:
        """Ask sources for what they have recorded, all at the same time."""
        threads = [
            threading.Thread(target=self._fetch, args=(each, span), daemon=True) for each in watches
        ]
        for thread in threads:
            thread.start()
        ends = time.monotonic() + FETCH_SECONDS
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _sample(self, watch: Collected) -> None:
        self._guarded(
            watch, lambda: watch.source.sample(watch.access, watch.recording, self._stop.wait)
        )

    def _fetch(self, watch: Collected, span: Span) -> None:
        self._guarded(watch, lambda: watch.source.fetch(watch.access, watch.recording, span))

    def _guarded(self, watch: Collected, action: Callable[[], None]) -> None:
        watch.began = time.monotonic()
        begun = time.thread_time()
        try:
            action()
        except (WatchFailed, HostKeyRefused) as failure:
            watch.failure = str(failure)
        except Exception as bug:  # a watch must not end the run that it observes
            watch.failure = f"An error of perfdash itself: {type(bug).__name__}: {bug}"
            log.exception("The watch %s of %s failed.", watch.source.name, watch.access.address)
        finally:
            watch.ended = time.monotonic()
            watch.worker_cpu_seconds = time.thread_time() - begun
