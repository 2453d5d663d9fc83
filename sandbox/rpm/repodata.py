"""The repodata of packages: repomd.xml and the three lists that it names. Pure."""

import hashlib
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Protocol

from sandbox.bodies import FileBody
from sandbox.manifest import Abandoned, Kind, broken, digests, spoiled
from sandbox.rpm import package
from sandbox.rpm.package import NAMES, Packages, Packing, header_range

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_XML = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_COMMON = "http://linux.duke.edu/metadata/common"
_RPM = "http://linux.duke.edu/metadata/rpm"
_REPO = "http://linux.duke.edu/metadata/repo"


class Part(StrEnum):
    """One file of the repodata."""

    REPOMD = "repomd"
    PRIMARY = "primary"
    FILELISTS = "filelists"
    OTHER = "other"

    @property
    def path(self) -> str:
        """Where it stands in a repository, packed as usual."""
        return self.packed(Packing.GZ)

    def packed(self, packing: Packing) -> str:
        """Say where it stands; repomd.xml is never packed."""
        return f"repodata/{self}.xml" if self is Part.REPOMD else f"repodata/{self}.xml.{packing}"


class Extra(StrEnum):
    """One file of what comes with packages. Each value is its type in repomd.xml."""

    GROUP = "group"
    MODULES = "modules"
    UPDATEINFO = "updateinfo"

    def packed(self, packing: Packing) -> str:
        """Say where it stands."""
        name = {"group": "comps.xml", "modules": "modules.yaml"}.get(self, f"{self}.xml")
        return f"repodata/{name}.{packing}"


_LISTS = (Part.PRIMARY, Part.FILELISTS, Part.OTHER)
_ROOTS = {
    Part.PRIMARY: f'metadata xmlns="{_COMMON}" xmlns:rpm="{_RPM}"',
    Part.FILELISTS: 'filelists xmlns="http://linux.duke.edu/metadata/filelists"',
    Part.OTHER: 'otherdata xmlns="http://linux.duke.edu/metadata/other"',
}
_VERSION = f'epoch="0" ver="{package.VERSION}" rel="{package.RELEASE}"'
_REQUIRES = f"""
  <rpm:requires>
    <rpm:entry name="{NAMES % 0}" flags="EQ" {_VERSION}/>
  </rpm:requires>"""
_PRIMARY = f"""\
<package type="rpm">
<name>%(name)s</name>
<arch>{package.ARCH}</arch>
<version {_VERSION}/>
<checksum type="sha256" pkgid="YES">%(digest)s</checksum>
<summary>{package.SUMMARY}</summary>
<description>{package.DESCRIPTION}</description>
<packager></packager>
<url></url>
<time file="{package.INSTANT}" build="{package.INSTANT}"/>
<size package="%(size)s" installed="%(installed)d" archive="%(archive)d"/>
<location href="%(path)s"/>
<format>
  <rpm:license>{package.LICENSE}</rpm:license>
  <rpm:vendor></rpm:vendor>
  <rpm:group>{package.GROUP}</rpm:group>
  <rpm:buildhost>{package.BUILD_HOST}</rpm:buildhost>
  <rpm:sourcerpm>{package.SOURCE}</rpm:sourcerpm>
  <rpm:header-range start="%(start)d" end="%(end)d"/>
  <rpm:provides>
    <rpm:entry name="%(name)s" flags="EQ" {_VERSION}/>
  </rpm:provides>%(requires)s
</format>
</package>
"""
_HEAD = (
    f'<package pkgid="%(digest)s" name="%(name)s" arch="{package.ARCH}">\n<version {_VERSION}/>\n'
)
_FILELISTS = f"""\
{_HEAD}<file type="dir">{package.SHARE}%(name)s</file>
<file>{package.SHARE}%(name)s/{package.FILE}</file>
</package>
"""
_AUTHOR = package.CHANGELOG[0].replace("<", "&lt;").replace(">", "&gt;")
_OTHER = f"""\
{_HEAD}<changelog author="{_AUTHOR}" date="{package.INSTANT}">{package.CHANGELOG[1]}</changelog>
</package>
"""
_TEMPLATES = {
    Part.PRIMARY: _PRIMARY.encode(),
    Part.FILELISTS: _FILELISTS.encode(),
    Part.OTHER: _OTHER.encode(),
}


