"""One log on disk, rotated: `<name>.log`, with older generations as `.log.1`, `.log.2` and so on."""

import errno
import os
from pathlib import Path


class LogFile:
    """Takes whole lines. Holds at most `generations` files of `limit_bytes`, and a piece each."""

    def __init__(self, path: Path, limit_bytes: int, generations: int) -> None:
        self.path = path
        self.limit_bytes = limit_bytes
        self.generations = generations
        self._torn = _ends_within_a_line(path)

    def append(self, lines: list[str]) -> None:
        """Write lines. Raise OSError where not all of them got onto the disk."""
        text = "".join(f"{line}\n" for line in lines)
        data = (f"\n{text}" if self._torn else text).encode()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            written = os.write(descriptor, data)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        self._torn = written < len(data) and (written > 0 or self._torn)
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if size > self.limit_bytes:
            self._rotate()

    def _rotate(self) -> None:
        """Rename every generation to the next one, over the oldest."""
        for number in range(self.generations - 1, 0, -1):
            younger = self._generation(number - 1)
            if younger.exists():
                younger.replace(self._generation(number))

    def _generation(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}") if number else self.path


def _ends_within_a_line(path: Path) -> bool:
    """Say whether somebody was stopped in the middle of a line."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:  # nothing is in it
        return False
