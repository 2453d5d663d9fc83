"""Read what a repository on the target names, by the certificate that its hosts show: documents and packages."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from campaigns.kinds.base import (
    AddressRefused,
    Context,
    DriverError,
    Parameters,
    ParametersRefused,
    TargetUnavailable,
)
from campaigns.kinds.base.feed import wants_login
from campaigns.kinds.programs import repository
from campaigns.kinds.programs.fetch import Answer, Limits, fetch
from campaigns.kinds.programs.metadata import BadMetadata, unpacked
from campaigns.kinds.programs.repository import Named
from campaigns.kit.http.connection import shown_begin
from campaigns.kit.http.credentials import BadCertificate, Tls, context_of
from campaigns.kit.http.failures import ANONYMOUS, FAILURES, FileFailed
from campaigns.kit.network import BadUrl, Refused, Rules

Result = TypeVar("Result")
MANIFEST = "PULP_MANIFEST"
REPOMD = "repodata/repomd.xml"
LISTS = ".txt"
"""End of the name of a list of paths."""
LISTING = "repository.json"
MOST_BYTES = 32 * 1024 * 1024
MOST_PACKED = 1024 * 1024 * 1024
MOST_SECONDS = 900.0
SMALL = Limits(10.0, 30.0, 120.0, MOST_BYTES)
LARGE = Limits(10.0, 30.0, MOST_SECONDS, MOST_PACKED)
PEEK = Limits(5.0, 10.0, 20.0, MOST_BYTES)
NO_SUCH = (404, 410)


@dataclass(frozen=True, slots=True)
class Asking:
    """How the target is asked: by what certificate and headers, and within which rules."""

    rules: Rules
    tls: Tls
    headers: Mapping[str, str]
    check: Callable[[], None] = lambda: None
    sender: str = ANONYMOUS
    most_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository: url, of its directory, with / at the end; the documents that dnf fetches, the first one repomd.xml; and its files."""

    url: str
    documents: tuple[Named, ...]
    files: tuple[Named, ...]

    @property
    def bytes(self) -> int | None:
        """The size of the files; None where the repository does not tell it."""
        sizes = [each.size for each in self.files]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None


def asking(context: Context, tls: Tls, headers: Mapping[str, str]) -> Asking:
    """Return how the target is asked in an attempt."""
    return Asking(
        context.rules, tls, headers, context.check, context.sender, context.most_per_second
    )


def listing_of(url: str, parameters: Parameters, ask: Asking) -> Listing:
    """Return what a run fetches: of the repository's files the first ones by name. Raise DriverError."""
    try:
        whole = _listing(url, ask)
    except BadMetadata as error:
        raise DriverError(f"{error} ({url})") from None
    _require(whole, parameters)
    number = parameters["packages"] or len(whole.files)
    documents = {"fetch": whole.documents, "repomd": whole.documents[:1], "none": ()}
    return replace(whole, documents=documents[parameters["metadata"]], files=whole.files[:number])


def look_at(url: str, ask: Asking) -> None:
    """Fetch the first document of a repository. Raise DriverError."""
    name = REPOMD if url.endswith("/") else ""
    try:
        body = _get(f"{url}{name}", ask, PEEK)
        if name:
            repository.documents_of(body)
    except BadMetadata as error:
        raise DriverError(f"{error} ({url})") from None


def directory_of(url: str) -> str:
    """Return the URL of a repository as it tells what that is: a directory ends with /, a manifest or a list does not."""
    name = urlsplit(url).path.rpartition("/")[2]
    return url if name in ("", MANIFEST) or name.endswith(LISTS) else f"{url}/"


def _listing(url: str, ask: Asking) -> Listing:
    base, _, name = url.rpartition("/")
    base += "/"
    if name:
        read = repository.files_of if name == MANIFEST else repository.paths_of
        return Listing(base, (Named(name),), tuple(read(_get(url, ask))))
    repomd = _get(f"{base}{REPOMD}", ask)
    documents = repository.documents_of(repomd)
    primary = documents["primary"].path
    packages = _read(
        f"{base}{primary}", ask, lambda pieces: repository.packages_of(unpacked(pieces, primary))
    )
    return Listing(base, (Named(REPOMD, len(repomd)), *documents.values()), tuple(packages))


