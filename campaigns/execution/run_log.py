"""Collect the log lines and the phase of an attempt, and write them together instead of one by one.

They are written before the clock of a measurement runs, by the keeper every moment, and in the transaction that closes the
attempt. Each line keeps the time at which it was said, by the clock of the database.
"""

import threading
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from campaigns.kinds.programs.deadline import monotonic
from campaigns.kit.redaction import storable
from campaigns.models import Attempt, LogLine

MOST_WAIT_SECONDS = 5.0
"""Seconds for which the end of an attempt waits for lines that are being written."""


class RunLog:
    """The lines of one attempt that are not written yet, and its phase. Safe in threads."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self._lines: list[tuple[float, str, str]] = []
        self.phase = self._written = Attempt.Phase(attempt.phase)
        self._writing = threading.Lock()
        self._closing = False

    def say(self, text: str, tone: str = LogLine.Tone.PLAIN) -> None:
        """Add a line."""
        self._lines.append((monotonic(), storable(text), tone))

    def begin(self, phase: Attempt.Phase) -> None:
        """Set the phase."""
        self.phase = phase

    def write(self) -> None:
        """Write what is new, unless the attempt is being closed. Where the database is away nothing is lost."""
        with self._writing:
            if self._closing or (not self._lines and self.phase == self._written):
                return
            phase, count = self.phase, len(self._lines)
            with transaction.atomic():
                if phase != self._written:
                    Attempt.objects.filter(pk=self.attempt.pk).update(phase=phase)
                LogLine.objects.bulk_create(self.lines(count))
            self._written = phase
            del self._lines[:count]

    def end(self) -> None:
        """Let the keeper write no more: the transaction that closes the attempt locks its row."""
        self._closing = True
        if self._writing.acquire(timeout=MOST_WAIT_SECONDS):
            self._writing.release()

    def lines(self, count: int | None = None) -> list[LogLine]:
        """Return the first lines that are not written, all by default, for the transaction that closes the attempt.

        If that is rolled back, they are the same in the next one.
        """
        now, run = monotonic(), self.attempt.run
        return [
            LogLine(
                campaign_id=run.campaign_id,
                run=run,
                at=Now() - timedelta(seconds=now - said),
                tone=tone,
                text=f"run {run.position} {text}",
            )
            for said, text, tone in self._lines[:count]
        ]
