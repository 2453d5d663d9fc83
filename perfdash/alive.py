"""Health checks that cost nothing while something is measured: a file whose age tells enough."""

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
    """Beat's schedule, in memory only: whatever was missed is due again within a minute."""

    def tick(self, *arguments: Any, **named: Any) -> float:
        """Send what is due."""
        seconds = super().tick(*arguments, **named)
        touch()
        return float(seconds)
