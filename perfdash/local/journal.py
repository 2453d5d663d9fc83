"""Where the output of all services goes: the terminal, and one bounded file a service."""

from pathlib import Path
from typing import TextIO

LIMIT_BYTES = 5_000_000
LONGEST_LINE = 20_000


class Journal:
    """Takes output in pieces and writes it line by line.

    A file over LIMIT_BYTES is renamed to `<name>.log.1`, over the one before. Without `terminal`
    the files are all there is.
    """

    def __init__(self, directory: Path, terminal: TextIO | None) -> None:
        self.directory = directory
        self.terminal = terminal
        self._rest: dict[str, bytes] = {}

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
            self._append(name, written)
            self._show("".join(f"{name:<9}| {line}\n" for line in written))
        return written

    def say(self, line: str) -> None:
        """Write a line of the supervisor's own."""
        self._append("supervisor", [line])
        self._show(f"{line}\n")

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

    def _append(self, name: str, lines: list[str]) -> None:
        path = self.path(name)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
            size = file.tell()
        if size > LIMIT_BYTES:
            path.replace(path.with_suffix(".log.1"))

    def _show(self, text: str) -> None:
        if self.terminal is None:
            return
        try:
            self.terminal.write(text)
            self.terminal.flush()
        except OSError:  # the terminal went away; the files go on
            self.terminal = None


def _readable(line: bytes) -> str:
    """Decode a line, without what would steer a terminal: a target's words end up in logs."""
    text = line.decode("utf-8", "replace").rstrip()
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)
