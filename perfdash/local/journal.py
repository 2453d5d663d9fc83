"""Where the output of all services goes: the terminal, one log for all, and one for each service.

A log that cannot be written (a full disk) ends nobody: the terminal still gets the lines.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from perfdash.local.log_file import LogFile
from perfdash.local.terminal import Terminal

LIMIT_BYTES = 2_000_000
GENERATIONS = 5
LONGEST_LINE = 20_000
COMBINED = "combined"


class Journal:
    """Takes output in pieces and writes it line by line.

    Each log has GENERATIONS files of LIMIT_BYTES; lines of the combined one have time and service.
    Without `terminal` the files are all there is.
    """

    def __init__(self, directory: Path, terminal: TextIO | None) -> None:
        self.directory = directory
        self.terminal = Terminal(terminal) if terminal is not None else None
        self._rest: dict[str, bytes] = {}
        self._files: dict[str, LogFile] = {}
        self._unwritable = ""
        self._lost = 0

    def take(self, name: str, piece: bytes, *, secret: bool = False) -> list[str]:
        """Give the lines that `piece` completes, and write them unless they are `secret`.

        An empty piece ends the last line.
        """
        text = self._rest.pop(name, b"") + (piece or b"\n")
        *lines, rest = text.split(b"\n")
        if len(rest) > LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        if rest:
            self._rest[name] = rest
        written = [readable for line in lines if (readable := _readable(line))]
        if written and not secret:
            self._record(name, written)
            self._show("".join(f"{name:<9}| {line}\n" for line in written))
        return written

    def say(self, words: str) -> None:
        """Write lines of the supervisor's own."""
        self._record("supervisor", words.splitlines())
        self._show(f"{words}\n")

    def greet(self, url: str, data: Path) -> None:
        """Show where perfdash is; the URL signs in, so the file does not get it."""
        self._show(
            f"\n  perfdash is ready: {url}\n"
            "  The link signs you in once; the same command in another terminal prints a new one.\n"
            f"  Data and logs: {data}. Ctrl-C stops everything.\n\n"
        )

    def path(self, name: str) -> Path:
        """Give the file of one service."""
        return self.directory / f"{name}.log"

    def _record(self, name: str, lines: list[str]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._append(name, lines)
        self._append(COMBINED, [f"{now} {name:<10} | {line}" for line in lines])

    def _append(self, name: str, lines: list[str]) -> None:
        try:
            self._file(name).append(lines)
        except OSError as error:
            self._miss(name, len(lines), error)
        else:
            if name == self._unwritable:
                lost, self._lost, self._unwritable = self._lost, 0, ""
                self.say(f"The log is written again; {lost} lines are not in it.")

    def _file(self, name: str) -> LogFile:
        if name not in self._files:
            self._files[name] = LogFile(self.path(name), LIMIT_BYTES, GENERATIONS)
        return self._files[name]

    def _miss(self, name: str, lines: int, error: OSError) -> None:
        """Say once that a log cannot be written, however many lines come until it is mended."""
        if not self._unwritable:
            self._unwritable = name
            self._show(
                f"The log {self.path(name)} cannot be written ({error.strerror}): make room there."
                " Until then lines are on the terminal only; perfdash goes on.\n"
            )
        if name == self._unwritable:
            self._lost += lines

    def _show(self, text: str) -> None:
        if self.terminal is not None:
            self.terminal.show(text)


def _readable(line: bytes) -> str:
    """Decode a line without control sequences of terminals: texts of targets get into logs."""
    text = line.decode("utf-8", "replace").rstrip()
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)
