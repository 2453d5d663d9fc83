import hashlib

import pytest

from sandbox.rpm.package import OVERHEAD, Packages
from sandbox.rpm.repodata import Repodata
from sandbox.tests.rpm.conftest import field, headers, packages, sha256, whole


def made(packages: Packages, index: int = 0) -> bytes:
    return whole(Repodata(packages).body(index))


def members(archive: bytes) -> dict[str, bytes]:
    """What a cpio archive holds, and what follows its end."""
    result, start = {}, 0
    while "TRAILER!!!" not in result:
        assert archive[start : start + 6] == b"070701"
        numbers = [int(archive[start + at : start + at + 8], 16) for at in range(6, 110, 8)]
        name = archive[start + 110 : start + 110 + numbers[11] - 1].decode()
        data = start + 110 + numbers[11] + -(110 + numbers[11]) % 4
        result[name] = archive[data : data + numbers[6]]
        start = data + numbers[6] + -numbers[6] % 4
    result["rest"] = archive[start:]
    return result


@pytest.mark.parametrize("more", [0, 1, 2, 3, 4, 31, 32, 33, 50_000, 1_500_001])
def test_a_package_has_the_size_that_was_asked_for_to_the_byte(more: int) -> None:
    size = OVERHEAD + more
    several = packages(2, size)

    package = made(several, 1)

    assert len(package) == several.size(1) == size
    directory = "./usr/share/sandbox-000001"
    inside = members(headers(package)[2])
    assert list(inside) == [directory, f"{directory}/data.bin", "TRAILER!!!", "rest"]
    assert inside[directory] == inside["TRAILER!!!"] == b""
    assert inside[f"{directory}/data.bin"] == whole(several.content.body(1))
    assert inside["rest"] == bytes(len(inside["rest"]))
    assert len(inside["rest"]) <= 3


def test_each_digest_and_size_in_a_package_is_that_of_what_it_is_about() -> None:
    several = packages(3, 5000)

    signature, header, payload = headers(made(several, 2))

    assert field(signature, 269).decode() == hashlib.sha1(header).hexdigest()  # noqa: S324
    assert field(signature, 273).decode() == sha256(header)
    assert int.from_bytes(field(signature, 1000)) == len(header + payload)
    assert int.from_bytes(field(signature, 1007)) == len(payload)
    assert field(header, 5092).decode() == sha256(payload)
    assert int.from_bytes(field(header, 1009)) == several.content.size(2)
    digest = sha256(whole(several.content.body(2))).encode()
    assert b"\0" + digest + b"\0" in header


def test_bytes_depend_on_seed_and_package_alone() -> None:
    assert made(packages(2, 5000, seed=1)) == made(packages(9, 5000, seed=1))
    assert made(packages(2, 5000, seed=1)) != made(packages(2, 5000, seed=2))
    assert made(packages(2, 5000), 0) != made(packages(2, 5000), 1)


def test_a_name_leads_back_to_its_package() -> None:
    several = packages(100_000, 5000)

    for index in (0, 7, 99_999):
        assert several.index(several.name(index)) == index


@pytest.mark.parametrize(
    "name",
    [
        "",
        "repodata/repomd.xml",
        "sandbox-000000-1.0-1.noarch.rpm",
        "Packages/sandbox-000100-1.0-1.noarch.rpm",
        "Packages/sandbox-00001-1.0-1.noarch.rpm",
        "Packages/sandbox-000001-1.0-2.noarch.rpm",
        "Packages/sandbox-000001",
        "Packages/sandbox-\u0661\u0661\u0661\u0661\u0661\u0661-1.0-1.noarch.rpm",
    ],
)
def test_other_names_are_no_packages(name: str) -> None:
    assert packages(100, 5000).index(name) is None
