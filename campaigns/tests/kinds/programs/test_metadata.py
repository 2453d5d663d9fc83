"""Metadata as createrepo_c and others compress it, and what is not unpacked."""

import bz2
import gzip
import hashlib
import lzma
import sys
import tracemalloc
from collections.abc import Callable

import pytest

from campaigns.kinds.programs import metadata

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS: dict[str, Callable[..., bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
    "bz2": bz2.compress,
}
TEXT = b"<metadata/>" * 1000


def unpacked(body, name, piece=1 << 16):
    """The whole of a document that comes in pieces."""
    pieces = (body[begin : begin + piece] for begin in range(0, len(body), piece))
    return b"".join(metadata.unpacked(pieces, name))


@pytest.fixture(params=PACKERS)
def packing(request):
    """An ending of names, and what packs so."""
    return request.param, PACKERS[request.param]


def test_what_is_packed_is_read(packing):
    ending, pack = packing

    assert unpacked(pack(TEXT), f"repodata/primary.xml.{ending}") == TEXT


def test_many_empty_members_are_refused(packing, monkeypatch):
    """Each copied what followed it: some megabytes of them took a worker for hours."""
    monkeypatch.setattr(metadata, "MOST_MEMBERS", 100)
    ending, pack = packing

    with pytest.raises(metadata.BadMetadata, match="more than 100 parts"):
        unpacked(pack(b"") * 101, f"primary.xml.{ending}")


def test_padding_between_members_is_left_out(packing, monkeypatch):
    monkeypatch.setattr(metadata, "PIECE", 7)
    ending, pack = packing

    packed = pack(TEXT) + bytes(20) + pack(TEXT) + bytes(20)
    assert unpacked(packed, f"primary.xml.{ending}") == 2 * TEXT
    with pytest.raises(metadata.BadMetadata, match="ends in the middle"):
        unpacked(packed[:-25], f"primary.xml.{ending}")


def test_elements_are_forgotten_once_they_are_read(monkeypatch):
    """A tree of all of them takes 30 times the memory of the text."""
    body = b"<m><a>1</a>" + b"<b/>" * 100_000 + b"<a>2</a></m>"
    tracemalloc.start()
    found = [each.text for each in metadata.elements([body], "a")]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found == ["1", "2"]
    assert peak < 10 * len(body)
    monkeypatch.setattr(metadata, "MOST_ELEMENTS", 1000)
    with pytest.raises(metadata.BadMetadata, match="more than 1,000 elements"):
        list(metadata.elements([b"<m>" + b"<a>" * 2000 + b"</a>" * 2000 + b"</m>"], "a"))


@pytest.mark.parametrize("body", [b"", b"<m>", b"<m></n>", b"no", b"<!DOCTYPE m><m/>"])
def test_what_is_no_metadata_is_refused(body):
    with pytest.raises(metadata.BadMetadata):
        list(metadata.elements([body], "a"))


def test_several_members_are_one_document(packing):
    ending, pack = packing

    assert unpacked(pack(TEXT) + pack(TEXT), f"primary.xml.{ending}") == 2 * TEXT


def test_what_unpacks_to_too_much_is_refused(packing, monkeypatch):
    ending, pack = packing
    monkeypatch.setattr(metadata, "MOST_METADATA", len(TEXT))
    assert unpacked(pack(TEXT), f"primary.xml.{ending}") == TEXT

    for bomb in (pack(TEXT + b"."), pack(bytes(10_000_000)), pack(TEXT) + pack(b".")):
        with pytest.raises(metadata.BadMetadata, match=f"more than {len(TEXT)} bytes unpacked"):
            unpacked(bomb, f"primary.xml.{ending}")


@pytest.mark.parametrize(
    "spoil",
    [lambda body: body[:-9], lambda body: b"<html>", lambda body: body + b"."],
    ids=["cut off", "another thing", "more than it should be"],
)
def test_what_is_broken_is_told_with_its_name(packing, spoil):
    ending, pack = packing

    with pytest.raises(metadata.BadMetadata, match=rf"primary\.xml\.{ending} cannot be unpacked"):
        unpacked(spoil(pack(TEXT)), f"primary.xml.{ending}")


def test_xz_that_needs_too_much_memory_is_refused(monkeypatch):
    monkeypatch.setattr(metadata, "MOST_MEMORY", 1_000_000)

    with pytest.raises(metadata.BadMetadata, match="cannot be unpacked"):
        unpacked(lzma.compress(TEXT, preset=9), "primary.xml.xz")


def test_another_compression_is_told_with_those_that_are_known():
    with pytest.raises(metadata.BadMetadata, match=r"zck is compressed .* gz, xz, zst, bz2"):
        unpacked(b"", "repodata/primary.xml.zck")


@pytest.mark.parametrize("piece", [1, 7, 1000, 1 << 20])
@pytest.mark.parametrize(
    "text", [b"", b"a", bytes(metadata.PIECE), bytes(3 * metadata.PIECE), TEXT]
)
def test_a_document_is_the_same_in_pieces_of_any_size(packing, piece, text):
    ending, pack = packing

    assert unpacked(pack(text) + pack(text), f"primary.xml.{ending}", piece) == 2 * text


@pytest.mark.parametrize("piece", [1, 5, 1 << 16])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_wherever_pieces_end(piece, codec):
    body = '<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "b">]><m>&a;</m>'.encode(codec)
    pieces = [body[begin : begin + piece] for begin in range(0, len(body), piece)]

    with pytest.raises(metadata.BadMetadata, match="define entities"):
        list(metadata.elements(pieces, "a"))


def test_a_bomb_is_unpacked_to_its_limit_in_little_memory(packing, monkeypatch):
    monkeypatch.setattr(metadata, "MOST_METADATA", 20_000_000)
    ending, pack = packing
    body = pack(bytes(30_000_000))
    tracemalloc.start()
    with pytest.raises(metadata.BadMetadata, match="more than 20000000 bytes unpacked"):
        for _ in metadata.unpacked([body], f"primary.xml.{ending}"):
            pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20_000_000


PACKAGE = """<package type="rpm"><name>package-{n}</name><arch>x86_64</arch><version epoch="0" ver="1" rel="{n}"/>
<checksum type="sha256" pkgid="YES">{digest}</checksum><summary>made up</summary><description>{long}</description>
<size package="{n}" installed="1" archive="1"/><location href="p/{n}.rpm"/>
<format><rpm:provides>{entries}</rpm:provides></format></package>
"""
ENTRIES = "".join(
    f'<rpm:entry name="lib{n}.so()(64bit)" flags="EQ" epoch="0" ver="{n}"/>' for n in range(20)
)


def primary(packages):
    """A primary.xml in pieces, as it is sent: 3 kB a package."""
    yield b'<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm">'
    for n in range(packages):
        digest = hashlib.sha256(b"%d" % n).hexdigest()
        yield PACKAGE.format(n=n, digest=digest, long="long " * 300, entries=ENTRIES).encode()
    yield b"</metadata>"


def peak_of(packages, pack):
    """The memory that reading so many packages takes at most, in bytes; each piece is packed as a member of its own."""
    tracemalloc.start()
    try:
        name = f"primary.xml.{pack}" if pack else "primary.xml"
        sent = (PACKERS[pack](each) if pack else each for each in primary(packages))
        files = metadata.package_sizes(metadata.unpacked(sent, name))
        return files, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", ["", "gz"])
def test_packages_are_read_as_a_stream(pack):
    """20,000 of them once took 736 MB as a tree. What grows with them is a digest and a size: 85 bytes, and more while it grows."""
    few, peak_of_few = peak_of(300, pack)
    many, peak_of_many = peak_of(3000, pack)

    assert (len(few), len(many), sum(many.values())) == (300, 3000, 4_498_500)
    assert peak_of_many - peak_of_few < 2700 * 250  # bytes; their text has 3,000 each
    assert peak_of_many < 2_000_000


def test_modules_are_read_as_a_stream():
    one = "---\ndocument: modulemd\ndata: {{name: {n}, text: '{long}'}}\n...\n"
    pieces = (one.format(n=n, long="long " * 2000).encode()[:-1] + b"\n" for n in range(500))
    tracemalloc.start()
    counts = metadata.modules(pieces)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert counts["rpm.modulemd"] == 500
    assert peak < 1_000_000


def test_a_document_of_modules_may_end_anywhere_in_a_piece():
    body = b"---\ndocument: modulemd\na: 1\n...\n---\ndocument: modulemd-defaults\n---\ndocument: modulemd\na: 2"
    for piece in (1, 3, 10, 1000):
        pieces = [body[begin : begin + piece] for begin in range(0, len(body), piece)]
        assert metadata.modules(pieces) == {
            "rpm.modulemd": 2,
            "rpm.modulemd_defaults": 1,
            "rpm.modulemd_obsolete": 0,
        }
