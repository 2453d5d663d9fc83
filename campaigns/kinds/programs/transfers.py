"""Write files to the disk, check them, and collect their samples. No network, no Django.

A file is written under a number in `partial/` and moved to its name in `files/` when its size and digest
are right. So `files/` holds only whole files however a run ends, and no name of a manifest decides where
unchecked data is written.
"""

import errno
import hashlib
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from campaigns.kit.http.failures import FileFailed

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
NO_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
WRITTEN_AT_ONCE = 256 * 1024
"""Pieces are written together: libcurl gives 16 KiB at a time, and each call of the kernel costs as much as copying some."""
MOST_PIECES = 1024
"""Of writev(2), IOV_MAX."""
Row = Sequence[Any]
"""A sample: a value for each of COLUMNS."""
COLUMNS = ("file", "start_us", "first_byte_us", "total_us", "bytes", "status", "failure")


@dataclass(frozen=True, slots=True)
class Item:
    """One file of the manifest, with its URL."""

    index: int
    name: str
    url: str
    sha256: str
    size: int


class Counter:
    """The bytes that one task or thread has received; each has its own, so none waits for a lock."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        """Begin with nothing."""
        self.value = 0


class Counted(Protocol):
    """A count of bytes received so far."""

    value: int


class Transfer:
    """One file being fetched: it is timed, checked and written, and adds one sample."""

    __slots__ = (
        "_counter",
        "_file",
        "_first",
        "_hash",
        "_pieces",
        "_size",
        "_start",
        "_status",
        "_tally",
        "_waiting",
        "item",
    )

    def __init__(self, item: Item, tally: "Tally", counter: Counted) -> None:
        """Start the file's clock."""
        self.item = item
        self._tally = tally
        self._counter = counter
        self._hash = hashlib.sha256()
        self._file = -1
        self._size = 0
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._status = 0
        self._first = 0
        self._start = time.perf_counter_ns()

    @property
    def seconds(self) -> float:
        """The seconds since it was requested."""
        return (time.perf_counter_ns() - self._start) / 1e9

    def held_back(self, seconds: float) -> None:
        """Exclude the time that a request waited for its turn from the file's time."""
        self._start += int(seconds * 1e9)
        self._first = 0

    def answered(self, status: int) -> None:
        """Record the first byte: the head of an answer has arrived."""
        self._first = time.perf_counter_ns()
        self._status = status

    def take(self, data: bytes) -> None:
        """Hash and write a piece of the body. Raise FileFailed where the file is too large or cannot be written."""
        size = len(data)
        self._size += size
        self._counter.value += size
        if self._size > self.item.size:
            raise FileFailed("size", f"more than the {self.item.size} bytes of the manifest")
        self._hash.update(data)
        self._pieces.append(data)
        self._waiting += size
        if self._waiting >= WRITTEN_AT_ONCE:
            self._write()

    def complete(self) -> None:
        """Check the whole file, and move it to its name. Raise FileFailed where it is not right."""
        if self._size != self.item.size:
            raise FileFailed("size", f"{self._size} of {self.item.size} bytes")
        digest = self._hash.hexdigest()
        if digest != self.item.sha256:
            raise FileFailed("digest", f"SHA-256 is {digest}, not {self.item.sha256}")
        self._write()
        try:
            file, self._file = self._file, -1
            os.close(file)
            os.rename(self._tally.partial(self.item), self._tally.final(self.item))
        except OSError as error:
            raise _of_disk(error) from error
        self._tally.add(self, "", "")

    def failed(self, failure: FileFailed) -> None:
        """Remove what was written, and count the failure."""
        if self._file >= 0:
            with suppress(OSError):  # a full disk may fail again
                os.close(self._file)
            with suppress(OSError):
                os.unlink(self._tally.partial(self.item))
            self._file = -1
        self._tally.add(self, failure.failure, str(failure))

    def row(self, origin: int, failure: str) -> Row:
        """Return the sample in whole microseconds; `first_byte_us` is 0 where there was no answer."""
        now = time.perf_counter_ns()
        first = (self._first - self._start) // 1000 if self._first else 0
        return (
            self.item.index,
            (self._start - origin) // 1000,
            first,
            (now - self._start) // 1000,
            self._size,
            self._status,
            failure,
        )

    def _write(self) -> None:
        """Write what waits for that. Raise FileFailed where it cannot be written."""
        pieces: list[bytes | memoryview] = [*self._pieces]
        self._pieces.clear()
        left, self._waiting = self._waiting, 0
        try:
            if self._file < 0:
                self._open()
            while pieces:
                written = os.writev(self._file, pieces[:MOST_PIECES])
                left -= written
                if not left:
                    return
                pieces = [memoryview(b"".join(pieces))[written:]]  # the disk is nearly full
        except OSError as error:
            raise _of_disk(error) from error

    def _open(self) -> None:
        self._file = os.open(
            self._tally.partial(self.item),
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW,
            0o644,
        )


