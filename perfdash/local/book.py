"""Keeps the state file of a running perfdash in step with its services, over a full disk too."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from perfdash.local.child import Child
from perfdash.local.state import Record, State


class Book:
    """Writes the state file after every change; what could not be written is tried again."""

    def __init__(self, state: State, path: Path) -> None:
        self.state = state
        self.path = path
        self._behind = False
        state.started = _written(datetime.now(UTC))

    def note(self, child: Child) -> None:
        """Write down a service's start or end."""
        process = child.process
        self.state.note(
            child.service.name,
            Record(
                pid=process.pid if process else 0,
                since=_written(child.since) if child.since else "",
                restarts=max(0, child.starts - 1),
                last_end=child.last_end,
            ),
        )
        self.save()

    def ready(self) -> None:
        """Write down that everything is up."""
        self.state.ready = True
        self.save()

    def save(self) -> None:
        """Write the file, or remember that it is behind."""
        try:
            self.state.save(self.path)
            self._behind = False
        except OSError as error:
            if not self._behind:
                sys.stderr.write(f"{self.path} cannot be written ({error.strerror}).\n")
            self._behind = True

    def catch_up(self) -> None:
        """Try again what could not be written."""
        if self._behind:
            self.save()

    def close(self) -> None:
        """Remove the file: nothing runs any more."""
        self.path.unlink(missing_ok=True)


def _written(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds")
