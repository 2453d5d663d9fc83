"""Read the metadata of a repository of packages, as they come and unpacked by the ending of their name. Pure."""

import bz2
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Protocol, runtime_checkable
from xml.etree import ElementTree

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

REPO = "{http://linux.duke.edu/metadata/repo}"
COMMON = "{http://linux.duke.edu/metadata/common}"
TYPES = {
    "rpm.modulemd": "modules",
    "rpm.modulemd_defaults": "module defaults",
    "rpm.modulemd_obsolete": "module obsoletes",
    "rpm.packagegroup": "package groups",
    "rpm.packagecategory": "package categories",
    "rpm.packageenvironment": "package environments",
    "rpm.packagelangpacks": "package langpacks",
    "rpm.advisory": "advisories",
}
"""Units of a feed of packages besides these, by Pulp's type."""
OF_MODULES = {
    "modulemd": "rpm.modulemd",
    "modulemd-defaults": "rpm.modulemd_defaults",
    "modulemd-obsoletes": "rpm.modulemd_obsolete",
}
OF_COMPS = {
    "group": "rpm.packagegroup",
    "category": "rpm.packagecategory",
    "environment": "rpm.packageenvironment",
}
LANGPACKS = "rpm.packagelangpacks"
DOCUMENT = re.compile(r"^document:[ \t]*[\"']?([\w-]+)", re.MULTILINE)
"""The kind of a YAML document of modules, which stands at the begin of a line there."""
NEXT_DOCUMENT = re.compile(r"^(?:---|\.\.\.).*$", re.MULTILINE)

MOST_METADATA = 4 * 1024 * 1024 * 1024
"""Bytes of an unpacked document. It is read as it comes, and not kept."""
MOST_PACKAGES = 500_000
"""Whose digests are kept: some 170 bytes each."""
MOST_ELEMENTS = 2_000_000
"""Of one package, group or advisory: a kernel names some ten thousand files."""
MOST_MODULE = 16 * 1024 * 1024
"""Bytes of one module."""
MOST_MEMBERS = 100_000
PIECE = 1 << 16
LONGEST_MARK = 2 * len(b"<!DOCTYPE")
MOST_MEMORY = 256 * 1024 * 1024
"""The limit for xz, whose files declare how much they need; zstd needs at most 128 MiB."""


class BadMetadata(Exception):
    """The metadata cannot be used; the message says why."""


def digest_of(text: str) -> bytes:
    """Return a digest that is written in hexadecimal, in half of its memory. Raise BadMetadata."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadMetadata(f"The feed's metadata give “{text[:40]}” as a digest.") from None


def package_sizes(pieces: Iterable[bytes]) -> dict[bytes, int]:
    """Return the sizes of the packages of primary.xml by their digests. Raise BadMetadata."""
    files: dict[bytes, int] = {}
    for package in elements(pieces, f"{COMMON}package"):
        digest, size = package.find(f"{COMMON}checksum"), package.find(f"{COMMON}size")
        if digest is not None and digest.text and size is not None:
            files[digest_of(digest.text.strip())] = _size(size.get("package") or "0")
        if len(files) > MOST_PACKAGES:
            raise BadMetadata(f"The feed has more than {MOST_PACKAGES:,} packages.")
    return files


def _size(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadMetadata(f"The feed's metadata give “{text[:40]}” as a size.") from None


def modules(pieces: Iterable[bytes]) -> dict[str, int]:
    """Count the documents of a file of modules, each once."""
    kinds: dict[bytes, str] = {}
    for text in _yaml_documents(pieces):
        if match := DOCUMENT.search(text):
            kinds[sha256(text.strip().encode()).digest()] = match[1]
    named = list(kinds.values())
    return {kind: named.count(name) for name, kind in OF_MODULES.items()}


def _yaml_documents(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the documents of a stream of YAML, which end at lines of --- or of three dots."""
    rest = b""
    for piece in pieces:
        rest += piece
        if len(rest) > MOST_MODULE:
            raise BadMetadata(f"One of the feed's modules has more than {MOST_MODULE:,} bytes.")
        whole, end, rest = rest.rpartition(b"\n")
        *ended, begun = NEXT_DOCUMENT.split((whole + end).decode(errors="replace"))
        yield from ended
        rest = begun.encode() + rest
    yield from NEXT_DOCUMENT.split(rest.decode(errors="replace"))


def comps(pieces: Iterable[bytes]) -> dict[str, int]:
    found: dict[str, set[str | None]] = {name: set() for name in OF_COMPS}
    langpacks = 0
    for each in elements(pieces, *OF_COMPS, "langpacks"):
        if each.tag in found:
            found[each.tag] |= _ids(each)
        elif each.find("match") is not None:
            langpacks = 1
    return {kind: len(found[name]) for name, kind in OF_COMPS.items()} | {LANGPACKS: langpacks}


def advisories(pieces: Iterable[bytes]) -> dict[str, int]:
    different: set[str | None] = set()
    for each in elements(pieces, "update"):
        different |= _ids(each)
    return {"rpm.advisory": len(different)}


