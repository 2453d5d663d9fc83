"""Health checks that cost nothing during a measurement: the age of a file."""

from datetime import datetime
from pathlib import Path
from typing import Any

from celery import beat
from celery.signals import heartbeat_sent
from django.conf import settings


@heartbeat_sent.connect
def touch(**kwargs: Any) -> None:
    """Say that this process is at work: its loop turns and the broker takes its messages."""
    if settings.ALIVE_FILE:
        Path(settings.ALIVE_FILE).touch()


class Scheduler(beat.Scheduler):
    """Beat's schedule, in memory only: whatever was missed is due again within a minute.

    It goes by the clock of the day: where that is set back, it begins anew, instead of waiting
    until the old time is reached again.
    """

    _ticked_at: datetime | None = None

    def tick(self, *arguments: Any, **named: Any) -> float:
        """Send what is due."""
        now = self.app.now()
        if self._ticked_at is not None and now < self._ticked_at:
            for entry in self.schedule.values():
                entry.last_run_at = now
            self._heap = None
        self._ticked_at = now
        seconds = super().tick(*arguments, **named)
        touch()
        return float(seconds)
