import hashlib

import pytest

from sandbox.bodies import Body
from sandbox.content import TAIL, Content, Names
from sandbox.manifest import Kind, build
from sandbox.tests.conftest import parsed


def whole(body: Body) -> bytes:
    received = b""
    while len(received) < body.length:
        received += body.piece(len(received), body.length)
    return received


@pytest.mark.parametrize("size", [0, 1, TAIL - 1, TAIL, TAIL + 1, 20_480, 262_144, 3_000_001])
def test_digest_and_size_in_the_manifest_are_those_of_the_bytes(size: int) -> None:
    content = Content(files=3, smallest=size, largest=size)

    lines = parsed(build(content))

    for index, line in enumerate(lines):
        received = whole(content.body(index))
        assert len(received) == line.size == size
        assert hashlib.sha256(received).hexdigest() == line.digest
    assert len({line.digest for line in lines}) == (3 if size else 1)


def test_sizes_that_vary_fill_their_range() -> None:
    content = Content(files=2000, smallest=10, largest=90)

    lines = parsed(build(content))

    sizes = [line.size for line in lines]
    assert set(sizes) == set(range(10, 91))
    assert 45 < sum(sizes) / len(sizes) < 55
    for index in range(0, 2000, 97):
        received = whole(content.body(index))
        assert hashlib.sha256(received).hexdigest() == lines[index].digest


def test_a_total_is_kept_to_the_byte() -> None:
    content = Content(files=7, total=1_000_001)

    sizes = [content.size(index) for index in range(7)]

    assert sum(sizes) == 1_000_001
    assert max(sizes) - min(sizes) == 1
    assert [line.size for line in parsed(build(content))] == sizes


def test_bytes_depend_on_seed_and_file_alone() -> None:
    assert whole(Content(seed=1).body(5)) == whole(Content(seed=1, files=9).body(5))
    assert whole(Content(seed=1).body(5)) != whole(Content(seed=2).body(5))


def test_unique_bytes_stand_at_the_end() -> None:
    content = Content(smallest=5000, largest=5000)

    one, other = whole(content.body(1)), whole(content.body(2))

    assert one[:-TAIL] == other[:-TAIL]
    assert one[-TAIL:] != other[-TAIL:]


@pytest.mark.parametrize("names", list(Names))
def test_a_name_leads_back_to_its_file(names: Names) -> None:
    content = Content(files=1_000_000, names=names)

    for index in (0, 7, 999, 1000, 999_999):
        assert content.index(content.name(index)) == index
    assert len({content.name(index) for index in range(3000)}) == 3000


@pytest.mark.parametrize(
    "name",
    [
        "",
        "PULP_MANIFEST",
        "file-000100.bin",
        "file-00001.bin",
        "xfile-000001.bin",
        "file-\u0661\u0661\u0661\u0661\u0661\u0661.bin",
    ],
)
def test_other_names_are_no_files(name: str) -> None:
    assert Content(files=100).index(name) is None


def test_each_broken_manifest_differs_from_the_good_one_only_where_it_says() -> None:
    content = Content(files=3)
    good = build(content).splitlines()
    name, digest, size = good[0].split(b",")

    def first(kind: Kind) -> list[bytes]:
        first, *rest = build(content, kind).splitlines()
        assert rest == good[1:]
        return first.split(b",")

    assert first(Kind.TRAVERSAL) == [b"../" + name, digest, size]
    assert first(Kind.ABSOLUTE) == [b"/" + name, digest, size]
    assert first(Kind.NEGATIVE) == [name, digest, b"-1"]
    assert first(Kind.ABSURD) == [name, digest, b"9" * 30]
    assert first(Kind.BAD_HEX) == [name, b"x" * 64, size]
    assert first(Kind.WRONG_SIZE) == [name, digest, b"20479"]
    assert first(Kind.WRONG_DIGEST) == [name, b"0" * 64, size]
    assert not first(Kind.NOT_UTF8)[0].decode(errors="ignore").startswith("\ufffd")
    with pytest.raises(UnicodeDecodeError):
        build(content, Kind.NOT_UTF8).decode()


def test_manifests_can_be_empty_cut_or_contradict_themselves() -> None:
    content = Content(files=3)
    good = build(content)

    cut = build(content, Kind.TRUNCATED)
    duplicates = parsed(build(content, Kind.DUPLICATES))

    assert build(content, Kind.EMPTY) == b""
    assert build(content, Kind.HTML).startswith(b"<!doctype html>")
    assert good.startswith(cut)
    assert cut.count(b"\n") == 2
    assert 3 < len(cut.splitlines()[2]) < len(good.splitlines()[2])
    assert duplicates[0].name == duplicates[1].name
    assert duplicates[0].digest != duplicates[1].digest
    assert len(duplicates) == 4
