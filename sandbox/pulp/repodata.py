"""Reads an RPM repository's metadata as far as a sync needs it: which packages there are."""

import bz2
import gzip
import lzma
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from sandbox.pulp.manifests import Entry
from sandbox.pulp.tasks import TaskFailed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

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


_UNPACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.decompress,
    "xz": lzma.decompress,
    "zst": zstd.decompress,
    "bz2": bz2.decompress,
}


def _unpacked(url: str, body: bytes) -> bytes:
    try:
        unpack = _UNPACKERS.get(url.rpartition(".")[2])
        return unpack(body) if unpack else body
    except (OSError, EOFError, lzma.LZMAError, zstd.ZstdError) as error:
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


def packages(base: str, url: str, body: bytes) -> Iterator[Entry]:
    """Give the packages of primary.xml, plain or compressed."""
    for package in _parsed(_unpacked(url, body), "primary.xml").iter(f"{_COMMON}package"):
        href = _of(package, f"{_COMMON}location", "href")
        if _of(package, f"{_COMMON}checksum", "type") != "sha256":
            raise TaskFailed("The simulator knows packages by SHA-256 only.")
        digest = _of(package, f"{_COMMON}checksum")
        size = int(_of(package, f"{_COMMON}size", "package"))
        address = urlsplit(urljoin(base, href))
        yield Entry(href, digest, size, address._replace(path=quote(address.path)).geturl())
