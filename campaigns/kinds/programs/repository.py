"""Read which documents and files a repository names, each with its path, size and digest: to fetch them as a client does. Pure."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from campaigns.kinds.programs.manifest import BadManifest, parse
from campaigns.kinds.programs.metadata import (
    COMMON,
    MOST_PACKAGES,
    REPO,
    BadMetadata,
    elements,
)

BASE = "{http://www.w3.org/XML/1998/namespace}base"
FETCHED = ("primary", "filelists", "updateinfo")
"""The documents of repomd.xml that dnf fetches before it fetches packages, in its order; the last one only if it is there."""
MOST_DOCUMENTS = 1000
MOST_BYTES = 2**40
MOST_PATH = 2000
MOST_PATHS = 100_000
SHA256 = ("sha256", "sha-256")
DIGITS = frozenset("0123456789abcdef")
EXAMPLES = 3


class Named(NamedTuple):
    """A file that a repository names. path: relative to it; size: in bytes, None if it is not told; sha256: empty if it is not told."""

    path: str
    size: int | None = None
    sha256: str = ""


def documents_of(repomd: bytes) -> dict[str, Named]:
    """Return the documents that dnf fetches, by their type in repomd.xml. Raise BadMetadata."""
    named: dict[str, Named] = {}
    for data in islice(elements([repomd], f"{REPO}data"), MOST_DOCUMENTS):
        kind = str(data.get("type"))
        if kind in FETCHED:
            named[kind] = _named(
                data, f"{REPO}location", f"{REPO}checksum", _text(data, f"{REPO}size")
            )
    if "primary" not in named:
        raise BadMetadata("The repository's repomd.xml names no primary metadata.")
    return {kind: named[kind] for kind in FETCHED if kind in named}


def packages_of(pieces: Iterable[bytes]) -> list[Named]:
    """Return the packages of primary.xml in the order of their paths' names, as dnf fetches them. Raise BadMetadata."""
    found: list[Named] = []
    for package in elements(pieces, f"{COMMON}package"):
        size = package.find(f"{COMMON}size")
        text = "" if size is None else str(size.get("package") or "")
        found.append(_named(package, f"{COMMON}location", f"{COMMON}checksum", text))
        if len(found) > MOST_PACKAGES:
            raise BadMetadata(f"The repository has more than {MOST_PACKAGES:,} packages.")
    return checked(found, "package")


def files_of(manifest: bytes) -> list[Named]:
    """Return the files of a PULP_MANIFEST in the order of their names. Raise BadMetadata."""
    try:
        entries = parse(manifest)
    except BadManifest as error:
        raise BadMetadata(f"The repository's manifest cannot be read: {error}") from None
    return checked([Named(each.name, each.size, each.sha256) for each in entries], "file")


def paths_of(text: bytes) -> list[Named]:
    """Return the files of a list: a path a line, of sizes that are not told. Raise BadMetadata."""
    try:
        lines = [line.strip() for line in text.decode().splitlines()]
    except UnicodeDecodeError:
        raise BadMetadata("The list of paths is not UTF-8; write one path a line.") from None
    paths = [line for line in lines if line and not line.startswith("#")]
    if len(paths) > MOST_PATHS:
        raise BadMetadata(f"The list has more than {MOST_PATHS:,} paths.")
    return checked([Named(_path(path)) for path in paths], "file")


def checked(found: Sequence[Named], what: str) -> list[Named]:
    """Return files in the order of their names. Raise BadMetadata for none, an empty file, and two of one path."""
    if not found:
        raise BadMetadata(f"The repository lists no {what}.")
    if empty := [each.path for each in found if each.size == 0]:
        raise BadMetadata(
            f"{_shown(empty)} has 0 bytes by the repository: no time of such a {what} can be measured. Take it out, and publish anew."
        )
    by_path: dict[str, Named] = {}
    twice = [each.path for each in found if by_path.setdefault(each.path, each) is not each]
    if twice:
        raise BadMetadata(
            f"The repository lists {_shown(twice)} twice: two of the {what}s would be one on the server. Publish it anew."
        )
    return sorted(found, key=_place)


def _place(file: Named) -> tuple[str, str]:
    return file.path.rpartition("/")[2], file.path


def _named(element: Any, location: str, checksum: str, size: str) -> Named:
    """Return what an element of the metadata names. Raise BadMetadata."""
    place = element.find(location)
    if place is None or not place.get("href"):
        raise BadMetadata("The repository's metadata name a file without its location.")
    if place.get(BASE):
        raise BadMetadata(
            f"The repository keeps {str(place.get('href'))[:80]} at another address (xml:base {str(place.get(BASE))[:80]}): a run loads "
            "only the server that it holds. Give the directory of the repository that holds its own packages."
        )
    digest = element.find(checksum)
    kind = "" if digest is None else str(digest.get("type") or "").lower()
    text = "" if digest is None else str(digest.text or "").strip().lower()
    return Named(
        _path(str(place.get("href"))),
        _size(size),
        text if kind in SHA256 and _is_sha256(text) else "",
    )


def _is_sha256(text: str) -> bool:
    return len(text) == 64 and set(text) <= DIGITS


def _size(text: str) -> int | None:
    if not text.strip():
        return None
    try:
        size = int(text)
    except ValueError:
        size = -1
    if not 0 <= size <= MOST_BYTES:
        raise BadMetadata(f"The repository's metadata give “{text[:40]}” as a size.")
    return size


def _path(written: str) -> str:
    """Return a path that stays below the repository. Raise BadMetadata."""
    parts = unquote(written).split("/")
    if "://" in written or written.startswith("/") or ".." in parts:
        raise BadMetadata(
            f"The repository names “{written[:80]}”, which is outside of it: a run fetches only what is below the repository's address."
        )
    if not written.isprintable() or len(written) > MOST_PATH or any(c in written for c in "?#\\"):
        raise BadMetadata(f"The repository names “{written[:80]}”, which is no plain path.")
    return "/".join(part for part in written.split("/") if part != ".")


def _text(element: Any, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else str(found.text or "")


def _shown(paths: Sequence[str]) -> str:
    first = ", ".join(f"“{path[:80]}”" for path in paths[:EXAMPLES])
    return f"{first} and {len(paths) - EXAMPLES:,} more" if len(paths) > EXAMPLES else first


def without_digest(files: Sequence[Named]) -> int:
    """Return of how many files the repository does not tell the SHA-256."""
    return sum(not each.sha256 for each in files)
