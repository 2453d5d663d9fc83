import gzip
import xml.etree.ElementTree as ET  # our own documents

import pytest

from sandbox.manifest import PAGE, Abandoned, Kind
from sandbox.rpm.package import Packing
from sandbox.rpm.repodata import Part, Repodata
from sandbox.tests.rpm.conftest import SPACES, Listed, listed, packages, sha256, whole


def checked(documents: dict[str, bytes]) -> None:
    """See that repomd.xml tells the truth of each list."""
    root = ET.fromstring(documents[Part.REPOMD.path])  # noqa: S314
    data = root.findall("repo:data", SPACES)
    assert [element.attrib["type"] for element in data] == ["primary", "filelists", "other"]
    for element in data:
        location = element.find("repo:location", SPACES)
        assert location is not None
        document = documents[location.attrib["href"]]
        texts = [
            element.findtext(f"repo:{key}", "", SPACES)
            for key in ("checksum", "size", "open-checksum", "open-size")
        ]
        opened = gzip.decompress(document)
        assert texts == [sha256(document), str(len(document)), sha256(opened), str(len(opened))]


@pytest.mark.parametrize("count", [0, 1, 30])
def test_repomd_tells_checksums_and_sizes_of_the_lists(count: int) -> None:
    checked(dict(Repodata(packages(count, 3000)).documents))


@pytest.mark.parametrize("largest", [3000, 400_000])
def test_primary_tells_path_digest_and_size_of_each_package(largest: int) -> None:
    several = packages(9, 3000, largest)

    repodata = Repodata(several)

    expected = []
    for index in range(9):
        package = whole(repodata.body(index))
        expected.append(Listed(several.name(index), sha256(package), len(package)))
    assert listed(repodata.documents[Part.PRIMARY.path]) == expected
    assert len({package.digest for package in expected}) == 9


def test_the_lists_name_the_same_packages() -> None:
    documents = Repodata(packages(4, 3000)).documents

    digests = [package.digest for package in listed(documents[Part.PRIMARY.path])]
    for part in (Part.FILELISTS, Part.OTHER):
        root = ET.fromstring(gzip.decompress(documents[part.path]))  # noqa: S314
        assert [element.attrib["pkgid"] for element in root] == digests


def test_the_same_packages_have_the_same_repodata() -> None:
    first = Repodata(packages(4, 3000))

    again = Repodata(packages(4, 3000))

    assert again.documents == first.documents
    assert Repodata(packages(4, 3000, seed=1)).documents != first.documents


def test_each_broken_first_package_differs_only_where_it_says() -> None:
    several = packages(3, 3000)
    good = listed(Repodata(several).documents[Part.PRIMARY.path])
    path, digest, size = good[0].path, good[0].digest, good[0].size

    def first(kind: Kind) -> list[Listed]:
        documents = dict(Repodata(several, kind).documents)
        checked(documents)
        result = listed(documents[Part.PRIMARY.path])
        assert result[-2:] == good[1:]
        return result[:-2]

    assert first(Kind.TRAVERSAL) == [Listed(f"../{path}", digest, size)]
    assert first(Kind.ABSOLUTE) == [Listed(f"/{path}", digest, size)]
    assert first(Kind.NEGATIVE) == [Listed(path, digest, -1)]
    assert first(Kind.ABSURD) == [Listed(path, digest, int("9" * 30))]
    assert first(Kind.BAD_HEX) == [Listed(path, "x" * 64, size)]
    assert first(Kind.WRONG_SIZE) == [Listed(path, digest, size - 1)]
    assert first(Kind.WRONG_DIGEST) == [Listed(path, "0" * 64, size)]
    assert first(Kind.DUPLICATES) == [good[0], Listed(path, "0" * 64, size)]


def test_a_name_can_have_bytes_that_are_not_utf8() -> None:
    documents = dict(Repodata(packages(3, 3000), Kind.NOT_UTF8).documents)

    checked(documents)
    with pytest.raises(UnicodeDecodeError):
        gzip.decompress(documents[Part.PRIMARY.path]).decode()


@pytest.mark.parametrize("packing", list(Packing))
@pytest.mark.parametrize("part", list(Part))
def test_a_whole_file_can_be_wrong_and_the_others_are_right(part: Part, packing: Packing) -> None:
    several, name = packages(3, 3000, packing=packing), part.packed(packing)
    good = Repodata(several).documents

    def spoiled(kind: Kind) -> bytes:
        documents = Repodata(several, kind, part).documents
        assert {path for path in good if documents[path] != good[path]} == {name}
        return documents[name]

    right = good[name]
    corrupt = spoiled(Kind.CORRUPT)
    assert spoiled(Kind.EMPTY) == b""
    assert spoiled(Kind.HTML) == PAGE.encode()
    assert spoiled(Kind.TRUNCATED) == right[: len(right) // 2]
    assert (corrupt[:-1], corrupt[-1]) == (right[:-1], right[-1] ^ 0xFF)


def test_repodata_that_nobody_waits_for_is_abandoned() -> None:
    with pytest.raises(Abandoned):
        Repodata(packages(3, 3000), abandoned=lambda: True)
