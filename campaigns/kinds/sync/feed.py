"""Read what a feed offers from its manifest or metadata, to prove that a sync did all the work."""

import bz2
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from itertools import chain, islice
from typing import Any, Protocol, TypeVar, runtime_checkable
from urllib.parse import urljoin
from xml.etree import ElementTree

from campaigns.kinds.base import AddressRefused, Context, DriverError, TargetUnavailable
from campaigns.kinds.base.repository_ids import MOST_REPOSITORIES
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.fetch import Answer, Limits, fetch
from campaigns.kinds.programs.pinned import begin_of
from campaigns.kit.checked_addresses import allowed_addresses
from campaigns.kit.http.failures import FAILURES, FileFailed
from campaigns.kit.mappings import Parameters
from campaigns.kit.network import BadUrl, Refused, Rules, check_url

Result = TypeVar("Result")
REPO = "{http://linux.duke.edu/metadata/repo}"
COMMON = "{http://linux.duke.edu/metadata/common}"

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WHY_READ = "A worker reads what the feed has to offer, to prove that all of it was synced."
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
CHUNKED = "_zck"
"""End of the names of copies in chunks of zstd, beside which there is another one."""

MOST_PACKED = 1024 * 1024 * 1024
MOST_METADATA = 4 * 1024 * 1024 * 1024
"""Bytes of a document as it is sent, and unpacked. It is read as it comes, and not kept."""
MOST_SECONDS = 900.0
"""Of sending and reading a document: 200,000 packages may take a minute of a processor."""
MOST_DOCUMENTS = 1000
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


@dataclass(frozen=True, slots=True)
class Offer:
    """The content of a feed: the number of units, and the size in bytes of each file by its digest.

    metadata: digests of the feed's own documents, which a mirror stores as artifacts.
    others: the numbers of units of TYPES that the feed has; None of those that cannot be read.
    """

    units: int
    files: dict[bytes, int]
    metadata: frozenset[str] = frozenset()
    others: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The size of all files, each counted once, as Pulp stores them."""
        return sum(self.files.values())


NOT_PACKED = "manifest.txt"
READABLE = ("file", "rpm")
"""Plug-ins of content whose metadata perfdash reads."""


def feeds_read(parameters: Parameters) -> list[str]:
    """Return the feeds that a worker reads, each once as far as their hosts differ; parameters may be texts that are not checked yet."""
    feed, content = str(parameters.get("feed") or ""), str(parameters.get("content") or "file")
    plugin, _, kind = content.partition("/")
    if not feed or plugin not in READABLE or kind not in ("", plugin):
        return []
    number = str(parameters.get("repositories") or 1)
    varies = "{n}" in begin_of(feed) and number.isdecimal()
    numbers = range(1, min(int(number), MOST_REPOSITORIES) + 1) if varies else (1,)
    return [feed.replace("{n}", str(each)) for each in numbers]


def require_allowed(url: str, rules: Rules) -> None:
    """Raise AddressRefused where a worker may not read a feed. What else is wrong with one, the server tells that syncs it."""
    try:
        endpoint = check_url(url, rules)
        allowed_addresses(endpoint.host, endpoint.port, rules)
    except Refused as refusal:
        raise AddressRefused(f"{refusal} {WHY_READ}") from None
    except (BadUrl, OSError):
        return


def offer_of(url: str, content: str, context: Context) -> Offer | None:
    """Return what a feed offers; None where perfdash cannot read its metadata.

    Raise AddressRefused, TargetUnavailable, DriverError.
    """
    match content:
        case "file/file":
            return _read(url, NOT_PACKED, context, _files, manifest.MOST_BYTES)
        case "rpm/rpm":
            return _packages(url, context)
    return None


def digest_of(text: str) -> bytes:
    """Return a digest that is written in hexadecimal, in half of its memory. Raise DriverError."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise DriverError(f"The feed's metadata give “{text[:40]}” as a digest.") from None


