"""Read a PULP_MANIFEST: one line `name,sha256,size` a file; names may hold commas. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_BYTES = 64 * 1024 * 1024
MOST_FILES = 200_000
MOST_BYTES_OF_A_FILE = 2**40
MOST_BYTES_OF_A_PART = 240  # file systems take 255
MOST_BYTES_OF_A_NAME = 1024
DIGEST = re.compile(r"[0-9a-fA-F]{64}\Z")
SIZE = re.compile(r"[0-9]{1,20}\Z")


class BadManifest(ValueError):
    """The manifest cannot be used; the message says which line, what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a repository. `name` is a relative path that stays below its directory."""

    name: str
    sha256: str
    size: int


def parse(body: bytes) -> tuple[Entry, ...]:
    """Read all lines. Raise BadManifest at the first that is not as it has to be."""
    if len(body) > MOST_BYTES:
        raise BadManifest(
            f"The manifest has more than {MOST_BYTES} bytes; split the repository into smaller ones."
        )
    if not body.strip():
        raise BadManifest("The manifest is empty; publish the repository, or give another URL.")
    entries = tuple(_entries(_lines(body)))
    _refuse_names_that_clash(entries)
    return entries


def _lines(body: bytes) -> list[str]:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = body.count(b"\n", 0, error.start) + 1
        raise BadManifest(
            f"Line {number} of the manifest is not UTF-8; write the names in UTF-8."
        ) from None
    lines = text.split("\n")
    if len(lines) - 1 > MOST_FILES:
        raise BadManifest(
            f"The manifest lists {len(lines) - 1} files, more than {MOST_FILES}; split the "
            "repository into smaller ones."
        )
    return lines


def _entries(lines: list[str]) -> Iterator[Entry]:
    *whole, rest = lines
    for number, line in enumerate(whole, start=1):
        yield _entry(number, line.removesuffix("\r"))
    if rest:
        _entry(len(lines), rest)
        raise BadManifest(
            f"Line {len(lines)} of the manifest, the last one, does not end with a line break, so "
            "it may have been cut off; write the manifest again, each line ended."
        )


def _entry(number: int, line: str) -> Entry:
    parts = line.rsplit(",", 2)
    if len(parts) != 3:
        raise _bad(
            number,
            line,
            "is not `name,sha256,size`; check that the URL is that of a PULP_MANIFEST, and "
            "whether it was cut off",
        )
    name, digest, size = parts
    _check_name(number, name)
    if not DIGEST.match(digest):
        raise _bad(number, digest, "is not a SHA-256 digest of 64 hexadecimal digits")
    if not SIZE.match(size) or int(size) > MOST_BYTES_OF_A_FILE:
        raise _bad(number, size, f"is not a size from 0 to {MOST_BYTES_OF_A_FILE} bytes")
    return Entry(name, digest.lower(), int(size))


def _check_name(number: int, name: str) -> None:
    if not name:
        raise _bad(number, name, "is no name; each file needs one")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in name):
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


def _refuse_names_that_clash(entries: tuple[Entry, ...]) -> None:
    lines: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        if entry.name in lines:
            raise _bad(number, entry.name, f"stands in line {lines[entry.name]} already")
        lines[entry.name] = number
    for name, number in lines.items():
        parent = name.rpartition("/")[0]
        while parent:
            if parent in lines:
                raise _bad(number, name, f"needs a directory where line {lines[parent]} has a file")
            parent = parent.rpartition("/")[0]


def _bad(number: int, what: str, why: str) -> BadManifest:
    shown = what if len(what) <= 80 else what[:79] + "…"
    return BadManifest(f"Line {number} of the manifest: {shown!r} {why}.")
