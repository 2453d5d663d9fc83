"""What the files of a repository are: names, sizes, bytes. Pure: no network, no clock, stores no file.

Every file of every repository is the start of one endless pattern, followed by a *tail* of its
own. So a body is sent out of one shared buffer, and a digest costs one copy of a hash state.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sandbox.bodies import FileBody

MOST_FILES = 1_000_000
LARGEST_FILE = 10_000_000_000
TAIL = 32
FILES_PER_PART = 1000


class Names(StrEnum):
    """How the files are called; `commas` and `nested` are what a client easily gets wrong."""

    PLAIN = "plain"
    COMMAS = "commas"
    NESTED = "nested"


_WRITERS: dict[Names, Callable[[int], str]] = {
    Names.PLAIN: lambda index: f"file-{index:06}.bin",
    Names.COMMAS: lambda index: f"file, {index:06}.bin",
    Names.NESTED: lambda index: f"part-{index // FILES_PER_PART:03}/file-{index:06}.bin",
}
_NUMBER = slice(-10, -4)  # the six digits before ".bin", in each way of naming


@dataclass(frozen=True, slots=True)
class Content:
    """The files of a repository. Equal contents have equal manifests.

    Sizes are uniform from `smallest` to `largest`, or, with `total`, as equal as they can be
    with that sum.
    """

    files: int = 100
    smallest: int = 20_480
    largest: int = 20_480
    total: int | None = None
    seed: int = 0
    names: Names = Names.PLAIN

    def name(self, index: int) -> str:
        """Give the relative path of a file."""
        return _WRITERS[self.names](index)

    def index(self, name: str) -> int | None:
        """Give the index of the file of that name, None where there is none; inverse of `name`."""
        number = name[_NUMBER]
        if not (number.isascii() and number.isdigit()):
            return None
        index = int(number)
        return index if index < self.files and self.name(index) == name else None

    def size(self, index: int) -> int:
        """Give the bytes of a file."""
        if self.total is not None:
            share, rest = divmod(self.total, self.files)
            return share + (index < rest)
        if self.smallest == self.largest:
            return self.largest
        number = int.from_bytes(self._tail(index)[:8])
        return self.smallest + number % (self.largest - self.smallest + 1)

    def body(self, index: int) -> FileBody:
        """Give the bytes of a file, without making them; smaller than a tail means a part of one."""
        size = self.size(index)
        return FileBody(max(0, size - TAIL), self._tail(index)[:size])

    def _tail(self, index: int) -> bytes:
        return hashlib.sha256(b"%d:%d" % (self.seed, index)).digest()
