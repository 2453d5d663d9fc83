"""A file, bounded and decoded: as one document, line by line, or in pieces; and what of it nobody understood."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from re import Pattern
from typing import IO, Final

from campaigns.kit.decoding import encoding_of, problem_of, tidied
from campaigns.kit.errors import BadFile

MOST_BYTES: Final = 200_000_000
"""Bytes of a file that is read line by line, after it is unpacked."""

MOST_DOCUMENT_BYTES: Final = 16_000_000
"""Bytes of a file that must be in memory as a whole: JSON, and printed output."""

MOST_LINE_BYTES: Final = 1_000_000
HEAD_BYTES: Final = 65_536
PIECE_BYTES: Final = 65_536
MOST_NOTES: Final = 100
MOST_SPARED: Final = 5
"""Reasons that are told one by one; the rest is counted."""
GZIP = b"\x1f\x8b"


class Source:
    """A file, as UTF-8 whatever its encoding is. One compressed with gzip is unpacked, up to the same limits.

    encoding: for people. Readers report here what they did not understand; `notes` are sentences on that.
    """

    def __init__(self, content: bytes | IO[bytes]) -> None:
        raw = io.BytesIO(content) if isinstance(content, bytes) else content
        self._file: IO[bytes] = raw
        first = _filled(raw, HEAD_BYTES)
        if first.startswith(GZIP):
            self._file = gzip.GzipFile(fileobj=_Rejoined(first, raw))  # type: ignore[assignment]
            first = self._unpacked(HEAD_BYTES)
        mark, codec, self.encoding = encoding_of(first)
        self._transcoded = _Transcoded(codec, self.encoding) if codec != "utf-8" else None
        self._first = first[mark:]
        self.head = self._transcoded.head(self._first) if self._transcoded else self._first
        self._yielded = 0
        self._unknown, self._first_unknown = 0, 0
        self._notes: dict[str, None] = {}
        self._spared = 0
        self.spared: list[tuple[str, str]] = []
        """Where and why the first of what was left out by `spare` was refused."""

    def pieces(self) -> Iterator[bytes]:
        """Yield the file in pieces of UTF-8. Raise BadFile above MOST_BYTES."""
        return self._pieces(MOST_BYTES)

    def document(self, most: int = MOST_DOCUMENT_BYTES) -> bytes:
        """Return the file as a whole, as UTF-8. Raise BadFile above `most` bytes."""
        return b"".join(self._pieces(most))

    def text(self, *, whole: bool = False) -> str:
        """Return the file as text, with line feeds at the ends of its lines. Raise BadFile for undecodable bytes, or if it is too large.

        A last line without its end is left out, since it may be cut in two; whole: keep it, where the format tells its end.
        """
        text = decoded(self.document())
        complete, end, rest = text.rpartition("\n")
        if whole or not rest.strip():
            return text
        self._unfinished(complete.count("\n") + 2 if end else 1)
        return complete + end

    def lines(self, *, whole: bool = False) -> Iterator[tuple[int, str]]:
        """Yield number and text of each line, which ends with a line feed. Raise BadFile for one that is too long.

        A last line without its end is left out, since it may be cut in two; whole: yield it without an end, where
        the format tells whether it is whole.
        """
        number, rest = 1, b""
        for piece in self.pieces():
            complete, end, rest = (rest + piece).rpartition(b"\n")
            for line in _decoded_lines(complete, number) if end else ():
                yield number, line + "\n"
                number += 1
            if len(rest) > MOST_LINE_BYTES:
                text = f"The line is longer than {MOST_LINE_BYTES:,} bytes"
                raise BadFile([(f"line {number}", f"{text}; this is not the file of a test.")])
        if rest and whole:
            yield number, _decoded_lines(rest, number)[0]
        elif rest.strip():
            self._unfinished(number)

    def unknown(self, line: int) -> None:
        """Count a line that no pattern fits."""
        self._unknown += 1
        self._first_unknown = min(self._first_unknown or line, line)

    def count_unknown(self, text: str, known: Pattern[str], first_line: int = 1) -> None:
        """Count the lines of a text that are neither empty nor `known`, which is searched from the beginning of each."""
        for number, line in enumerate(text.split("\n"), first_line):
            if line.strip() and not known.match(line):
                self.unknown(number)

    def note(self, sentence: str) -> None:
        """Note what is left out, and why; each sentence once."""
        if len(self._notes) < MOST_NOTES:
            self._notes.setdefault(sentence)

    @contextmanager
    def spare(self, what: str = "A run") -> Iterator[None]:
        """Leave out what is refused inside, and note it: one bad run costs itself.

        A refusal without a place, such as that of a limit, is of the whole file, and is raised.
        """
        try:
            yield
        except BadFile as refused:
            where, reason = refused.problems[0]
            if not where:
                raise
            self._spared += 1
            if len(self.spared) < MOST_SPARED:
                self.spared.append((where, reason))
                self.note(f"{what} is left out. {where}: {reason}")

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out: as it was noted, then the count of lines that were not understood."""
        count, first = self._unknown, self._first_unknown
        sentence = f"{count:,} lines were not understood, the first is line {first}."
        if count == 1:
            sentence = f"Line {first} was not understood."
        more = self._spared - len(self.spared)
        counted = f"{more:,} more are left out for such reasons."
        return (
            *self._notes,
            *((counted,) if more else ()),
            *((sentence,) if count else ()),
        )

    def _unfinished(self, line: int) -> None:
        self.note(
            f"Line {line}, the last one, has no end and is left out: it may be cut in two. If it is whole, end it with a line break."
        )

    def _pieces(self, most: int) -> Iterator[bytes]:
        piece, self._first = self._first, b""
        piece = piece or self._unpacked(PIECE_BYTES)
        while piece:
            self._count(len(piece), most)
            yield self._transcoded.piece(piece) if self._transcoded else piece
            piece = self._unpacked(PIECE_BYTES)
        if self._transcoded:
            self._transcoded.end()

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


class _Transcoded:
    """Turns pieces of another encoding into UTF-8, however they are cut. Raise BadFile that names the line."""

    def __init__(self, codec: str, name: str) -> None:
        self._codec, self._name = codec, name
        self._decoder = codecs.getincrementaldecoder(codec)()
        self._line = 1

    def head(self, content: bytes) -> bytes:
        """Return the beginning of the file; its last character may be cut, and what is wrong in it is left to `piece`."""
        return codecs.decode(content, self._codec, "replace").encode("utf-8", "replace")

    def piece(self, content: bytes, *, last: bool = False) -> bytes:
        try:
            text = self._decoder.decode(content, last)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(self._codec, "replace")
            line = self._line + before.count("\n")
            raise _refused(problem_of(error.object, error, self._name, line), line) from None
        self._line += text.count("\n")
        return text.encode()

    def end(self) -> None:
        self.piece(b"", last=True)


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
    """Decode UTF-8, with line feeds at the ends of lines. Raise BadFile that names the line."""
    try:
        return tidied(content.decode())
    except UnicodeDecodeError as error:
        line = first_line + content.count(b"\n", 0, error.start)
        raise _refused(problem_of(content, error, "UTF-8", line), line) from None


def _refused(problem: str, line: int) -> BadFile:
    return BadFile([(f"line {line}", problem)])


def _decoded_lines(content: bytes, number: int) -> list[str]:
    return decoded(content, number).split("\n")


def _filled(file: IO[bytes], size: int) -> bytes:
    """Read until there are enough bytes, or the file ends."""
    parts, missing = [], size
    while missing and (part := file.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
