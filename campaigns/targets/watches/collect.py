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
FETCH_SECONDS = 20.0
"""Seconds for asking the sources that are read after the run."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Collected:
    """What one watch gave in one run. failure: why it ended, or never began; began, ended: monotonic seconds."""

    source: Source
    access: Access
    recording: Recording = field(default_factory=Recording)
    failure: str = ""
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
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
        """Return the live watches that have given no frame."""
        return [each for each in self.watches if each.source.live and not each.recording.count]

    def finish(self) -> list[Collected]:
        """End the sampling, ask the sources that are not live, and return what all have seen."""
        self._stop.set()
        span = Span(self._began_at, datetime.now(UTC).timestamp())
        ends = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))
        fetching = [
            threading.Thread(target=self._fetch, args=(each, span), daemon=True)
            for each in self.watches
            if not each.source.live
        ]
        for thread in fetching:
            thread.start()
        ends = time.monotonic() + FETCH_SECONDS
        for thread in fetching:
            thread.join(max(0.0, ends - time.monotonic()))
        for watch in self.watches:
            watch.recording.close()
            if watch.ended is None and not watch.failure and not watch.source.live:
                watch.failure = f"It did not answer within {FETCH_SECONDS:g} s."
        return self.watches

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
