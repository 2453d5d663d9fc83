"""Read a CSV of runs: one line a run, strictly. Pure: no Django, no database."""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

COLUMNS = ("concurrency", "avg duration", "duration", "start", "finish")
MOST_ROWS = 5000
MOST_BYTES = 2_000_000
MOST_CONCURRENCY = 1_000_000
SHOWN_PROBLEMS = 20

DURATION = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)(\.\d{1,6})?", re.ASCII)
INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d{1,2}):(\d\d):(\d\d)(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII
)
ROUNDING = timedelta(seconds=1)
"""Start, finish and duration are each written in whole seconds."""


class BadRows(ValueError):
    """The file cannot be imported. `problems`: (line number, message), line 0 for the whole file."""

    def __init__(self, problems: Iterable[tuple[int, str]]) -> None:
        self.problems = tuple(sorted(problems))
        lines = [f"line {line}: {text}" if line else text for line, text in self.problems]
        if len(lines) > SHOWN_PROBLEMS:
            lines[SHOWN_PROBLEMS:] = [f"and {len(lines) - SHOWN_PROBLEMS} more problems"]
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Row:
    """One run. `mean_seconds` is the stated mean of its level, if there is one."""

    line: int
    concurrency: int
    seconds: float
    started_at: datetime
    finished_at: datetime
    mean_seconds: float | None


def read_rows(content: bytes) -> tuple[Row, ...]:
    """Read every row, in the order of the file. Raise BadRows with every problem found.

    Columns: `concurrency,avg duration,duration,start,finish`; durations as H:MM:SS, instants as
    YYYY-MM-DD HH:MM:SS with an optional offset (without one: UTC). `avg duration` may be empty.
    """
    lines = csv.reader(io.StringIO(_decoded(content), newline=""), strict=True)
    problems: list[tuple[int, str]] = []
    rows: list[Row] = []
    try:
        _require_columns(next(lines, []))
        for fields in lines:
            if not any(field.strip() for field in fields):
                continue
            try:
                rows.append(_row(lines.line_num, fields))
            except ValueError as problem:
                problems.append((lines.line_num, str(problem)))
            if len(rows) > MOST_ROWS:
                raise BadRows([(0, f"More than {MOST_ROWS:,} runs; split the file.")])
    except csv.Error as error:
        problems.append((lines.line_num, f"This is not CSV: {error}."))
    problems += _doubles(rows)
    if not problems:
        problems = _wrong_means(rows)
    if not rows and not problems:
        problems = [(0, "The file holds no run, only the names of its columns.")]
    if problems:
        raise BadRows(problems)
    return tuple(rows)


def _decoded(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise BadRows([(0, f"The file is larger than {MOST_BYTES // 1_000_000} MB; split it.")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadRows([(line, "This is not UTF-8; save the file as UTF-8.")]) from None


def _require_columns(header: list[str]) -> None:
    results = tuple(name.strip() for name in header)
    if results != COLUMNS:
        raise BadRows(
            [(1, f"The columns are {','.join(results)[:200]!r}; they must be {','.join(COLUMNS)}.")]
        )


def _row(line: int, fields: list[str]) -> Row:
    """Read one line. Raise ValueError with the problem."""
    if len(fields) != len(COLUMNS):
        raise ValueError(f"{len(fields)} fields; there are {len(COLUMNS)} columns.")
    concurrency, mean, duration, start, finish = (field.strip() for field in fields)
    row = Row(
        line=line,
        concurrency=_concurrency(concurrency),
        seconds=_seconds("duration", duration),
        started_at=_instant("start", start),
        finished_at=_instant("finish", finish),
        mean_seconds=_seconds("avg duration", mean) if mean else None,
    )
    between = row.finished_at - row.started_at
    if between <= timedelta(0):
        raise ValueError(f"finish {finish} is not after start {start}.")
    if timedelta(seconds=row.seconds) > between + ROUNDING:
        raise ValueError(
            f"The duration {duration} is longer than from start to finish ({between})."
        )
    return row


def _concurrency(text: str) -> int:
    if re.fullmatch(r"[1-9]\d{0,6}", text, re.ASCII) and int(text) <= MOST_CONCURRENCY:
        return int(text)
    raise ValueError(
        f"The concurrency {text[:40]!r} is not a whole number from 1 to {MOST_CONCURRENCY:,}."
    )


def _seconds(column: str, text: str) -> float:
    match = DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"The {column} {text[:40]!r} is not written as H:MM:SS.")
    hours, minutes, seconds = (int(part) for part in match.group(1, 2, 3))
    total = hours * 3600 + minutes * 60 + seconds + float(match.group(4) or 0)
    if not total:
        raise ValueError(f"The {column} is 0; a run takes time.")
    return total


def _instant(column: str, text: str) -> datetime:
    match = INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(f"The {column} {text[:40]!r} is not written as YYYY-MM-DD HH:MM:SS.")
    year, month, day, hour, minute, second = (int(part) for part in match.group(1, 2, 3, 4, 5, 6))
    fraction = timedelta(seconds=float(match.group(7) or 0))
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=_zone(match.group(8)))
        return (local + fraction).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"The {column} {text} is no date and time: {error}.") from None


def _zone(offset: str | None) -> timezone:
    if offset is None or offset == "Z":
        return UTC
    sign = -1 if offset.startswith("-") else 1
    return timezone(sign * timedelta(hours=int(offset[1:3]), minutes=int(offset[4:6])))


def _doubles(rows: list[Row]) -> list[tuple[int, str]]:
    """Return a problem for each two rows with the same start, which are one run twice."""
    first: dict[datetime, int] = {}
    problems = []
    for row in rows:
        line = first.setdefault(row.started_at, row.line)
        if line != row.line:
            problems.append(
                (row.line, f"This run starts at the same instant as that of line {line}.")
            )
    return problems


def _wrong_means(rows: list[Row]) -> list[tuple[int, str]]:
    """Return a problem for each stated mean that its rows do not have: rows are missing, or damaged."""
    problems = []
    for row in rows:
        if row.mean_seconds is None:
            continue
        level = [other.seconds for other in rows if other.concurrency == row.concurrency]
        mean = sum(level) / len(level)
        if abs(mean - row.mean_seconds) > 1:
            problems.append(
                (
                    row.line,
                    f"The avg duration is {row.mean_seconds:.0f} s; the {len(level)} runs at "
                    f"concurrency {row.concurrency} give {mean:.0f} s.",
                )
            )
    return problems