def _files(pieces: Iterable[bytes]) -> Offer:
    """Return what a manifest offers: Pulp has a unit for each name with its digest."""
    files: dict[bytes, int] = {}
    units: set[bytes] = set()
    summed = sha256()

    def seen() -> Iterator[bytes]:
        for piece in pieces:
            summed.update(piece)
            yield piece

    try:
        for _, entry in manifest.read(seen()):
            files[bytes.fromhex(entry.sha256)] = entry.size
            units.add(blake2b(f"{entry.name},{entry.sha256}".encode(), digest_size=10).digest())
    except manifest.BadManifest as error:
        raise DriverError(f"The feed's manifest cannot be read: {error}") from None
    if not files:
        raise DriverError("The feed's manifest cannot be read: it lists no file.")
    return Offer(len(units), files, frozenset([summed.hexdigest()]))


def _packages(url: str, context: Context) -> Offer:
    base = url if url.endswith("/") else f"{url}/"
    document = _get(urljoin(base, "repodata/repomd.xml"), context)
    repomd = list(islice(_elements([document], f"{REPO}data"), MOST_DOCUMENTS))
    named = {
        named.text for data in repomd for named in data.iterfind(f"{REPO}checksum") if named.text
    }
    primary = (data for data in repomd if data.get("type") == "primary")
    place = next((data.find(f"{REPO}location") for data in primary), None)
    href = place.get("href") if place is not None else None
    if not href:
        raise DriverError("The feed's repomd.xml names no primary metadata.")
    files = _read(urljoin(base, href), href, context, package_sizes)
    digests = frozenset([sha256(document).hexdigest(), *named])
    return Offer(len(files), files, digests, _others(base, repomd, context))


def package_sizes(pieces: Iterable[bytes]) -> dict[bytes, int]:
    """Return the sizes of the packages of primary.xml by their digests. Raise DriverError."""
    files: dict[bytes, int] = {}
    for package in _elements(pieces, f"{COMMON}package"):
        digest, size = package.find(f"{COMMON}checksum"), package.find(f"{COMMON}size")
        if digest is not None and digest.text and size is not None:
            files[digest_of(digest.text.strip())] = _size(size.get("package") or "0")
        if len(files) > MOST_PACKAGES:
            raise DriverError(f"The feed has more than {MOST_PACKAGES:,} packages.")
    return files


