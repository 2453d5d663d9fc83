"""Read a PULP_MANIFEST: a line `name,sha256,size` for each file; names may contain commas. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_BYTES = 32 * 1024 * 1024
MOST_FILES = 200_000
MOST_BYTES_OF_A_FILE = 2**40
MOST_BYTES_OF_A_PART = 240  # file systems take 255
MOST_BYTES_OF_A_NAME = 1024
MOST_BYTES_OF_A_LINE = 2 * MOST_BYTES_OF_A_NAME
UTF_8_MARK = b"\xef\xbb\xbf"
DIGEST = re.compile(r"[0-9a-fA-F]{64}\Z")
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
    """Return the entries of all lines. Raise BadManifest at the first invalid one."""
    if len(body) > MOST_BYTES:
        raise BadManifest(
            f"The manifest has more than {MOST_BYTES} bytes; split the repository into smaller ones."
        )
    if not body.strip():
        raise BadManifest("The manifest is empty; publish the repository, or give another URL.")
    entries = tuple(_entries(body))
    _refuse_names_that_clash(entries)
    return entries


def _entries(body: bytes) -> Iterator[Entry]:
    """Yield the entries line by line, so that a large manifest is not decoded in memory at once."""
    files = body.count(b"\n")
    if files > MOST_FILES:
        raise BadManifest(
            f"The manifest lists {files} files, more than {MOST_FILES}; split the repository into "
            "smaller ones."
        )
    start = len(UTF_8_MARK) if body.startswith(UTF_8_MARK) else 0
    number = 0
    while start < len(body):
        number += 1
        end = body.find(b"\n", start)
        line = _line(number, body, start, len(body) if end < 0 else end)
        if end < 0:
            _entry(number, line)
            raise BadManifest(
                f"Line {number} of the manifest, the last one, does not end with a line break, so "
                "it may have been cut off; write the manifest again, each line ended."
            )
        yield _entry(number, line.removesuffix("\r"))
        start = end + 1


def _line(number: int, body: bytes, start: int, end: int) -> str:
    if end - start > MOST_BYTES_OF_A_LINE:
        raise BadManifest(
            f"Line {number} of the manifest has {end - start} bytes, more than "
            f"{MOST_BYTES_OF_A_LINE}; check that the URL is that of a PULP_MANIFEST."
        )
    try:
        return body[start:end].decode()
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