def _require(listing: Listing, parameters: Parameters) -> None:
    """Raise ParametersRefused where the repository has not what a parameter asks for."""
    asked, there = parameters["packages"], len(listing.files)
    if asked > there:
        raise ParametersRefused(
            f"{asked:,} packages are asked for, and the repository has {there:,}. Give at most {there:,}, or 0 for all.",
            {"packages": f"The repository has {there:,}: give at most that, or 0 for all."},
        )
    missing = repository.without_digest(listing.files)
    if parameters["verify"] != "size" and missing:
        raise ParametersRefused(
            f"The repository does not tell the SHA-256 of {missing:,} of its {there:,} files, so what is fetched cannot be compared "
            "with it. Choose to verify the size.",
            {
                "verify": f"The repository does not tell the SHA-256 of {missing:,} files: choose size."
            },
        )


def _get(url: str, ask: Asking, limits: Limits = SMALL) -> bytes:
    return _fetched(url, ask, limits).body


def _read(url: str, ask: Asking, read: Callable[[Iterable[bytes]], Result]) -> Result:
    """Return what `read` makes of a document while it is sent."""
    results: list[Result] = []

    def take(pieces: Iterator[bytes]) -> None:
        results.append(read(pieces))

    _fetched(url, ask, LARGE, take)
    return results[0]


def _fetched(
    url: str, ask: Asking, limits: Limits, read: Callable[[Iterator[bytes]], None] | None = None
) -> Answer:
    """Return an answer of 200. Raise DriverError for any other."""
    answer = _answered(url, ask, limits, read)
    _require_found(answer)
    return answer


def _answered(
    url: str,
    ask: Asking,
    limits: Limits,
    read: Callable[[Iterator[bytes]], None] | None = None,
    method: str = "GET",
) -> Answer:
    try:
        return fetch(
            url, ask.rules, ask.check, limits, method, sender=ask.sender, most_per_second=ask.most_per_second,
            read=read, tls=context_of(ask.tls) if url.startswith("https:") else None, headers=ask.headers,
        )  # fmt: skip
    except BadCertificate as error:
        raise DriverError(f"{error} Mend it on the target's page.") from None
    except Refused as refusal:
        raise AddressRefused(str(refusal)) from None
    except BadUrl as error:
        raise DriverError(str(error)) from None
    except FileFailed as error:
        if error.failure == "address":
            raise AddressRefused(str(error)) from None
        raise TargetUnavailable(
            f"{url} gave no answer: {FAILURES[error.failure]} ({error}). Check that the server runs, the target's base URL, its CA "
            "bundle, and the certificate that hosts show."
        ) from None


def server_of(url: str, ask: Asking) -> Answer:
    """Ask a server for whatever it has at a URL, to see whether and how it answers. Raise DriverError without an answer."""
    return _answered(url, ask, PEEK, method="HEAD")


def _require_found(answer: Answer) -> None:
    """Raise DriverError for another status than 200."""
    if answer.status == 200:
        return
    if answer.status in NO_SUCH and answer.url.endswith(REPOMD):
        raise ParametersRefused(
            f"{answer.url} answered {answer.status}: there is no repository. Give the directory of its repodata/, a {MANIFEST}, or a "
            "list of paths.",
            {"repository": f"There is no repodata/repomd.xml ({answer.status}): give the directory that has it, a {MANIFEST}, or a list of paths."},
        )  # fmt: skip
    words = shown_begin(answer.body, answer.headers)
    message = f"{answer.url} answered {answer.status}{f' (“{words}”)' if words else ''}"
    if wants_login(answer.status, words):
        raise ParametersRefused(
            f"{message}: the server does not let such a host in. Check the certificate that hosts show "
            "(identity), and whether it is entitled to this repository.",
            {"identity": f"The server answers {answer.status} to it: choose hosts with another certificate."},
        )  # fmt: skip
    if answer.status >= 500 or answer.status in (408, 425, 429):
        raise TargetUnavailable(f"{message}; look at the server, and run again.")
    raise DriverError(f"{message}; check the parameter repository.")


def store_listing(context: Context, listing: Listing) -> None:
    """Keep what was read in the attempt's directory, for the steps that follow."""
    context.directory.mkdir(parents=True, exist_ok=True)
    stored = [listing.url, listing.documents, listing.files]
    (context.directory / LISTING).write_text(json.dumps(stored))


def stored_listing(directory: Path) -> Listing:
    """Return what was kept."""
    url, documents, files = json.loads((directory / LISTING).read_text())
    return Listing(
        url, tuple(Named(*each) for each in documents), tuple(Named(*each) for each in files)
    )