_GROUP = """\
<group>
<id>sandbox-{n}</id>
<name>Sandbox {n}</name>
<description>Made up</description>
<default>true</default>
<uservisible>true</uservisible>
<packagelist><packagereq type="mandatory">{package}</packagereq></packagelist>
</group>
"""
_GROUPS = """\
<category>
<id>sandbox</id>
<name>Sandbox</name>
<description>Made up</description>
<display_order>1</display_order>
<grouplist><groupid>sandbox-0</groupid></grouplist>
</category>
<environment>
<id>sandbox-environment</id>
<name>Sandbox</name>
<description>Made up</description>
<display_order>1</display_order>
<grouplist><groupid>sandbox-0</groupid></grouplist>
<optionlist></optionlist>
</environment>
"""
_MODULE = """\
---
document: modulemd
version: 2
data:
  name: sandbox-{n}
  stream: "1"
  version: 1
  context: "00000000"
  arch: noarch
  summary: Made up
  description: Made up
  license:
    module:
    - CC0-1.0
  artifacts:
    rpms:
    - {nevra}
...
"""
_DEFAULTS = """\
---
document: modulemd-defaults
version: 1
data:
  module: sandbox-0
  stream: "1"
  profiles:
    "1": []
...
"""
_ADVISORY = f"""\
<update from="sandbox@localhost" status="final" type="bugfix" version="1">
<id>SANDBOX-{{n}}</id>
<title>Made up</title>
<issued date="2025-01-01 00:00:00"/>
<updated date="2025-01-01 00:00:00"/>
<rights></rights>
<release></release>
<severity>None</severity>
<summary>Made up</summary>
<description>Made up</description>
<references></references>
<pkglist><collection short="sandbox"><name>Sandbox</name>
<package name="{{package}}" {_VERSION.replace("ver=", "version=").replace("rel=", "release=")} arch="{package.ARCH}" \
src="{package.SOURCE}"><filename>{{file}}</filename></package>
</collection></pkglist>
</update>
"""


