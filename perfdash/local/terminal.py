"""Writes lines to the terminal without ever waiting for it."""

import errno
import io
import select
from typing import TextIO

PIECE = 1000  # letters: less than a pipe takes at once where it takes anything
PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.EFBIG}


class Terminal:
    """A stream that may go away, be stopped by Ctrl-S, or be a file on a full disk.

    Lines that the terminal does not accept are dropped; their number is written once it accepts lines again.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream: TextIO | None = stream
        self.missed = 0

    def show(self, text: str) -> None:
        """Write lines now or never."""
        if self.missed and self._takes_more():
            message = f"({self.missed} lines are missing here; the log has them.)\n"
            self.missed = 0
            self._write(message)
        self._write(text)

    def _write(self, text: str) -> None:
        for start in range(0, len(text), PIECE):
            if self.stream is None:
                return
            if not self._takes_more():
                self.missed += text.count("\n", start)
                return
            try:
                self.stream.write(text[start : start + PIECE])
                self.stream.flush()
            except OSError as error:
                if error.errno not in PASSING:
                    self.stream = None
                self.missed += text.count("\n", start)
                return

    def _takes_more(self) -> bool:
        """Say whether a write would not wait."""
        if self.stream is None:
            return False
        try:
            number = self.stream.fileno()
        except (io.UnsupportedOperation, ValueError):
            return True
        poll = select.poll()
        poll.register(number, select.POLLOUT)
        return bool(poll.poll(0))
