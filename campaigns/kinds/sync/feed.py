"""Read what a feed offers from its manifest or metadata, to prove that a sync did all the work."""

import bz2
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any, Protocol
from urllib.parse import urljoin
from xml.etree import ElementTree

from campaigns.kinds.base import AddressRefused, Context, DriverError, TargetUnavailable
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kinds.programs.pinned import allowed_addresses, begin_of
from campaigns.kinds.sync.form import MOST_REPOSITORIES
from campaigns.kit.http.failures import FAILURES, FileFailed
from campaigns.kit.mappings import Parameters
from campaigns.kit.network import BadUrl, Refused, Rules, check_url

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

MOST_METADATA = 512 * 1024 * 1024
MOST_DOCUMENTS = 1000
MOST_PACKAGES = 2_000_000
MOST_ELEMENTS = 2_000_000
"""Of one package, group or advisory: a kernel names some ten thousand files."""
MOST_MODULES = 64 * 1024 * 1024
MOST_MEMBERS = 100_000
PIECE = 1 << 16
MOST_MEMORY = 256 * 1024 * 1024
"""The limit for xz, whose files declare how much they need; zstd needs at most 128 MiB."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The content of a feed: the number of units, and the size in bytes of each file by its digest.

    metadata: digests of the feed's own documents, which a mirror stores as artifacts.
    others: the numbers of units of TYPES that the feed has; None of those that cannot be read.
    """

    units: int
    files: dict[str, int]
    metadata: frozenset[str] = frozenset()
    others: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The size of all files, each counted once, as Pulp stores them."""
        return sum(self.files.values())


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
        allowed_addresses(check_url(url, rules), rules)
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
            return _files(_get(url, context))
        case "rpm/rpm":
            return _packages(url, context)
    return None


def _files(body: bytes) -> Offer:
    try:
        entries = manifest.parse(body)
    except manifest.BadManifest as error:
        raise DriverError(f"The feed's manifest cannot be read: {error}") from None
    files = {entry.sha256: entry.size for entry in entries}
    return Offer(len(entries), files, frozenset([sha256(body).hexdigest()]))


def _packages(url: str, context: Context) -> Offer:
    base = url if url.endswith("/") else f"{url}/"
    document = _get(urljoin(base, "repodata/repomd.xml"), context)
    repomd = list(islice(_elements(document, f"{REPO}data"), MOST_DOCUMENTS))
    named = {
        named.text for data in repomd for named in data.iterfind(f"{REPO}checksum") if named.text
    }
    primary = (data for data in repomd if data.get("type") == "primary")
    place = next((data.find(f"{REPO}location") for data in primary), None)
    href = place.get("href") if place is not None else None
    if not href:
        raise DriverError("The feed's repomd.xml names no primary metadata.")
    files: dict[str, int] = {}
    for package in _elements(
        unpacked(_get(urljoin(base, href), context), href), f"{COMMON}package"
    ):
        digest, size = package.find(f"{COMMON}checksum"), package.find(f"{COMMON}size")
        if digest is not None and digest.text and size is not None:
            files[digest.text] = _size(size.get("package") or "0")
        if len(files) > MOST_PACKAGES:
            raise DriverError(f"The feed has more than {MOST_PACKAGES:,} packages.")
    digests = frozenset([sha256(document).hexdigest(), *named])
    return Offer(len(files), files, digests, _others(base, repomd, context))


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
        counts |= count(unpacked(_get(urljoin(base, href), context), href))
    return counts


def _place_of(repomd: Iterable[Any], name: str) -> str:
    """Return where the metadata of a type are, such as `group` or `group_gz`; empty where there are none."""
    for data in repomd:
        kind, place = str(data.get("type")), data.find(f"{REPO}location")
        if kind.partition("_")[0] == name and not kind.endswith(CHUNKED) and place is not None:
            return str(place.get("href") or "")
    return ""


def _modules(body: bytes) -> dict[str, int]:
    """Count the documents of a file of modules, each once."""
    if len(body) > MOST_MODULES:
        raise DriverError(f"The feed's modules have more than {MOST_MODULES:,} bytes unpacked.")
    documents = {each.strip() for each in NEXT_DOCUMENT.split(body.decode(errors="replace"))}
    kinds = [match[1] for each in documents if (match := DOCUMENT.search(each))]
    return {kind: kinds.count(name) for name, kind in OF_MODULES.items()}


def _comps(body: bytes) -> dict[str, int]:
    found: dict[str, set[str | None]] = {name: set() for name in OF_COMPS}
    langpacks = 0
    for each in _elements(body, *OF_COMPS, "langpacks"):
        if each.tag in found:
            found[each.tag] |= _ids(each)
        elif each.find("match") is not None:
            langpacks = 1
    return {kind: len(found[name]) for name, kind in OF_COMPS.items()} | {LANGPACKS: langpacks}


def _advisories(body: bytes) -> dict[str, int]:
    different: set[str | None] = set()
    for each in _elements(body, "update"):
        different |= _ids(each)
    return {"rpm.advisory": len(different)}


def _ids(element: Any) -> set[str | None]:
    return {each.text for each in element.iterfind("id")}


COUNTERS: Mapping[str, tuple[Sequence[str], Callable[[bytes], Mapping[str, int]]]] = {
    "modules": (tuple(OF_MODULES.values()), _modules),
    "group": ((*OF_COMPS.values(), LANGPACKS), _comps),
    "updateinfo": (("rpm.advisory",), _advisories),
}
"""What the metadata of a type hold, and what counts it."""


def _elements(body: bytes, *tags: str) -> Iterator[Any]:
    """Yield the elements below the root with one of these tags; those before are forgotten, since a tree takes 30 times the memory.

    Refuse a document type, which excludes entities that grow when they are expanded. Raise DriverError.
    """
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise DriverError("The feed's metadata define entities; metadata of packages have none.")
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    path, within = list[Any](), 0
    try:
        for begin in range(0, len(body) + 1, PIECE):
            parser.feed(body[begin : begin + PIECE])
            if begin + PIECE > len(body):
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
    except (ElementTree.ParseError, ValueError) as error:
        raise DriverError(f"The feed's metadata are no XML that can be read: {error}.") from None


def _get(url: str, context: Context) -> bytes:
    """Fetch a document of the feed."""
    limits = Limits(10.0, 30.0, total_seconds=120.0, most_bytes=manifest.MOST_BYTES)
    try:
        answer = fetch(url, context.rules, context.check, limits, sender=context.sender)
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
    return answer.body


class _Unpacker(Protocol):
    """A decompressor of one member; a file may have several members in sequence."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