def _size(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DriverError(f"The feed's metadata give “{text[:40]}” as a size.") from None


def _others(base: str, repomd: Sequence[Any], context: Context) -> dict[str, int | None]:
    """Count the modules, comps and advisories of a feed of packages."""
    counts: dict[str, int | None] = {}
    for name, (types, count) in COUNTERS.items():
        href = _place_of(repomd, name)
        if not href:
            continue
        if href.rpartition(".")[2] not in (*UNPACKERS, *PLAIN):
            counts |= dict.fromkeys(types)
            continue
        counts |= _read(urljoin(base, href), href, context, count)
    return counts


def _place_of(repomd: Iterable[Any], name: str) -> str:
    """Return where the metadata of a type are, such as `group` or `group_gz`; empty where there are none."""
    for data in repomd:
        kind, place = str(data.get("type")), data.find(f"{REPO}location")
        if kind.partition("_")[0] == name and not kind.endswith(CHUNKED) and place is not None:
            return str(place.get("href") or "")
    return ""


def _modules(pieces: Iterable[bytes]) -> dict[str, int]:
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
            raise DriverError(f"One of the feed's modules has more than {MOST_MODULE:,} bytes.")
        whole, end, rest = rest.rpartition(b"\n")
        *ended, begun = NEXT_DOCUMENT.split((whole + end).decode(errors="replace"))
        yield from ended
        rest = begun.encode() + rest
    yield from NEXT_DOCUMENT.split(rest.decode(errors="replace"))


def _comps(pieces: Iterable[bytes]) -> dict[str, int]:
    found: dict[str, set[str | None]] = {name: set() for name in OF_COMPS}
    langpacks = 0
    for each in _elements(pieces, *OF_COMPS, "langpacks"):
        if each.tag in found:
            found[each.tag] |= _ids(each)
        elif each.find("match") is not None:
            langpacks = 1
    return {kind: len(found[name]) for name, kind in OF_COMPS.items()} | {LANGPACKS: langpacks}


def _advisories(pieces: Iterable[bytes]) -> dict[str, int]:
    different: set[str | None] = set()
    for each in _elements(pieces, "update"):
        different |= _ids(each)
    return {"rpm.advisory": len(different)}


def _ids(element: Any) -> set[str | None]:
    return {each.text for each in element.iterfind("id")}


COUNTERS: Mapping[str, tuple[Sequence[str], Callable[[Iterable[bytes]], Mapping[str, int]]]] = {
    "modules": (tuple(OF_MODULES.values()), _modules),
    "group": ((*OF_COMPS.values(), LANGPACKS), _comps),
    "updateinfo": (("rpm.advisory",), _advisories),
}
"""What the metadata of a type hold, and what counts it."""


def _elements(pieces: Iterable[bytes], *tags: str) -> Iterator[Any]:
    """Yield the elements below the root with one of these tags; those before are forgotten, since a tree takes 30 times the memory.

    Refuse a document type, which excludes entities that grow when they are expanded. Raise DriverError.
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
                        raise DriverError(
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
        raise DriverError(f"The feed's metadata are no XML that can be read: {error}.") from None


def _without_entities(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of a document, none of them long or empty. Raise DriverError for one that declares entities."""
    before = b""
    for whole in pieces:
        for begin in range(0, len(whole), PIECE):
            piece = whole[begin : begin + PIECE]
            seen = (before + piece).replace(b"\0", b"")  # also in UTF-16
            if b"<!DOCTYPE" in seen or b"<!ENTITY" in seen:
                raise DriverError(
                    "The feed's metadata define entities; metadata of packages have none."
                )
            before = (before + piece)[-LONGEST_MARK:]
            yield piece


def _get(url: str, context: Context) -> bytes:
    """Fetch a small document of the feed."""
    return _fetched(url, context, Limits(10.0, 30.0, 120.0, manifest.MOST_BYTES)).body


def _read(
    url: str,
    name: str,
    context: Context,
    read: Callable[[Iterable[bytes]], Result],
    most_bytes: int = MOST_PACKED,
) -> Result:
    """Return what `read` makes of a document of the feed, unpacked by its name, while it is sent."""
    results: list[Result] = []
    _fetched(
        url,
        context,
        Limits(10.0, 30.0, MOST_SECONDS, most_bytes),
        lambda pieces: results.append(read(unpacked(pieces, name))),
    )
    return results[0]


def _fetched(
    url: str,
    context: Context,
    limits: Limits,
    read: Callable[[Iterable[bytes]], None] | None = None,
) -> Answer:
    try:
        answer = fetch(url, context.rules, context.check, limits, sender=context.sender, read=read)
    except Refused as refusal:
        raise AddressRefused(f"{refusal} {WHY_READ}") from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except FileFailed as error:
        if error.failure == "address":
            raise AddressRefused(str(error)) from None
        raise TargetUnavailable(
            f"The feed {url} gave no answer: {FAILURES[error.failure]} ({error})."
        ) from None
    if answer.status != 200:
        raise DriverError(f"The feed {url} answered {answer.status}; check the parameter feed.")
    return answer


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
    """Yield a document piece by piece, unpacked by the ending of its name. Raise DriverError."""
    ending = name.rpartition(".")[2]
    if ending not in (*PLAIN, *UNPACKERS):
        known = ", ".join(UNPACKERS)
        raise DriverError(
            f"{name} is compressed in a way that perfdash cannot unpack; it can: {known}. "
            "Let createrepo_c write one of these."
        )
    size = 0
    plain = pieces if ending in PLAIN else _members(pieces, name, UNPACKERS[ending])
    for piece in plain:
        size += len(piece)
        if size > MOST_METADATA:
            raise DriverError(f"{name} has more than {MOST_METADATA} bytes unpacked.")
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
                    raise DriverError(f"{name} has more than {MOST_MEMBERS:,} parts.")
            yield from _of_member(member, rest, name)
            rest = b""
            if member.eof:
                rest, member = member.unused_data, None
    if member is not None:
        raise DriverError(f"{name} cannot be unpacked: it ends in the middle.")


def _of_member(member: _Unpacker, data: bytes, name: str) -> Iterator[bytes]:
    """Yield what a member makes of the data that were sent for it."""
    while True:
        try:
            piece = member.decompress(data, PIECE)
        except BROKEN as error:
            raise DriverError(f"{name} cannot be unpacked: {error}.") from None
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
