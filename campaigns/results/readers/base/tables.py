"""CSV, read strictly and line by line."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from campaigns.results.readers.base.building import some
from campaigns.results.readers.base.problems import refuse
from campaigns.results.readers.base.samples import LeftOut
from campaigns.results.readers.base.source import Source
from campaigns.results.readers.base.texts import clean, number_of

MOST_COLUMNS = 200
MOST_LINES_OF_A_FIELD = 50
MOST_OPEN_QUOTES = 100
MOST_HEADER_BYTES = 20_000
LINES_BEFORE = 20
"""Of a runner, before the names of columns."""


def rows(
    source: Source, delimiter: str = ",", most: int | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Yield “line n” and the fields of each line that is not empty.

    Raise BadFile if it is not CSV, or has more lines than `most`.
    """
    table = csv.reader((line for _, line in source.lines()), delimiter=delimiter, strict=True)
    try:
        for fields in table:
            if most is not None and table.line_num > most:
                refuse("", f"The file has more than {most:,} lines; split it.")
            if len(fields) > MOST_COLUMNS:
                refuse(f"line {table.line_num}", f"More than {MOST_COLUMNS} columns.")
            if any(fields):
                yield f"line {table.line_num}", fields
    except csv.Error as error:
        refuse(f"line {table.line_num}", f"This is not CSV: {error}.")


def lenient_rows(
    source: Source, left: LeftOut, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is not empty; what is no CSV is left out.

    A field in quotes may have up to MOST_LINES_OF_A_FIELD lines.
    """
    lines = source.lines()
    waiting: deque[tuple[int, str]] = deque()
    opened = 0
    while (line := waiting.popleft() if waiting else next(lines, None)) is not None:
        number, text = line
        if '"' not in text:
            if text.strip():
                yield number, text.rstrip("\n").split(delimiter)
            continue
        fields, taken = _fields(text, delimiter), list[tuple[int, str]]()
        while fields is None and len(taken) < MOST_LINES_OF_A_FIELD and opened < MOST_OPEN_QUOTES:
            following = waiting.popleft() if waiting else next(lines, None)
            if following is None:
                break
            taken.append(following)
            text += following[1]
            fields = _fields(text, delimiter) if '"' in following[1] else None
        if fields is None:
            opened += 1
            left.add(f"line {number}", "This is not CSV: a quote is not closed.")
            waiting.extendleft(reversed(taken))
        else:
            yield number, fields


def tell_unknown(source: Source, names: Iterable[str], known: Iterable[str]) -> None:
    """Note the columns that are not known."""
    if others := [name for name in names if name not in set(known)]:
        source.note(f"Columns that are not known are left out: {some(others)}.")


def has_header(head: bytes, beginning: str) -> bool:
    """Return whether one of the first lines, without quotes, begins so; lines of a runner may be before it."""
    lines = head[:MOST_HEADER_BYTES].decode("utf-8", "replace").replace('"', "").split("\n")
    return any(line.startswith(beginning) for line in lines[:LINES_BEFORE])


def _fields(text: str, delimiter: str) -> list[str] | None:
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


class Table:
    """The columns of a table, by name."""

    def __init__(self, header: Sequence[str]) -> None:
        self.names = [name.strip() for name in header]
        for name in self.names:
            if name and self.names.count(name) > 1:
                refuse("line 1", f"The column “{name[:80]}” is there twice.")

    def need(self, names: Iterable[str], remedy: str) -> None:
        """Raise BadFile if one of the names is no column."""
        missing = [name for name in names if name not in self.names]
        if missing:
            columns = clean(", ".join(missing), 200)
            refuse("line 1", f"There is no column {columns}; {remedy}")

    def place(self, name: str) -> int | None:
        """Return the index of a column; None if there is none."""
        return self.names.index(name) if name in self.names else None

    def check(self, where: str, fields: list[str]) -> None:
        """Raise BadFile if there are more or fewer fields than columns."""
        if len(fields) != len(self.names):
            refuse(
                where,
                f"{len(fields)} fields; there are {len(self.names)} columns. Is the file whole?",
            )

    def record(self, where: str, fields: list[str]) -> dict[str, str]:
        """Return the fields by name. Raise BadFile if there are more or fewer than columns."""
        self.check(where, fields)
        return dict(zip(self.names, fields, strict=True))


def number(record: dict[str, str], column: str, where: str) -> float:
    """Return a number from 0. Raise BadFile for anything else."""
    text = record.get(column)
    if text is None:
        refuse("line 1", f"There is no column “{column}”.")
    result = number_of(text)
    if result is None or result < 0:
        refuse(where, f"{column}: “{text[:40]}” is no number from 0.")
    return result


def count(record: dict[str, str], column: str, where: str) -> int:
    """Return a whole number from 0. Raise BadFile for anything else."""
    result = number(record, column, where)
    if result != int(result) or result > 1e15:
        refuse(where, f"{column}: {result:g} is no count; counts are whole numbers from 0.")
    return int(result)
