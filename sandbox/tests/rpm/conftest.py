import gzip
import hashlib
import struct
import xml.etree.ElementTree as ET  # our own documents
from dataclasses import dataclass

from sandbox.bodies import Body
from sandbox.content import Content
from sandbox.rpm.package import OVERHEAD, Packages, Packing

SPACES = {
    "common": "http://linux.duke.edu/metadata/common",
    "rpm": "http://linux.duke.edu/metadata/rpm",
    "repo": "http://linux.duke.edu/metadata/repo",
    "filelists": "http://linux.duke.edu/metadata/filelists",
    "other": "http://linux.duke.edu/metadata/other",
}


@dataclass(frozen=True)
class Listed:
    """A package as primary.xml lists it."""

    path: str
    digest: str
    size: int


def packages(
    count: int, smallest: int, largest: int = 0, seed: int = 0, packing: Packing = Packing.GZ
) -> Packages:
    """Packages of sizes that include all that is in them."""
    largest = max(smallest, largest)
    content = Content(count, smallest - OVERHEAD, largest - OVERHEAD, seed=seed)
    return Packages(content, packing)


def whole(body: Body) -> bytes:
    received = bytearray()
    while len(received) < body.length:
        received += body.piece(len(received), body.length)
    return bytes(received)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def listed(primary: bytes) -> list[Listed]:
    """What primary.xml.gz lists."""
    results = []
    for element in ET.fromstring(gzip.decompress(primary)):  # noqa: S314
        location = element.find("common:location", SPACES)
        size = element.find("common:size", SPACES)
        digest = element.findtext("common:checksum", "", SPACES)
        assert location is not None
        assert size is not None
        results.append(Listed(location.attrib["href"], digest, int(size.attrib["package"])))
    return results


def headers(package: bytes) -> tuple[bytes, bytes, bytes]:
    """The signature header, the header and the payload of a package."""
    start = 96
    parts = []
    for alignment in (8, 1):
        entries, data = struct.unpack_from(">II", package, start + 8)
        end = start + 16 + 16 * entries + data
        parts.append(package[start:end])
        start = end + -end % alignment
    return parts[0], parts[1], package[start:]


def field(header: bytes, tag: int) -> bytes:
    """The data of a field, up to its first zero where it is a text, or four bytes of a number."""
    (entries,) = struct.unpack_from(">I", header, 8)
    for index in range(entries):
        number, kind, offset, _ = struct.unpack_from(">IIII", header, 16 + 16 * index)
        if number == tag:
            data = header[16 + 16 * entries + offset :]
            return data[:4] if kind == 4 else data.partition(b"\0")[0]
    raise AssertionError(f"no field {tag}")
