"""Downloads that are sent in pieces; lines of CSV that spreadsheets do not interpret as formulas."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

LETTERS = 50_000
"""The size of a piece that is sent."""


def gathered(pieces: Iterable[str]) -> Iterator[bytes]:
    """Join small pieces, since each one that is sent has a cost."""
    held: list[str] = []
    letters = 0
    for piece in pieces:
        held.append(piece)
        letters += len(piece)
        if letters >= LETTERS:
            yield "".join(held).encode()
            held.clear()
            letters = 0
    if held:
        yield "".join(held).encode()


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters at the beginning that make text a formula in spreadsheets; the last four are full-width."""


class _Line:
    """A file for csv.writer that returns the line."""

    def write(self, line: str) -> str:
        return line


def lines_of(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield one line per row, which may be the header; None is an empty cell."""
    writer = csv.writer(_Line(), lineterminator="\n")
    for row in rows:
        yield str(writer.writerow(["" if cell is None else _safe(cell) for cell in row]))


def _safe(cell: Any) -> Any:
    """Return a cell that is not a formula in spreadsheets; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
