"""A zip that anybody may have made."""

import json
import re
import struct
import zipfile

import pytest

from campaigns.reviews.bundles import Damaged, UnknownVersion, archive, verify
from campaigns.tests.reviews.bundles.conftest import (
    MANIFEST,
    contents,
    packed,
    repaired,
    rows,
    with_rows,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(published, written):
    return written(published)


@pytest.fixture
def files(path):
    return contents(path)


def refused(path, words, **options):
    with pytest.raises(Damaged, match=words):
        verify(path, **options)


def test_a_file_that_is_not_there_or_no_zip(tmp_path):
    refused(tmp_path / "none.zip", "cannot be read: No such file")
    text = tmp_path / "text.zip"
    text.write_text("not a zip")
    refused(text, "not a whole zip file")


def test_half_of_a_file(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])

    refused(path, "not a whole zip file")


def test_a_flipped_byte_is_found_in_the_file_that_holds_it(path):
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as opened:
        (info,) = [each for each in opened.infolist() if each.filename.endswith("rows/run.ndjson")]
    data[info.header_offset + 60 + len(info.filename)] ^= 0xFF
    path.write_bytes(bytes(data))

    refused(path, r"rows/run\.ndjson is damaged")


@pytest.mark.parametrize(
    "name",
    ["../evil.py", "/etc/passwd", "campaign-1/../../x", "C:/x", "..\\x", "campaign-1\\..\\..\\x"],
)
def test_a_path_that_leads_out_of_it_is_not_opened(files, tmp_path, name):
    refused(packed(tmp_path / "t.zip", {**files, name: b"x"}), "leads out of it")


def test_a_link_is_not_followed(files, tmp_path):
    path = packed(tmp_path / "t.zip", files)
    with zipfile.ZipFile(path, "a") as opened:
        link = zipfile.ZipInfo("campaign-1/link")
        link.external_attr = 0o120777 << 16
        opened.writestr(link, "/etc/passwd")

    refused(path, "no plain file")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_there_twice(files, tmp_path):
    path = packed(tmp_path / "t.zip", files)
    with zipfile.ZipFile(path, "a") as opened:
        opened.writestr(MANIFEST, b"{}")

    refused(path, "twice")


def test_a_bomb_is_not_unpacked(files, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "SMALL_BYTES", 1000)
    bomb = packed(tmp_path / "t.zip", {**files, "more/bomb": b"0" * 2_000_000})

    refused(bomb, "zip bomb")


def test_what_is_larger_than_allowed_is_not_unpacked(path):
    refused(path, "larger than 1,000 bytes.*--most-gigabytes", most_bytes=1000)


def test_a_line_that_is_too_long_is_not_read_to_its_end(path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_LINE_BYTES", 5000)

    with archive.Archive(path) as opened:
        name = next(each for each in opened.infos if each.endswith("rows/finding.ndjson"))
        with pytest.raises(Damaged, match="larger than 5,000 bytes"):
            list(opened.lines(name))


def test_a_size_that_lies_is_found(path):
    data = bytearray(path.read_bytes())
    place = data.rfind(b"PK\x01\x02")
    (size,) = struct.unpack_from("<I", data, place + 24)
    struct.pack_into("<I", data, place + 24, size - 10)
    path.write_bytes(bytes(data))

    with pytest.raises(Damaged):
        verify(path)


def test_a_missing_file_is_named(files, tmp_path):
    name = next(each for each in files if each.endswith("rows/run.ndjson"))
    del files[name]
    refused(packed(tmp_path / "t.zip", files), r"rows/run\.ndjson is missing")

    manifest = json.loads(files[MANIFEST])
    del manifest["files"][name]
    told = {**files, MANIFEST: json.dumps(manifest).encode()}
    refused(packed(tmp_path / "t.zip", told), r"rows/run\.ndjson is missing")


def test_a_file_of_nobody_is_named(files, tmp_path):
    refused(packed(tmp_path / "t.zip", {**files, "run.sh": b"x"}), "'run.sh', which belongs to no")


def test_no_manifest_or_none_that_can_be_read(files, tmp_path):
    del files[MANIFEST]
    refused(packed(tmp_path / "t.zip", files), "manifest.json is missing")
    for text, words in [("{", "not JSON"), ("[]", "which format"), ('{"a": NaN}', "no number")]:
        refused(packed(tmp_path / "t.zip", {**files, MANIFEST: text.encode()}), words)
    deep = ("[" * 200_000).encode()
    refused(packed(tmp_path / "t.zip", {**files, MANIFEST: deep}), "not JSON")


def test_another_format_says_who_can_read_it(files, tmp_path):
    manifest = json.loads(files[MANIFEST]) | {"format": "perfdash bundle 9", "perfdash": "9.1"}
    path = packed(tmp_path / "t.zip", {**files, MANIFEST: json.dumps(manifest).encode()})

    with pytest.raises(UnknownVersion, match=r"“perfdash bundle 9”.*\(9\.1\)"):
        verify(path)


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("run", {"position": "many"}, "position cannot be 'many'"),
        ("run", {"colour": "red"}, "a field “colour”"),
        ("run", {"cell_id": 999_999}, "do not fit together"),
        ("run", {"state": "asleep"}, "does not fit"),
        ("run", {"position": 2}, "does not fit"),
        ("run", {"started_at": 5}, "started_at cannot be '5'"),
        ("measurement", {"value": 1e999}, "no number|not JSON"),
        ("campaign", {"name": "a\u0000b"}, "does not fit"),
        ("campaign", {"kind": "no-such-kind"}, ""),
    ],
)
def test_rows_that_are_none_are_named_by_line_and_field(files, tmp_path, table, change, words):
    file, found = rows(files, table)
    found[0] |= change
    tampered = repaired(with_rows(files, file, found))

    report = verify(packed(tmp_path / "t.zip", tampered))

    assert not report.holds
    assert re.search(words, report.damaged), report.damaged


def test_a_line_that_is_no_object(files, tmp_path):
    file, _ = rows(files, "run")
    path = packed(tmp_path / "t.zip", repaired({**files, file: b"[]\n"}))

    assert verify(path).damaged == f"{file}, line 1 is not an object."
