"""Read what a feed offers from its manifest or metadata, to prove that a sync did all the work."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urljoin

from campaigns.kinds.base.errors import AddressRefused, DriverError, TargetUnavailable
from campaigns.kinds.base.values import Context
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.fetch import Answer, Limits, fetch
from campaigns.kinds.programs.metadata import (
    COUNTERS,
    PLAIN,
    REPO,
    UNPACKERS,
    BadMetadata,
    elements,
    package_sizes,
    unpacked,
)
from campaigns.kit.checked_addresses import allowed_addresses
from campaigns.kit.http.failures import FAILURES, FileFailed
from campaigns.kit.network import BadUrl, Refused, Rules, check_url

Result = TypeVar("Result")
WHY_READ = "A worker reads what the feed has to offer, to prove that all of it was synced."
CHUNKED = "_zck"
"""End of the names of copies in chunks of zstd, beside which there is another one."""
MOST_PACKED = 1024 * 1024 * 1024
"""Bytes of a document as it is sent. It is read as it comes, and not kept."""
MOST_SECONDS = 900.0
"""Of sending and reading a document: 200,000 packages may take a minute of a processor."""
MOST_DOCUMENTS = 1000
NOT_PACKED = "manifest.txt"


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
    try:
        match content:
            case "file/file":
                return _read(url, NOT_PACKED, context, _files, manifest.MOST_BYTES)
            case "rpm/rpm":
                return _packages(url, context)
    except BadMetadata as error:
        raise DriverError(str(error)) from None
    return None


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
    repomd = list(islice(elements([document], f"{REPO}data"), MOST_DOCUMENTS))
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
