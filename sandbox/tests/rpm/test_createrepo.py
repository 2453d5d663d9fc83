"""What createrepo_c makes of packages and repodata; it has wheels for Linux only."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.rpm.package import Packing
from sandbox.rpm.repodata import Extra, Part, Repodata
from sandbox.tests.rpm.conftest import packages, whole

createrepo_c = pytest.importorskip(
    "createrepo_c", reason="createrepo_c or libglib2.0-0 is not installed", exc_type=ImportError
)
COUNT = 12


@pytest.fixture(params=Packing)
def packing(request: pytest.FixtureRequest) -> Packing:
    """How the lists are compressed."""
    packing: Packing = request.param
    return packing


@pytest.fixture
def folder(tmp_path: Path, packing: Packing) -> Path:
    """A repository on disk."""
    several = packages(COUNT, 3000, 300_000, packing=packing)
    repodata = Repodata(several)
    files = {several.name(index): whole(repodata.body(index)) for index in range(COUNT)}
    for path, data in {**files, **repodata.documents}.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    return tmp_path


def described(package: Any) -> dict[str, Any]:
    """All that a package says of itself, but for what repodata leave out: the digests of files."""
    names = (
        "pkgId", "name", "arch", "version", "epoch", "release", "summary", "description",
        "rpm_license", "rpm_group", "rpm_buildhost", "rpm_sourcerpm", "rpm_header_start",
        "rpm_header_end", "size_package", "size_installed", "size_archive", "time_build",
        "requires", "provides", "changelogs", "checksum_type",
    )  # fmt: skip
    files = [(kind or "", folder, name) for kind, folder, name, *_ in package.files]
    return {"files": files} | {name: getattr(package, name) for name in names}


def test_createrepo_reads_from_the_repodata_what_it_reads_from_the_packages(
    folder: Path, packing: Packing
) -> None:
    warnings: list[str] = []

    def warn(_: int, message: str) -> bool:
        warnings.append(message)
        return True

    results = {}
    for package in createrepo_c.PackageIterator(
        primary_path=str(folder / Part.PRIMARY.packed(packing)),
        filelists_path=str(folder / Part.FILELISTS.packed(packing)),
        other_path=str(folder / Part.OTHER.packed(packing)),
        warningcb=warn,
    ):
        results[package.location_href] = described(package)

    assert warnings == []
    assert results == {
        str(file.relative_to(folder)): described(createrepo_c.package_from_rpm(str(file)))
        for file in folder.glob("Packages/*.rpm")
    }
    assert len(results) == COUNT


def test_createrepo_reads_repomd(folder: Path) -> None:
    repomd = createrepo_c.Repomd(str(folder / Part.REPOMD.path))

    assert [record.type for record in repomd.records] == ["primary", "filelists", "other"]
    for record in repomd.records:
        loaded = createrepo_c.RepomdRecord(record.type, str(folder / record.location_href))
        loaded.fill(createrepo_c.SHA256)
        for name in ("checksum", "checksum_open", "size", "size_open"):
            assert getattr(record, name) == getattr(loaded, name)


def test_createrepo_reads_the_advisories_and_knows_the_types_of_the_other_extras(
    tmp_path: Path, packing: Packing
) -> None:
    documents = Repodata(replace(packages(2, 3000, packing=packing), extras=3)).documents
    for path, data in documents.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)

    repomd = createrepo_c.Repomd(str(tmp_path / Part.REPOMD.path))

    kinds = {record.type: str(tmp_path / record.location_href) for record in repomd.records}
    assert set(kinds) == {*(part for part in Part if part is not Part.REPOMD), *Extra}
    updates = createrepo_c.UpdateInfo(kinds[Extra.UPDATEINFO]).updates
    assert [update.id for update in updates] == ["SANDBOX-0", "SANDBOX-1", "SANDBOX-2"]