UNPACKERS: Mapping[str, Callable[[], _Unpacker]] = {
    "gz": lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16),
    "xz": lambda: lzma.LZMADecompressor(memlimit=MOST_MEMORY),
    "zst": zstd.ZstdDecompressor,
    "bz2": bz2.BZ2Decompressor,
}
PLAIN = ("xml", "yaml")
"""Endings of names that are not compressed."""
BROKEN = (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, EOFError)


def unpacked(body: bytes, name: str) -> bytes:
    """Unpack a document by the ending of its name. Raise DriverError."""
    ending = name.rpartition(".")[2]
    if ending in PLAIN:
        return body
    if ending not in UNPACKERS:
        known = ", ".join(UNPACKERS)
        raise DriverError(
            f"{name} is compressed in a way that perfdash cannot unpack; it can: {known}. "
            "Let createrepo_c write one of these."
        )
    try:
        return _all_of(body, name, UNPACKERS[ending])
    except BROKEN as error:
        raise DriverError(f"{name} cannot be unpacked: {error}.") from None


def _all_of(body: bytes, name: str, unpacker: Callable[[], _Unpacker]) -> bytes:
    whole, place, rest, members = bytearray(), 0, b"", 0
    member: _Unpacker | None = None
    while rest or place < len(body):
        if not rest:
            rest, place = body[place : place + PIECE], place + PIECE
        if member is None:
            rest = rest.lstrip(b"\0")  # padding
            if not rest:
                continue
            member, members = unpacker(), members + 1
            if members > MOST_MEMBERS:
                raise DriverError(f"{name} has more than {MOST_MEMBERS:,} parts.")
        whole += member.decompress(rest, MOST_METADATA + 1 - len(whole))
        if len(whole) > MOST_METADATA:
            raise DriverError(f"{name} has more than {MOST_METADATA} bytes unpacked.")
        rest = b""
        if member.eof:
            rest, member = member.unused_data, None
    if member is not None:
        raise EOFError("it ends in the middle")
    return bytes(whole)