class _Packer(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


_PACKERS: Mapping[Packing, Callable[[], _Packer]] = {
    Packing.GZ: lambda: zlib.compressobj(wbits=31),  # without an instant
    Packing.XZ: lambda: lzma.LZMACompressor(preset=1),
    Packing.ZST: zstd.ZstdCompressor,
}


class _List:
    """One list, compressed as it grows, so that it is never there in full."""

    def __init__(self, part: Part, packages: int, packing: Packing) -> None:
        self._part = part
        self.path = part.packed(packing)
        self._zip = _PACKERS[packing]()
        self._digest = hashlib.sha256()
        self._size = 0
        self.zipped = bytearray()
        self.write(_XML + f'<{_ROOTS[part]} packages="{packages}">\n'.encode())

    def write(self, text: bytes) -> None:
        self._digest.update(text)
        self._size += len(text)
        self.zipped += self._zip.compress(text)

    def close(self) -> None:
        self.write(f"</{_ROOTS[self._part].split()[0]}>\n".encode())
        self.zipped += self._zip.flush()

    def data(self) -> str:
        """Write what repomd.xml says of it."""
        return _data(
            self._part, self.path, bytes(self.zipped), self._digest.hexdigest(), self._size
        )


def _data(kind: str, path: str, zipped: bytes, digest: str, size: int) -> str:
    """Write what repomd.xml says of a file. digest, size: of it unpacked."""
    return f"""\
<data type="{kind}">
  <checksum type="sha256">{hashlib.sha256(zipped).hexdigest()}</checksum>
  <open-checksum type="sha256">{digest}</open-checksum>
  <location href="{path}"/>
  <timestamp>{package.INSTANT}</timestamp>
  <size>{len(zipped)}</size>
  <open-size>{size}</open-size>
</data>
"""


def _extra(extra: Extra, packages: Packages) -> bytes:
    """Write a file of what comes with packages: as many units as `extras` says, and one of each that stands beside them."""
    units = range(packages.extras)
    names = [NAMES % (n % max(1, packages.files)) for n in units]
    match extra:
        case Extra.GROUP:
            groups = "".join(_GROUP.format(n=n, package=names[n]) for n in units)
            return _XML + f"<comps>\n{groups}{_GROUPS}</comps>\n".encode()
        case Extra.MODULES:
            nevra = f"-0:{package.VERSION}-{package.RELEASE}.{package.ARCH}"
            modules = "".join(_MODULE.format(n=n, nevra=names[n] + nevra) for n in units)
            return (modules + _DEFAULTS).encode()
        case Extra.UPDATEINFO:
            advisories = "".join(
                _ADVISORY.format(n=n, package=names[n], file=packages.name(0).rpartition("/")[2])
                for n in units
            )
            return _XML + f"<updates>\n{advisories}</updates>\n".encode()


class Repodata:
    """All documents of a repository, by path, and what its packages are made from.

    documents: `kind` says what is wrong, with the first package or with the file `part`.
    len() is the bytes that it holds. Raise Abandoned once `abandoned` is true.
    """

    def __init__(
        self,
        packages: Packages,
        kind: Kind = Kind.OK,
        part: Part = Part.REPOMD,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> None:
        self._packages = packages
        self._abandoned = abandoned
        self._file_digests = digests(packages.content, abandoned)
        self._payload_digests = bytearray()
        self.documents = self._written(kind, part)

    def __len__(self) -> int:
        held = sum(map(len, self.documents.values()))
        return held + len(self._file_digests) + len(self._payload_digests)

    def body(self, index: int) -> FileBody:
        """Give the bytes of a package, without making them."""
        digest = slice(32 * index, 32 * index + 32)
        return self._packages.body(
            index, bytes(self._file_digests[digest]), bytes(self._payload_digests[digest])
        )

    def _written(self, kind: Kind, part: Part) -> Mapping[str, bytes]:
        lists = {part: _List(part, self._packages.files, self._packages.packing) for part in _LISTS}
        for index in range(self._packages.files):
            for values in self._entries(index, kind if index == 0 else Kind.OK):
                for listed, written in lists.items():
                    written.write(_TEMPLATES[listed] % values)
        documents = {}
        for written in lists.values():
            written.close()
            documents[written.path] = bytes(written.zipped)
        data = "".join(written.data() for written in lists.values())
        for extra in Extra if self._packages.extras else ():
            text, packer = _extra(extra, self._packages), _PACKERS[self._packages.packing]()
            path = extra.packed(self._packages.packing)
            documents[path] = packer.compress(text) + packer.flush()
            digest = hashlib.sha256(text).hexdigest()
            data += _data(extra, path, documents[path], digest, len(text))
        repomd = (
            f'<repomd xmlns="{_REPO}" xmlns:rpm="{_RPM}">\n<revision>{package.INSTANT}</revision>'
        )
        documents[Part.REPOMD.path] = _XML + f"{repomd}\n{data}</repomd>\n".encode()
        wrong = part.packed(self._packages.packing)
        documents[wrong] = spoiled(kind, documents[wrong])
        return documents

    def _entries(self, index: int, kind: Kind) -> Iterator[dict[bytes, bytes | int]]:
        """Give the values of a package's entries: one, or as many as `kind` makes of it."""
        packages = self._packages
        payload = packages.payload(index)
        self._payload_digests += self._hashed(payload)
        body = self.body(index)
        start, end = header_range(body.head[: len(body.head) - len(payload.head)])
        entry = (
            packages.name(index).encode(),
            self._hashed(body).hex().encode(),
            b"%d" % body.length,
        )
        for path, digest, size in broken(kind, *entry):
            yield {
                b"name": (NAMES % index).encode(),
                b"path": path,
                b"digest": digest,
                b"size": size,
                b"installed": packages.content.size(index),
                b"archive": payload.length,
                b"start": start,
                b"end": end,
                b"requires": _REQUIRES.encode() if index else b"",
            }

    def _hashed(self, body: FileBody) -> bytes:
        digest, done = hashlib.sha256(), 0
        while done < body.length:
            if self._abandoned():
                raise Abandoned
            piece = body.piece(done, body.length)
            digest.update(piece)
            done += len(piece)
        return digest.digest()
