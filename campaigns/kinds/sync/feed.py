"""What a feed has to offer, as its own manifest or metadata say: the measure of the same work."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urljoin
from xml.etree import ElementTree

from campaigns.kinds.base import AddressRefused, Context, DriverError, TargetUnavailable
from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.fetch import Limits, fetch
from campaigns.kinds.sync.unpacking import unpacked
from campaigns.kit.network import BadUrl, Refused
from campaigns.kit.network.http import FAILURES, FileFailed

REPO = "{http://linux.duke.edu/metadata/repo}"
COMMON = "{http://linux.duke.edu/metadata/common}"


@dataclass(frozen=True, slots=True)
class Offer:
    """The units of a feed: how many, their files by digest with sizes in bytes.

    metadata: digests of the feed's own documents, which a mirror keeps as artifacts.
    """

    units: int
    files: dict[str, int]
    metadata: frozenset[str] = frozenset()

    @property
    def bytes(self) -> int:
        """The size of all files, each counted once, as Pulp stores them."""
        return sum(self.files.values())


def offer_of(url: str, content: str, context: Context) -> Offer | None:
    """Ask a feed what it has; None where its kind of metadata is not known here.

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
    written = _get(urljoin(base, "repodata/repomd.xml"), context)
    repomd = _xml(written)
    named = {named.text for named in repomd.iterfind(f"{REPO}data/{REPO}checksum") if named.text}
    place = repomd.find(f"{REPO}data[@type='primary']/{REPO}location")
    href = place.get("href") if place is not None else None
    if not href:
        raise DriverError("The feed's repomd.xml names no primary metadata.")
    primary = _xml(unpacked(_get(urljoin(base, href), context), href))
    files: dict[str, int] = {}
    for package in primary.iterfind(f"{COMMON}package"):
        digest, size = package.find(f"{COMMON}checksum"), package.find(f"{COMMON}size")
        if digest is not None and digest.text and size is not None:
            files[digest.text] = int(size.get("package") or 0)
    return Offer(len(files), files, frozenset([sha256(written).hexdigest(), *named]))


def _xml(body: bytes) -> Any:
    """Read XML without a document type, so without entities that grow when they are expanded."""
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise DriverError("The feed's metadata define entities; metadata of packages have none.")
    try:
        return ElementTree.fromstring(body)  # noqa: S314 - see above
    except (ElementTree.ParseError, ValueError) as error:
        raise DriverError(f"The feed's metadata are no XML that can be read: {error}.") from None


def _get(url: str, context: Context) -> bytes:
    """Fetch a document of the feed; Pulp will fetch it too."""
    limits = Limits(10.0, 30.0, total_seconds=120.0, most_bytes=manifest.MOST_BYTES)
    try:
        answer = fetch(url, context.rules, context.check, limits, sender=context.sender)
    except Refused as refusal:
        raise AddressRefused(
            f"{refusal} perfdash reads what the feed has to offer, to prove that all of it was synced."
        ) from None
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
