"""Watch the target of one attempt: begin before its clean state is proved, end when its facts were read again.

A watch that cannot be reached, breaks or hangs never ends a run, nor delays it for long.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from campaigns.kinds.base import Proof
from campaigns.kit.encryption import SecretUnreadable
from campaigns.models import LogLine, Watch, Watched
from campaigns.results.watched import WatchedRun, WatchedSource, watched_run
from campaigns.targets.watches.base import Access, Source
from campaigns.targets.watches.collect import FETCH_SECONDS, STOP_SECONDS, Collecting
from campaigns.targets.watches.registry import UnknownSource, source_of
from campaigns.targets.watches.rows import access_of

FIRST_FRAME_SECONDS = 2.0
"""Seconds that a run waits for the first frame of its watches, after its clean state was proved."""
REQUIRED_SECONDS = 15.0
"""The same where the campaign requires them."""
LOOK_SECONDS = 0.1
END_SECONDS = STOP_SECONDS + FETCH_SECONDS + 20.0
"""Seconds for ending them, for sources that are asked after the run, and for the computation."""

log = logging.getLogger(__name__)


class Watching:
    """The watches of one attempt. Its methods are called in order, and `end` in any case."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._unreadable: list[WatchedSource] = []
        ready: list[tuple[Source, Access]] = []
        for watch in watches:
            try:
                ready.append((source_of(watch.source), access_of(watch)))
            except (SecretUnreadable, UnknownSource) as error:
                self._unreadable.append(_not_watched(watch, str(error)))
        self._collecting = Collecting(ready)
        self._zero: float | None = None
        self._stopped: float | None = None

    def begin(self) -> None:
        """Begin to sample."""
        self._collecting.start()

    def proofs(self, check: Callable[[], None], *, required: bool) -> list[Proof]:
        """Wait until each watch has seen the target, for a moment; where it is required, longer, and prove it."""
        ends = time.monotonic() + (REQUIRED_SECONDS if required else FIRST_FRAME_SECONDS)
        while self._collecting.awaited() and time.monotonic() < ends:
            check()
            time.sleep(LOOK_SECONDS)
        if not required:
            return []
        missing = [
            f"{each.source.label}: {each.failure or 'no frame yet'}"
            for each in self._collecting.unproved()
        ]
        missing += [f"{each.source}: {each.reason}" for each in self._unreadable]
        if not self._collecting.watches and not missing:
            missing = ["the target has no watch in use"]
        return [
            Proof(
                "the target is watched",
                "a first frame of each watch",
                "; ".join(missing) or "a first frame of each watch",
                "",
                ok=not missing,
            )
        ]

    def start_the_clock(self) -> None:
        """Note that the measurement begins now."""
        self._zero = time.monotonic()

    def stop_the_clock(self) -> None:
        """Note that the measurement has ended."""
        self._stopped = time.monotonic()

    def end(self, say: Callable[[str, str], None], *, stopped: bool = False) -> WatchedRun | None:
        """End the sampling, and return what was seen. None after an error of perfdash itself, which is logged.

        stopped: the run was; nothing waits for a source then.
        """
        try:
            collected = self._collecting.finish(at_once=stopped or self._zero is None)
            seconds = (
                None if self._zero is None else (self._stopped or time.monotonic()) - self._zero
            )
            wall = datetime.now(UTC).timestamp() - time.monotonic()
            run = watched_run(collected, self._zero, seconds, wall, self._unreadable)
        except Exception:  # whatever a source gave must not void the run
            log.exception("What the watches have seen cannot be used.")
            say("watches: an error of perfdash itself, see its log", LogLine.Tone.BAD)
            return None
        for source in run.sources:
            if source.state != Watched.State.WHOLE:
                say(
                    f"{Watched.State(source.state).label}: {source.source}: {source.reason}",
                    LogLine.Tone.BAD,
                )
        return run


def _not_watched(watch: Watch, reason: str) -> WatchedSource:
    return WatchedSource(
        watch.source, watch.address, Watched.State.NOT, watch.step_seconds, reason, certain=False
    )
