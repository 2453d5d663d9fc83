"""Hold a process that has loaded its modules until what it needs is there.

A gate is a locked file in the data directory. The kernel wakes waiting processes when the lock is released,
also by the death of the supervisor that held it.
"""

import fcntl
import os
from pathlib import Path

PREPARED = "prepared"
"""Opens when tables and static files are there."""


class Gate:
    """A gate that this process keeps shut until it opens it."""

    def __init__(self, data: Path, name: str) -> None:
        self._descriptor = os.open(_file(data, name), os.O_RDWR | os.O_CREAT, 0o600)
        self.is_open = False
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def open(self) -> None:
        """Let everybody pass, from now on."""
        if not self.is_open:
            os.close(self._descriptor)
            self.is_open = True


def wait_at(name: str) -> None:
    """Return when the gate is open, or there is none. The directory is that of PERFDASH_DATA."""
    file = _file(Path(os.environ["PERFDASH_DATA"]), name)
    if file.exists():
        with file.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_SH)


def _file(data: Path, name: str) -> Path:
    return data / "run" / f"{name}.gate"
