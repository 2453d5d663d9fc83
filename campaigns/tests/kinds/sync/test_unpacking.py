"""Metadata as createrepo_c and others compress it, and what is not unpacked."""

import bz2
import gzip
import lzma
import sys
import tracemalloc

import pytest

from campaigns.kinds.base import DriverError
from campaigns.kinds.sync import feed
from campaigns.kinds.sync.feed import unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "zst": zstd.compress, "bz2": bz2.compress}
TEXT = b"<metadata/>" * 1000


@pytest.fixture(params=PACKERS)
def packing(request):
    """An ending of names, and what packs so."""
    return request.param, PACKERS[request.param]


def test_what_is_packed_is_read(packing):
    ending, pack = packing

    assert unpacked(pack(TEXT), f"repodata/primary.xml.{ending}") == TEXT


def test_many_empty_members_are_refused(packing, monkeypatch):
    """Each copied what followed it: some megabytes of them took a worker for hours."""
    monkeypatch.setattr(feed, "MOST_MEMBERS", 100)
    ending, pack = packing

    with pytest.raises(DriverError, match="more than 100 parts"):
        unpacked(pack(b"") * 101, f"primary.xml.{ending}")


def test_padding_between_members_is_left_out(packing, monkeypatch):
    monkeypatch.setattr(feed, "PIECE", 7)
    ending, pack = packing

    packed = pack(TEXT) + bytes(20) + pack(TEXT) + bytes(20)
    assert unpacked(packed, f"primary.xml.{ending}") == 2 * TEXT
    with pytest.raises(DriverError, match="ends in the middle"):
        unpacked(packed[:-25], f"primary.xml.{ending}")


def test_elements_are_forgotten_once_they_are_read(monkeypatch):
    """A tree of all of them takes 30 times the memory of the text."""
    body = b"<m><a>1</a>" + b"<b/>" * 100_000 + b"<a>2</a></m>"
    tracemalloc.start()
    found = [each.text for each in feed._elements(body, "a")]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found == ["1", "2"]
    assert peak < 10 * len(body)
    monkeypatch.setattr(feed, "MOST_ELEMENTS", 1000)
    with pytest.raises(DriverError, match="more than 1,000 elements"):
        list(feed._elements(b"<m>" + b"<a>" * 2000 + b"</a>" * 2000 + b"</m>", "a"))


@pytest.mark.parametrize("body", [b"", b"<m>", b"<m></n>", b"no", b"<!DOCTYPE m><m/>"])
def test_what_is_no_metadata_is_refused(body):
    with pytest.raises(DriverError):
        list(feed._elements(body, "a"))


def test_several_members_are_one_document(packing):
    ending, pack = packing

    assert unpacked(pack(TEXT) + pack(TEXT), f"primary.xml.{ending}") == 2 * TEXT


def test_what_unpacks_to_too_much_is_refused(packing, monkeypatch):
    ending, pack = packing
    monkeypatch.setattr(feed, "MOST_METADATA", len(TEXT))
    assert unpacked(pack(TEXT), f"primary.xml.{ending}") == TEXT

    for bomb in (pack(TEXT + b"."), pack(bytes(10_000_000)), pack(TEXT) + pack(b".")):
        with pytest.raises(DriverError, match=f"more than {len(TEXT)} bytes unpacked"):
            unpacked(bomb, f"primary.xml.{ending}")


@pytest.mark.parametrize(
    "spoil",
    [lambda body: body[:-9], lambda body: b"<html>", lambda body: body + b"."],
    ids=["cut off", "another thing", "more than it should be"],
)
def test_what_is_broken_is_told_with_its_name(packing, spoil):
    ending, pack = packing

    with pytest.raises(DriverError, match=rf"primary\.xml\.{ending} cannot be unpacked"):
        unpacked(spoil(pack(TEXT)), f"primary.xml.{ending}")


def test_xz_that_needs_too_much_memory_is_refused(monkeypatch):
    monkeypatch.setattr(feed, "MOST_MEMORY", 1_000_000)

    with pytest.raises(DriverError, match="cannot be unpacked"):
        unpacked(lzma.compress(TEXT, preset=9), "primary.xml.xz")


def test_another_compression_is_told_with_those_that_are_known():
    with pytest.raises(DriverError, match=r"zck is compressed .* gz, xz, zst, bz2"):
        unpacked(b"", "repodata/primary.xml.zck")
