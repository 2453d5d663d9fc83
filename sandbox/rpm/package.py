"""What the packages of a repository are: names, sizes, bytes. Pure: stores no package.

Each package holds one file of a Content. Whatever differs from package to package has the same
length in all of them, so all bytes but those of the file are OVERHEAD many, and a package can
have any size from there.
"""

import hashlib
import struct
from dataclasses import dataclass
from enum import StrEnum

from sandbox.bodies import FileBody
from sandbox.content import Content
from sandbox.rpm.header import Field, header, int16s, int32s, string, strings, translated

MOST_PACKAGES = 100_000
LARGEST_PACKAGE = 2_000_000_000
LARGEST_TOTAL = 20_000_000_000
"""Bytes of all packages: each is hashed twice from its first byte to its last, 1 GB in 2 s or so."""

VERSION, RELEASE, ARCH = "1.0", "1", "noarch"
NAMES = "sandbox-%06d"
FOLDER = "Packages/"
_ENDING = f"-{VERSION}-{RELEASE}.{ARCH}.rpm"
SUMMARY = "A package that the sandbox made up"
DESCRIPTION = "It holds one file of bytes that mean nothing."
LICENSE = "CC0-1.0"
GROUP = "Unspecified"
BUILD_HOST = "sandbox"
SOURCE = f"sandbox-{VERSION}-{RELEASE}.src.rpm"
INSTANT = 1_735_689_600
"""When all packages were built, seconds since 1970: the start of 2025, UTC."""

CHANGELOG = (f"sandbox <sandbox@localhost> - {VERSION}-{RELEASE}", "- Made up")
SHARE = "/usr/share/"
FILE = "data.bin"

_LEAD = struct.Struct(">4sBBHH66sHH16x")
_HEADER_REGION, _SIGNATURE_REGION = 63, 62
_NOARCH, _LINUX, _HEADER_SIGNATURE = 255, 1, 5
_SHA256 = 8  # as OpenPGP numbers hashes
_EQUAL = 8
_RPMLIB = 1 << 24 | 2 | 8  # required of rpm itself, in at least that version
_DIRECTORY_MODE, _FILE_MODE = 0o040755, 0o100644
_VERIFY_ALL = 0xFFFFFFFF


class Packing(StrEnum):
    """How the lists of the repodata are compressed."""

    GZ = "gz"
    XZ = "xz"
    ZST = "zst"


@dataclass(frozen=True, slots=True)
class Packages:
    """The packages of a repository. Equal ones have equal repodata.

    content: the files inside, one a package. extras: how many modules, package groups and advisories there are, each.
    """

    content: Content
    packing: Packing = Packing.GZ
    extras: int = 0

    @property
    def files(self) -> int:
        """The number of packages."""
        return self.content.files

    @property
    def seed(self) -> int:
        """What bytes, sizes and faults depend on."""
        return self.content.seed

    def name(self, index: int) -> str:
        """Give the relative path of a package."""
        return f"{FOLDER}{NAMES % index}{_ENDING}"

    def index(self, name: str) -> int | None:
        """Give the index of the package of that name, None where there is none."""
        number = name.removesuffix(_ENDING)[-6:]
        if not (number.isascii() and number.isdigit()):
            return None
        index = int(number)
        return index if index < self.files and self.name(index) == name else None

    def size(self, index: int) -> int:
        """Give the bytes of a package."""
        return OVERHEAD + self.content.size(index)

    def payload(self, index: int) -> FileBody:
        """Give the archive in a package: a directory, the file in it, zeros to its full size."""
        file = self.content.body(index)
        directory = f".{SHARE}{NAMES % index}"
        head = _member(directory, 1, _DIRECTORY_MODE, 0)
        head += _member(f"{directory}/{FILE}", 2, _FILE_MODE, file.length)
        padding = -file.length % 4
        tail = b"".join((file.tail, bytes(padding), _END_OF_ARCHIVE, bytes(3 - padding)))
        return FileBody(file.prefix, tail, head)

    def body(self, index: int, file_digest: bytes, payload_digest: bytes) -> FileBody:
        """Give the bytes of a package, without making them; the digests are SHA-256 of its parts."""
        payload = self.payload(index)
        start = front(NAMES % index, self.content.size(index), payload.length,
                      file_digest.hex(), payload_digest.hex())  # fmt: skip
        return FileBody(payload.prefix, payload.tail, start + payload.head)


def front(name: str, size: int, archive: int, file_digest: str, payload_digest: str) -> bytes:
    """Write all of a package that stands before its payload: lead, signature header, header.

    size, archive: bytes of the file, and of the payload.
    """
    nevr = f"{name}-{VERSION}-{RELEASE}".encode()
    lead = _LEAD.pack(b"\xed\xab\xee\xdb", 3, 0, 0, _NOARCH, nevr, _LINUX, _HEADER_SIGNATURE)
    main = _main(name, size, file_digest, payload_digest)
    signature = header(
        _SIGNATURE_REGION,
        [
            string(269, hashlib.sha1(main, usedforsecurity=False).hexdigest()),
            string(273, hashlib.sha256(main).hexdigest()),
            int32s(1000, len(main) + archive),
            int32s(1007, archive),
        ],
    )
    return b"".join((lead, signature, bytes(-len(signature) % 8), main))