class Tally:
    """The directories of a run, and the samples of its files. Safe in threads."""

    def __init__(self, directory: Path, items: Sequence[Item]) -> None:
        """Create all directories before the clock runs."""
        self._partial = str(directory / "partial")
        self._final = str(directory / "files")
        os.makedirs(self._partial, exist_ok=True)
        root = Path(self._final)
        for name in {os.path.dirname(item.name) for item in items}:
            parent = root / name
            if not parent.resolve().is_relative_to(root.resolve()):
                raise ValueError(f"{parent} is outside {root}")
            parent.mkdir(parents=True, exist_ok=True)
        self.examples: dict[str, str] = {}
        self._counters: list[Counted] = []
        self._failures: list[str] = []
        self._rows: list[Row] = []
        self._reported = 0
        self._reporting = threading.Lock()
        self.origin = 0  # the instant that samples count from

    def counter(self) -> Counter:
        """Return a new counter for a task or thread."""
        counter = Counter()
        self._counters.append(counter)
        return counter

    def count(self, counter: Counted) -> None:
        """Add the counter of another process."""
        self._counters.append(counter)

    def partial(self, item: Item) -> str:
        """Return the path of a file while it is incomplete."""
        return f"{self._partial}/{item.index}"

    def final(self, item: Item) -> str:
        """Return the path of a complete file."""
        return f"{self._final}/{item.name}"

    def add(self, transfer: Transfer, failure: str, message: str) -> None:
        """Store a file's sample, and the first message of each class of failure."""
        if failure:
            self._failures.append(failure)
            self.examples.setdefault(failure, f"{transfer.item.name}: {message}"[:500])
        self._rows.append(transfer.row(self.origin, failure))

    def received(self) -> int:
        """Return the bytes of bodies received so far."""
        return sum(counter.value for counter in self._counters)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of files done and failed."""
        failed = len(self._failures)
        return max(0, len(self._rows) - failed), failed

    def failed_as(self, failure: str) -> int:
        """Return the number of files with one class of failure."""
        return self._failures.count(failure)

    def totals_seconds(self) -> list[float]:
        """Return the times of the complete files."""
        return [row[3] / 1e6 for row in self._rows if not row[6]]

    def in_flight_seconds(self) -> float:
        """Return the sum of the times of all files, failed ones included."""
        return float(sum(row[3] for row in self._rows)) / 1e6

    def take(self, rows: Sequence[Row], examples: Mapping[str, str]) -> None:
        """Store the samples and messages of another process."""
        self._failures += [row[6] for row in rows if row[6]]
        for failure, message in examples.items():
            self.examples.setdefault(failure, message)
        self._rows += rows

    def new_rows(self) -> list[Row]:
        """Return the samples since the last call."""
        with self._reporting:
            rows = self._rows[self._reported :]
            self._reported += len(rows)
        return rows

    def new_columns(self) -> dict[str, list[int | str | None]]:
        """Return the samples since the last call as columns; nothing where there are none."""
        columns = zip(*self.new_rows(), strict=True)
        return {name: list(column) for name, column in zip(COLUMNS, columns, strict=False)}


def _of_disk(error: OSError) -> FileFailed:
    if error.errno in FULL:
        return FileFailed("disk_full", f"the disk is full: {error}")
    if error.errno in NO_DESCRIPTORS:
        return FileFailed("generator", f"the generator has no more resources: {error}")
    return FileFailed("disk", f"the file cannot be written: {error}")
