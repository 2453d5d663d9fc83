"""Reads an RPM repository's metadata as far as a sync needs it: which packages there are."""

import bz2
import gzip
import io
import lzma
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast
from urllib.parse import quote, urljoin, urlsplit

from sandbox.pulp.manifests import Entry
from sandbox.pulp.tasks import TaskFailed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error, zstd.ZstdError)
_REPO = "{http://linux.duke.edu/metadata/repo}"
_COMMON = "{http://linux.duke.edu/metadata/common}"


@dataclass(frozen=True, slots=True)
class Part:
    """A metadata file that repomd.xml names."""

    kind: str
    url: str
    digest: str


def _parsed(body: bytes, what: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(body)  # noqa: S314 - of a feed on this machine
    except ElementTree.ParseError as error:
        raise TaskFailed(f"{what} is not XML: {error}") from None


def _of(element: ElementTree.Element, path: str, attribute: str = "") -> str:
    result = element.find(path)
    if result is None:
        raise TaskFailed(f"{element.tag} of the metadata lacks {path}")
    return (result.get(attribute) if attribute else result.text) or ""


def parts(base: str, body: bytes) -> list[Part]:
    """Give what repomd.xml names; `base` is the repository's URL with its slash."""
    results = []
    for data in _parsed(body, "repomd.xml").iter(f"{_REPO}data"):
        sha256 = _of(data, f"{_REPO}checksum", "type") == "sha256"
        digest = _of(data, f"{_REPO}checksum") if sha256 else ""
        url = urljoin(base, _of(data, f"{_REPO}location", "href"))
        results.append(Part(data.get("type") or "", url, digest))
    if not any(part.kind == "primary" for part in results):
        raise TaskFailed("The repository's repomd.xml names no primary metadata.")
    return results


_OPENERS: Mapping[str, Callable[[IO[bytes]], Any]] = {
    "gz": gzip.open,
    "xz": lzma.open,
    "zst": zstd.open,
    "bz2": bz2.open,
}


def _opened(url: str, body: bytes) -> IO[bytes]:
    """Open what a file of the feed holds, which is unpacked as it is read."""
    opener = _OPENERS.get(url.rpartition(".")[2])
    file = io.BytesIO(body)
    return cast(IO[bytes], opener(file)) if opener else file


def _unpacked(url: str, body: bytes) -> bytes:
    try:
        with _opened(url, body) as file:
            return file.read()
    except _BROKEN as error:
        raise TaskFailed(f"{url} cannot be unpacked: {error}") from None


_KINDS = {
    "group": {
        "group": "packagegroup",
        "category": "packagecategory",
        "environment": "packageenvironment",
    },
    "updateinfo": {"update": "advisory"},
}
"""Elements of a metadata file of each type, with the type of content that they become."""
_MODULES = {"modulemd": "modulemd", "modulemd-defaults": "modulemd_defaults"}


def others(part: Part, body: bytes) -> Iterator[tuple[str, str]]:
    """Give type and text of each unit of a metadata file that holds no packages."""
    text = _unpacked(part.url, body)
    if part.kind == "modules":
        for document in text.decode().split("---\n")[1:]:
            kind = document.partition("document: ")[2].partition("\n")[0]
            yield f"rpm/{_MODULES[kind]}", document
    for name, kind in _KINDS.get(part.kind, {}).items():
        for element in _parsed(text, part.kind).findall(name):
            yield f"rpm/{kind}", ElementTree.tostring(element, encoding="unicode")


def _each_package(url: str, body: bytes) -> Iterator[ElementTree.Element]:
    """Give the elements of packages one by one, and forget them: a tree takes 10 times the memory of its text."""
    try:
        with _opened(url, body) as file:
            root = None
            for event, element in ElementTree.iterparse(file, ("start", "end")):  # noqa: S314 - as above
                if event == "start":
                    root = element if root is None else root
                elif element.tag == f"{_COMMON}package":
                    yield element
                    if root is not None:
                        root.clear()
    except ElementTree.ParseError as error:
        raise TaskFailed(f"primary.xml is not XML: {error}") from None
    except _BROKEN as error:
        raise TaskFailed(f"{url} cannot be unpacked: {error}") from None


def packages(base: str, url: str, body: bytes) -> Iterator[Entry]:
    """Give the packages of primary.xml, plain or compressed."""
    for package in _each_package(url, body):
        href = _of(package, f"{_COMMON}location", "href")
        if _of(package, f"{_COMMON}checksum", "type") != "sha256":
            raise TaskFailed("The simulator knows packages by SHA-256 only.")
        digest = _of(package, f"{_COMMON}checksum")
        size = int(_of(package, f"{_COMMON}size", "package"))
        address = urlsplit(urljoin(base, href))
        yield Entry(href, digest, size, address._replace(path=quote(address.path)).geturl())