def header_range(start: bytes) -> tuple[int, int]:
    """Give where the header begins and ends in a package that starts so."""
    entries, data = struct.unpack_from(">II", start, _LEAD.size + 8)
    signature = 16 + 16 * entries + data
    return _LEAD.size + signature + -signature % 8, len(start)


def _main(name: str, size: int, file_digest: str, payload_digest: str) -> bytes:
    """Write the header: fill in the places of the one that is kept, where no byte ever moves."""
    filled = _WITH_PLACES.replace(_NAME_PLACE.encode(), name.encode())
    filled = filled.replace(_FILE_PLACE.encode(), file_digest.encode())
    filled = filled.replace(_PAYLOAD_PLACE.encode(), payload_digest.encode())
    return filled.replace(_SIZE_PLACE.to_bytes(4), size.to_bytes(4))  # last: it may be any bytes


def _fields(name: str, size: int, file_digest: str, payload_digest: str) -> list[Field]:
    return [
        strings(100, "C"),  # languages
        string(1000, name),
        string(1001, VERSION),
        string(1002, RELEASE),
        translated(1004, SUMMARY),
        translated(1005, DESCRIPTION),
        int32s(1006, INSTANT),
        string(1007, BUILD_HOST),
        int32s(1009, size),
        string(1014, LICENSE),
        translated(1016, GROUP),
        string(1021, "linux"),
        string(1022, ARCH),
        int32s(1028, 4096, size),  # of the directory, and of the file
        int16s(1030, _DIRECTORY_MODE, _FILE_MODE),
        int16s(1033, 0, 0),  # devices
        int32s(1034, INSTANT, INSTANT),
        strings(1035, "", file_digest),
        strings(1036, "", ""),  # targets of links
        int32s(1037, 0, 0),  # flags: neither configuration nor documentation
        strings(1039, "root", "root"),
        strings(1040, "root", "root"),
        string(1044, SOURCE),
        int32s(1045, _VERIFY_ALL, _VERIFY_ALL),
        strings(1047, name),  # provides
        int32s(1048, _EQUAL, _RPMLIB, _RPMLIB, _RPMLIB),
        strings(
            1049, NAMES % 0, "rpmlib(CompressedFileNames)", "rpmlib(FileDigests)",
            "rpmlib(PayloadFilesHavePrefix)",
        ),
        strings(1050, f"{VERSION}-{RELEASE}", "3.0.4-1", "4.6.0-1", "4.0-1"),
        string(1064, "4.18.0"),  # the rpm that wrote it
        int32s(1080, INSTANT),
        strings(1081, CHANGELOG[0]),
        strings(1082, CHANGELOG[1]),
        int32s(1095, 1, 1),  # devices of the files
        int32s(1096, 1, 2),  # inodes
        strings(1097, "", ""),  # languages of the files
        int32s(1112, _EQUAL),
        strings(1113, f"{VERSION}-{RELEASE}"),
        int32s(1116, 0, 1),  # which of the directories 1118 holds each of the names 1117
        strings(1117, name, FILE),
        strings(1118, SHARE, f"{SHARE}{name}/"),
        string(1124, "cpio"),  # and no 1125: it is not compressed
        int32s(5011, _SHA256),
        string(5062, "utf-8"),
        strings(5092, payload_digest),
        int32s(5093, _SHA256),
    ]  # fmt: skip


_NAME_PLACE, _FILE_PLACE, _PAYLOAD_PLACE = "N" * len(NAMES % 0), "F" * 64, "P" * 64
_SIZE_PLACE = int.from_bytes(b"~~~~")
_WITH_PLACES = header(
    _HEADER_REGION, _fields(_NAME_PLACE, _SIZE_PLACE, _FILE_PLACE, _PAYLOAD_PLACE)
)


def _member(name: str, inode: int, mode: int, size: int) -> bytes:
    """Write the record of an archive ("newc" of cpio) before the bytes of one member."""
    links = 2 if mode == _DIRECTORY_MODE else 1
    numbers = (inode, mode, 0, 0, links, INSTANT, size, 0, 0, 0, 0, len(name) + 1, 0)
    record = b"070701" + b"".join(b"%08x" % number for number in numbers) + name.encode() + b"\0"
    return record + bytes(-len(record) % 4)


_END_OF_ARCHIVE = _member("TRAILER!!!", 0, 0, 0)

OVERHEAD = Packages(Content(files=1, smallest=0, largest=0)).body(0, bytes(32), bytes(32)).length
"""Bytes of a package whose file is empty: the smallest package."""
