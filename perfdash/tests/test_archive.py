import json
import stat
import tarfile
from dataclasses import asdict, replace

import pytest

from perfdash.local import archive
from perfdash.local.archive import BackupRefused

SECRETS = {"secret_key": "a key", "encryption_keys": "new,old"}


@pytest.fixture
def saved(tmp_path):
    dump = tmp_path / "dump"
    dump.write_bytes(bytes(range(256)) * 400)
    path = tmp_path / "saved"
    archive.write(
        path, dump, SECRETS, made_at="2026-01-01", postgresql=18, migrations=["auth.0001_initial"]
    )
    return path


def test_what_was_saved_is_read(saved, tmp_path):
    result = archive.read(saved)
    result.extract_dump(tmp_path / "again")

    assert result.secrets == SECRETS
    assert result.about.migrations == ["auth.0001_initial"]
    assert (tmp_path / "again").read_bytes() == (tmp_path / "dump").read_bytes()


def test_nobody_else_can_read_a_backup_or_what_comes_out_of_it(saved, tmp_path):
    archive.read(saved).extract_dump(tmp_path / "again")

    modes = {stat.S_IMODE(path.stat().st_mode) for path in (saved, tmp_path / "again")}
    assert modes == {0o600}


def test_nothing_but_the_backup_is_left_where_it_was_made(saved, tmp_path):
    assert {path.name for path in tmp_path.iterdir()} == {"dump", "saved"}


def test_a_backup_that_ends_too_early_is_refused_wherever_it_ends(saved, tmp_path):
    whole = saved.read_bytes()
    end = whole.rindex(bytes(range(256))) + 256  # what follows is padding
    cut = tmp_path / "cut"

    for length in [*range(0, end, end // 50), end - 1]:
        cut.write_bytes(whole[:length])
        with pytest.raises(BackupRefused, match=r"is not a backup of perfdash, or is not whole"):
            archive.read(cut)


@pytest.mark.parametrize("of", ["a key", "new,old", bytes(range(256)).decode("latin-1")])
def test_a_single_wrong_byte_is_refused(saved, of):
    data = bytearray(saved.read_bytes())
    data[data.index(of.encode("latin-1"))] ^= 1
    saved.write_bytes(data)

    with pytest.raises(BackupRefused, match="was changed, or ends too early"):
        archive.read(saved)


@pytest.mark.parametrize("content", [b"", b"years of work", b"PGDMP" + bytes(4000)])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / "thesis").write_bytes(content)

    assert not archive.is_backup(tmp_path / "thesis")
    with pytest.raises(BackupRefused, match="Nothing was changed"):
        archive.read(tmp_path / "thesis")


def test_an_archive_of_other_things_is_refused(tmp_path):
    (tmp_path / "thesis").write_text("years of work")
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.add(tmp_path / "thesis", "thesis")

    assert not archive.is_backup(tmp_path / "other.tar")
    with pytest.raises(BackupRefused, match="it does not begin with"):
        archive.read(tmp_path / "other.tar")


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BackupRefused, match="cannot be read"):
        archive.read(tmp_path / "missing")


def test_a_backup_of_a_newer_format_is_refused(saved, monkeypatch):
    monkeypatch.setattr(archive, "FORMAT", archive.FORMAT - 1)

    with pytest.raises(BackupRefused, match="made by a newer perfdash"):
        archive.read(saved)


def test_a_backup_that_lacks_a_member_is_refused(saved, tmp_path):
    about = archive.read(saved).about
    files = {name: result for name, result in about.files.items() if name != archive.DUMP}
    less = replace(about, files=files)
    with tarfile.open(tmp_path / "less", "w:") as tar:
        archive._add(tar, archive.ABOUT, json.dumps(asdict(less)).encode())

    with pytest.raises(BackupRefused, match=r"database.dump is missing"):
        archive.read(tmp_path / "less")


@pytest.mark.system
def test_a_full_disk_leaves_the_last_backup_as_it_was(small_disk, tmp_path):
    dump = tmp_path / "dump"
    dump.write_bytes(bytes(300_000))

    def save():
        archive.write(
            small_disk / "saved", dump, SECRETS, made_at="then", postgresql=18, migrations=[]
        )

    save()
    before = (small_disk / "saved").read_bytes()
    dump.write_bytes(bytes(2_000_000))

    with pytest.raises(OSError, match="No space left"):
        save()

    assert [path.name for path in small_disk.iterdir()] == ["saved"]
    assert (small_disk / "saved").read_bytes() == before
