"""The bytes of a file, bounded: as one document, line by line, or in pieces."""

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import IO, Final

from campaigns.kit.errors import BadFile

MOST_BYTES: Final = 200_000_000
"""Bytes of a file that is read line by line, after it is unpacked."""

MOST_DOCUMENT_BYTES: Final = 16_000_000
"""Bytes of a file that must be in memory as a whole: JSON, and printed output."""

MOST_LINE_BYTES: Final = 1_000_000
HEAD_BYTES: Final = 65_536
PIECE_BYTES: Final = 65_536
GZIP = b"\x1f\x8b"


class Source:
    """A file. One compressed with gzip is unpacked, up to the same limits."""

    def __init__(self, content: bytes | IO[bytes]) -> None:
        raw = io.BytesIO(content) if isinstance(content, bytes) else content
        self._file: IO[bytes] = raw
        first = _filled(raw, HEAD_BYTES)
        if first.startswith(GZIP):
            self._file = gzip.GzipFile(fileobj=_Rejoined(first, raw))  # type: ignore[assignment]
            first = self._unpacked(HEAD_BYTES)
        self.head = first
        self._rest = first
        self._yielded = 0

    def pieces(self) -> Iterator[bytes]:
        """Yield the file in pieces. Raise BadFile above MOST_BYTES."""
        while piece := self._next():
            self._count(len(piece), MOST_BYTES)
            yield piece

    def document(self, most: int = MOST_DOCUMENT_BYTES) -> bytes:
        """Return the file as a whole. Raise BadFile above `most` bytes."""
        parts = []
        while piece := self._next():
            self._count(len(piece), most)
            parts.append(piece)
        return b"".join(parts)

    def text(self) -> str:
        """Return the file as text. Raise BadFile if it is not UTF-8, or is too large."""
        return decoded(self.document())

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of each line, with its end. Raise BadFile for one that is too long."""
        number, rest = 1, b""
        for piece in self.pieces():
            whole, end, rest = (rest + piece).rpartition(b"\n")
            for line in _decoded_lines(whole, number) if end else ():
                yield number, line + "\n"
                number += 1
            if len(rest) > MOST_LINE_BYTES:
                text = f"The line is longer than {MOST_LINE_BYTES:,} bytes"
                raise BadFile([(f"line {number}", f"{text}; this is not the file of a test.")])
        if rest:
            yield number, _decoded_lines(rest, number)[0]

    def _next(self) -> bytes:
        rest, self._rest = self._rest, b""
        return rest or self._unpacked(PIECE_BYTES)

    def _unpacked(self, size: int) -> bytes:
        try:
            return _filled(self._file, size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadFile([("", f"The file is a damaged gzip file: {error}.")]) from None

    def _count(self, size: int, most: int) -> None:
        self._yielded += size
        if self._yielded > most:
            text = f"The file is larger than {most // 1_000_000} MB, unpacked; split it."
            raise BadFile([("", text)])


class _Rejoined(io.RawIOBase):
    """The part that was already read, then the rest of the file."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = first, rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        text, self._first = self._first[:size], self._first[size:] if size >= 0 else b""
        return text


def decoded(content: bytes, first_line: int = 1) -> str:
    """Decode UTF-8, with or without a byte order mark. Raise BadFile that names the line."""
    try:
        return content.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + first_line
        text = "This is not UTF-8; save the file as UTF-8."
        raise BadFile([(f"line {line}", text)]) from None


def _decoded_lines(content: bytes, number: int) -> list[str]:
    return decoded(content, number).split("\n")


def _filled(file: IO[bytes], size: int) -> bytes:
    """Read until there are enough bytes, or the file ends."""
    parts, missing = [], size
    while missing and (part := file.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
