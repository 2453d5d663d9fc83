"""Read a PULP_MANIFEST: a line `name,sha256,size` for each file; names may contain commas. Pure."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from campaigns.kit.decoding import encoding_of

MOST_BYTES = 32 * 1024 * 1024
MOST_FILES = 200_000
MOST_BYTES_OF_A_FILE = 2**40
MOST_BYTES_OF_A_PART = 240  # file systems take 255
MOST_BYTES_OF_A_NAME = 1024
MOST_BYTES_OF_A_LINE = 2 * MOST_BYTES_OF_A_NAME
DIGEST = re.compile(r"[0-9a-fA-F]{64}\Z")
SEPARATORS = "\u2028\u2029"
"""At which Pulp ends a line, too."""
SIZE = re.compile(r"[0-9]{1,20}\Z")


class BadManifest(ValueError):
    """The manifest cannot be used; the message names the line, the problem and what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a repository. `name` is a relative path that stays below its directory."""

    name: str
    sha256: str
    size: int


def parse(body: bytes) -> tuple[Entry, ...]:
    """Return the entries of all lines, each once. Raise BadManifest at the first invalid one.

    Lines are read as Pulp's plug-in of files reads them: blanks around fields, empty lines and those that begin with # are left
    out, quotes belong to the name, and the last line needs no end.
    """
    if len(body) > MOST_BYTES:
        raise BadManifest(
            f"The manifest has more than {MOST_BYTES} bytes; split the repository into smaller ones."
        )
    entries, numbers = [], array("L")
    for number, entry in read([body]):
        entries.append(entry)
        numbers.append(number)
    if not entries:
        raise BadManifest(
            "The manifest is empty: it lists no file. Publish the repository, or give another URL."
        )
    return _without_repeats(entries, numbers)


def read(pieces: Iterable[bytes]) -> Iterator[tuple[int, Entry]]:
    """Yield line and entry of a manifest that comes in pieces, and keep none of them. Raise BadManifest.

    Names may repeat or clash; `parse` refuses that.
    """
    number = files = 0
    for row in _rows(pieces):
        for text in map(str.strip, _decoded(number + 1, row).removesuffix("\r").split("\r")):
            number += 1
            if not text or text.startswith("#"):
                continue
            files += 1
            if files > MOST_FILES:
                raise BadManifest(
                    f"The manifest lists more than {MOST_FILES} files; split the repository into smaller ones."
                )
            yield number, _entry(number, text)


def _rows(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a manifest without their ends, and without the mark at its begin. Raise BadManifest."""
    rest, number, is_first = b"", 0, True
    for piece in pieces:
        start = 0
        if is_first and piece:
            is_first = False
            mark, codec, encoding = encoding_of(piece)
            if codec != "utf-8" and b"\0" in piece:
                raise BadManifest(
                    f"The manifest is in {encoding}, which Pulp does not read; write it in UTF-8."
                )
            start = mark if codec == "utf-8" else 0
        while (end := piece.find(b"\n", start)) >= 0:
            number += 1
            _refuse_length(number, len(rest) + end - start)
            yield rest + piece[start:end]
            rest, start = b"", end + 1
        _refuse_length(number + 1, len(rest) + len(piece) - start)
        rest += piece[start:]
    if rest:
        yield rest


def _refuse_length(number: int, length: int) -> None:
    if length > MOST_BYTES_OF_A_LINE:
        raise BadManifest(
            f"Line {number} of the manifest has {length} bytes, more than "
            f"{MOST_BYTES_OF_A_LINE}; check that the URL is that of a PULP_MANIFEST."
        )


def _decoded(number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise BadManifest(
            f"Line {number} of the manifest is not UTF-8; write the names in UTF-8."
        ) from None


def _entry(number: int, line: str) -> Entry:
    parts = line.rsplit(",", 2)
    if len(parts) != 3:
        raise _bad(
            number,
            line,
            "is not `name,sha256,size`; check that the URL is that of a PULP_MANIFEST, and "
            "whether it was cut off",
        )
    name, digest, size = (part.strip() for part in parts)
    _check_name(number, name)
    if not DIGEST.match(digest):
        raise _bad(number, digest, "is not a SHA-256 digest of 64 hexadecimal digits")
    if not SIZE.match(size) or int(size) > MOST_BYTES_OF_A_FILE:
        raise _bad(number, size, f"is not a size from 0 to {MOST_BYTES_OF_A_FILE} bytes")
    return Entry(name, digest.lower(), int(size))


def _check_name(number: int, name: str) -> None:
    if not name:
        raise _bad(number, name, "is no name; each file needs one")
    if any(
        ord(character) < 32 or 127 <= ord(character) < 160 or character in SEPARATORS
        for character in name
    ):
        raise _bad(number, name, "holds a control character; rename the file")
    if name.startswith("/"):
        raise _bad(number, name, "is an absolute path; names are relative to the manifest")
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise _bad(number, name, "holds an empty part, `.` or `..`; write the plain path")
    if len(name.encode()) > MOST_BYTES_OF_A_NAME or any(
        len(part.encode()) > MOST_BYTES_OF_A_PART for part in parts
    ):
        raise _bad(
            number,
            name,
            f"is too long; a name may have {MOST_BYTES_OF_A_NAME} bytes, a part of it between "
            f"slashes {MOST_BYTES_OF_A_PART}",
        )


def _without_repeats(entries: Sequence[Entry], numbers: Sequence[int]) -> tuple[Entry, ...]:
    """Return entries, each once. numbers: their lines. Raise BadManifest for two files of one name."""
    places: dict[str, int] = {}
    for place, entry in enumerate(entries):
        first = places.setdefault(entry.name, place)
        if entries[first] != entry:
            raise _bad(
                numbers[place],
                entry.name,
                f"stands in line {numbers[first]} already, with another digest or size",
            )
    for name, place in places.items():
        parent = name.rpartition("/")[0]
        while parent:
            if parent in places:
                raise _bad(
                    numbers[place],
                    name,
                    f"needs a directory where line {numbers[places[parent]]} has a file",
                )
            parent = parent.rpartition("/")[0]
    if len(places) == len(entries):
        return tuple(entries)
    return tuple(entries[place] for place in places.values())


def _bad(number: int, what: str, why: str) -> BadManifest:
    shown = what if len(what) <= 80 else what[:79] + "…"
    return BadManifest(f"Line {number} of the manifest: {shown!r} {why}.")
