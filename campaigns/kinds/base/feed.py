"""Read what a feed offers from its manifest or metadata, to prove that a sync did all the work."""

import re
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urljoin

from campaigns.kinds.base.credentials import Credential
from campaigns.kinds.base.errors import (
    AddressRefused,
    CredentialRefused,
    DriverError,
    TargetUnavailable,
)
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
from campaigns.kit.http.connection import shown_begin
from campaigns.kit.http.credentials import BadCertificate, context_of
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
REFUSALS = (401, 403, 407)
WANTS_CERTIFICATE = re.compile(r"certificate", re.IGNORECASE)
"""What servers say, with the status 400, where TLS gave them no client certificate, or one that they do not trust."""
NAME_ONE = "It asks for a login: name a credential of the team (parameter credential)."


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


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents of a feed are read. credential: by which the feed is signed in to; None: by none.

    It goes to addresses that its owner named, and to no other that the feed may name.
    """

    rules: Rules
    check: Callable[[], None]
    sender: str
    credential: Credential | None = None

    def login_for(self, url: str) -> tuple[ssl.SSLContext | None, Mapping[str, str]]:
        """Return the context and the headers for a URL; none where the credential is not for it. Raise DriverError, BadUrl."""
        if self.credential is None or not self.credential.covers(url):
            return None, {}
        has_own = self.credential.certificate or self.credential.ca
        try:
            tls = context_of(self.credential.tls) if has_own else None
        except BadCertificate as error:
            raise DriverError(f"The credential “{self.credential.name}”: {error}") from None
        return tls, self.credential.headers


def offer_of(
    url: str, content: str, context: Context, credential: Credential | None = None
) -> Offer | None:
    """Return what a feed offers; None where perfdash cannot read its metadata.

    Raise AddressRefused, TargetUnavailable, CredentialRefused, DriverError.
    """
    reading = Reading(context.rules, context.check, context.sender, credential)
    try:
        match content:
            case "file/file":
                return _read(url, NOT_PACKED, reading, _files, manifest.MOST_BYTES)
            case "rpm/rpm":
                return _packages(url, reading)
    except BadMetadata as error:
        raise DriverError(str(error)) from None
    return None


def ask_feed(url: str, content: str, rules: Rules, credential: Credential | None) -> None:
    """Ask for the first document of a feed, and read no more than its begin. Raise as `offer_of`, and TargetUnavailable without an answer."""
    base = url if url.endswith("/") else f"{url}/"
    first = urljoin(base, "repodata/repomd.xml") if content == "rpm/rpm" else url
    limits = Limits(5.0, 10.0, 15.0, manifest.MOST_BYTES)
    reading = Reading(rules, lambda: None, "perfdash", credential)
    _fetched(first, reading, limits, _leave)


def _leave(pieces: Iterable[bytes]) -> None:
    """Read one piece of a body."""
    next(iter(pieces), b"")


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


def _packages(url: str, reading: Reading) -> Offer:
    base = url if url.endswith("/") else f"{url}/"
    document = _get(urljoin(base, "repodata/repomd.xml"), reading)
    repomd = list(islice(elements([document], f"{REPO}data"), MOST_DOCUMENTS))
    named = {
        named.text for data in repomd for named in data.iterfind(f"{REPO}checksum") if named.text
    }
    primary = (data for data in repomd if data.get("type") == "primary")
    place = next((data.find(f"{REPO}location") for data in primary), None)
    href = place.get("href") if place is not None else None
    if not href:
        raise DriverError("The feed's repomd.xml names no primary metadata.")
    files = _read(urljoin(base, href), href, reading, package_sizes)
    digests = frozenset([sha256(document).hexdigest(), *named])
    return Offer(len(files), files, digests, _others(base, repomd, reading))


def _others(base: str, repomd: Sequence[Any], reading: Reading) -> dict[str, int | None]:
    """Count the modules, comps and advisories of a feed of packages."""
    counts: dict[str, int | None] = {}
    for name, (types, count) in COUNTERS.items():
        href = _place_of(repomd, name)
        if not href:
            continue
        if href.rpartition(".")[2] not in (*UNPACKERS, *PLAIN):
            counts |= dict.fromkeys(types)
            continue
        counts |= _read(urljoin(base, href), href, reading, count)
    return counts


def _place_of(repomd: Iterable[Any], name: str) -> str:
    """Return where the metadata of a type are, such as `group` or `group_gz`; empty where there are none."""
    for data in repomd:
        kind, place = str(data.get("type")), data.find(f"{REPO}location")
        if kind.partition("_")[0] == name and not kind.endswith(CHUNKED) and place is not None:
            return str(place.get("href") or "")
    return ""


def _get(url: str, reading: Reading) -> bytes:
    """Fetch a small document of the feed."""
    return _fetched(url, reading, Limits(10.0, 30.0, 120.0, manifest.MOST_BYTES)).body


def _read(
    url: str,
    name: str,
    reading: Reading,
    read: Callable[[Iterable[bytes]], Result],
    most_bytes: int = MOST_PACKED,
) -> Result:
    """Return what `read` makes of a document of the feed, unpacked by its name, while it is sent."""
    results: list[Result] = []
    _fetched(
        url,
        reading,
        Limits(10.0, 30.0, MOST_SECONDS, most_bytes),
        lambda pieces: results.append(read(unpacked(pieces, name))),
    )
    return results[0]


def _fetched(
    url: str,
    reading: Reading,
    limits: Limits,
    read: Callable[[Iterable[bytes]], None] | None = None,
) -> Answer:
    try:
        tls, headers = reading.login_for(url)
        answer = fetch(
            url,
            reading.rules,
            reading.check,
            limits,
            sender=reading.sender,
            read=read,
            tls=tls,
            headers=headers,
        )
    except Refused as refusal:
        raise AddressRefused(f"{refusal} {WHY_READ}") from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except FileFailed as error:
        raise _no_answer(url, error, reading.credential) from None
    if answer.status != 200:
        raise _refusal(url, answer, reading.credential)
    return answer


def _no_answer(url: str, error: FileFailed, credential: Credential | None) -> DriverError:
    if error.failure == "address":
        return AddressRefused(str(error))
    said = f"The feed {url} gave no answer: {FAILURES[error.failure]} ({error})."
    if error.failure == "tls" and credential is not None:
        return CredentialRefused(
            f"{said} Check certificate and CA of the credential “{credential.name}”."
        )
    return TargetUnavailable(said)


def wants_login(status: int, words: str) -> bool:
    """Return whether a server refuses who asks, by its status and the words of its answer: nginx answers 400 where it wants a certificate."""
    return status in REFUSALS or (status == 400 and bool(WANTS_CERTIFICATE.search(words)))


def _refusal(url: str, answer: Answer, credential: Credential | None) -> DriverError:
    """Return the error for a status other than 200, with the feed's own words where it wants another login."""
    words = shown_begin(answer.body, answer.headers)
    said = f"The feed {url} answered {answer.status}"
    if wants_login(answer.status, words):
        said = f"{said}{f': “{words}”' if words else ''}."
        if credential is None:
            return CredentialRefused(f"{said} {NAME_ONE}")
        return CredentialRefused(
            f"{said} It does not take the credential “{credential.name}” (version {credential.version}): give that another "
            "certificate, password or token."
        )
    return DriverError(f"{said}; check the parameter feed.")
