"""Files that are sent in pieces: lines of CSV that no spreadsheet takes for formulas."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

LETTERS = 50_000
"""Of text that are sent at a time."""


def gathered(pieces: Iterable[str]) -> Iterator[bytes]:
    """Put small pieces together: each one that is sent has its price."""
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
"""What makes a spreadsheet take text for a formula, when it comes first; the last four are wide."""


class _Line:
    """What csv.writer writes to; gives the line back."""

    def write(self, line: str) -> str:
        return line


def lines_of(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Write one line a row, the header among them; None is an empty cell."""
    writer = csv.writer(_Line(), lineterminator="\n")
    for row in rows:
        yield str(writer.writerow(["" if cell is None else _safe(cell) for cell in row]))


def _safe(cell: Any) -> Any:
    """Keep text from being taken for a formula; numbers that perfdash wrote stay numbers."""
    if isinstance(cell, str) and cell.startswith(FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