def _ids(element: Any) -> set[str | None]:
    return {each.text for each in element.iterfind("id")}


COUNTERS: Mapping[str, tuple[Sequence[str], Callable[[Iterable[bytes]], Mapping[str, int]]]] = {
    "modules": (tuple(OF_MODULES.values()), modules),
    "group": ((*OF_COMPS.values(), LANGPACKS), comps),
    "updateinfo": (("rpm.advisory",), advisories),
}
"""What the metadata of a type hold, and what counts it."""


def elements(pieces: Iterable[bytes], *tags: str) -> Iterator[Any]:
    """Yield the elements below the root with one of these tags; those before are forgotten, since a tree takes 30 times the memory.

    Refuse a document type, which excludes entities that grow when they are expanded. Raise BadMetadata.
    """
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    path, within = list[Any](), 0
    try:
        for piece in chain(_without_entities(pieces), (b"",)):
            if piece:
                parser.feed(piece)
            else:
                parser.close()
            for event, element in parser.read_events():
                if event == "start":
                    path.append(element)
                    within += 1
                    if within > MOST_ELEMENTS:
                        raise BadMetadata(
                            f"One of the feed's entries has more than {MOST_ELEMENTS:,} elements."
                        )
                    continue
                path.pop()
                if len(path) == 1:
                    if element.tag in tags:
                        yield element
                    path[0].clear()
                    within = 0
    except ElementTree.ParseError as error:
        raise BadMetadata(f"The feed's metadata are no XML that can be read: {error}.") from None


def _without_entities(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of a document, none of them long or empty. Raise BadMetadata for one that declares entities."""
    before = b""
    for whole in pieces:
        for begin in range(0, len(whole), PIECE):
            piece = whole[begin : begin + PIECE]
            seen = (before + piece).replace(b"\0", b"")  # also in UTF-16
            if b"<!DOCTYPE" in seen or b"<!ENTITY" in seen:
                raise BadMetadata(
                    "The feed's metadata define entities; metadata of packages have none."
                )
            before = (before + piece)[-LONGEST_MARK:]
            yield piece


class _Unpacker(Protocol):
    """A decompressor of one member; a file may have several members in sequence."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


@runtime_checkable
class Hungry(Protocol):
    """A decompressor that keeps what it did not use, and says when it needs more."""

    @property
    def needs_input(self) -> bool: ...


UNPACKERS: Mapping[str, Callable[[], _Unpacker]] = {
    "gz": lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16),
    "xz": lambda: lzma.LZMADecompressor(memlimit=MOST_MEMORY),
    "zst": zstd.ZstdDecompressor,
    "bz2": bz2.BZ2Decompressor,
}
PLAIN = ("xml", "yaml", "txt")
"""Endings of names that are not compressed."""
BROKEN = (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, EOFError)


def unpacked(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield a document piece by piece, unpacked by the ending of its name. Raise BadMetadata."""
    ending = name.rpartition(".")[2]
    if ending not in (*PLAIN, *UNPACKERS):
        known = ", ".join(UNPACKERS)
        raise BadMetadata(
            f"{name} is compressed in a way that perfdash cannot unpack; it can: {known}. "
            "Let createrepo_c write one of these."
        )
    size = 0
    plain = pieces if ending in PLAIN else _members(pieces, name, UNPACKERS[ending])
    for piece in plain:
        size += len(piece)
        if size > MOST_METADATA:
            raise BadMetadata(f"{name} has more than {MOST_METADATA} bytes unpacked.")
        yield piece


def _members(
    pieces: Iterable[bytes], name: str, unpacker: Callable[[], _Unpacker]
) -> Iterator[bytes]:
    """Yield what the members of a packed file hold, in pieces of at most PIECE bytes."""
    member: _Unpacker | None = None
    members = 0
    for piece in pieces:
        rest = piece
        while rest:
            if member is None:
                rest = rest.lstrip(b"\0")  # padding
                if not rest:
                    break
                member, members = unpacker(), members + 1
                if members > MOST_MEMBERS:
                    raise BadMetadata(f"{name} has more than {MOST_MEMBERS:,} parts.")
            yield from _of_member(member, rest, name)
            rest = b""
            if member.eof:
                rest, member = member.unused_data, None
    if member is not None:
        raise BadMetadata(f"{name} cannot be unpacked: it ends in the middle.")


def _of_member(member: _Unpacker, data: bytes, name: str) -> Iterator[bytes]:
    """Yield what a member makes of the data that were sent for it."""
    while True:
        try:
            piece = member.decompress(data, PIECE)
        except BROKEN as error:
            raise BadMetadata(f"{name} cannot be unpacked: {error}.") from None
        if piece:
            yield piece
        if member.eof:
            return
        if isinstance(member, Hungry):
            data, more = b"", not member.needs_input
        else:  # zlib gives back what it did not take, and may hold more when a piece is full
            data = getattr(member, "unconsumed_tail", b"")
            more = bool(data) or len(piece) == PIECE
        if not more:
            return
