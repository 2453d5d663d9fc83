import pytest
from django.core.management import call_command

from campaigns.findings import compute
from campaigns.results.importing.demonstration import published_campaign
from campaigns.reviews.bundles import write_bundle
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
def path(tmp_path):
    campaign, _ = published_campaign(None)
    compute.analyse(campaign)
    with (tmp_path / "bundle.zip").open("wb") as file:
        write_bundle(file, [campaign])
    return tmp_path / "bundle.zip"


def code_of(*arguments, **options):
    try:
        call_command("verify_bundle", *map(str, arguments), **options)
    except SystemExit as end:
        return end.code
    return 0


def test_one_that_holds_ends_with_0_and_says_how_much_was_computed(path, capsys):
    assert code_of(path) == 0

    told = capsys.readouterr().out
    assert f"{path} holds: " in told
    assert "numbers were computed again and are the same" in told
    assert "seal: " in told


def test_one_that_differs_ends_with_1_and_names_the_number(path, tmp_path, capsys):
    files = contents(path)
    file, found = rows(files, "measurement")
    before = found[2]["value"]
    found[2]["value"] = before + 1
    tampered = packed(tmp_path / "t.zip", repaired(with_rows(files, file, found)))

    assert code_of(tampered) == 1
    told = capsys.readouterr().err
    assert f"the bundle says {before}, its data give {before + 1}" in told
    assert "(run " in told
    assert "more, which --all names" in told
    assert code_of(tampered, all=True) == 1
    assert "which --all names" not in capsys.readouterr().err


def test_one_that_is_damaged_ends_with_2(path, tmp_path, capsys):
    cut = tmp_path / "cut.zip"
    cut.write_bytes(path.read_bytes()[:2000])

    assert code_of(cut) == 2
    assert "not a whole zip file" in capsys.readouterr().err
    assert code_of(path, most_gigabytes=0.000001) == 2
    assert "--most-gigabytes" in capsys.readouterr().err


def test_one_whose_rows_are_none_ends_with_2_after_what_differs(path, tmp_path, capsys):
    files = contents(path)
    file, found = rows(files, "run")
    found[0]["position"] = "x"

    assert code_of(packed(tmp_path / "t.zip", with_rows(files, file, found))) == 2
    told = capsys.readouterr().err
    assert "SHA-256 of the file" in told
    assert "DAMAGED" in told


def test_one_of_an_unknown_format_ends_with_3(path, tmp_path, capsys):
    files = contents(path)
    files[MANIFEST] = files[MANIFEST].replace(b"perfdash bundle 1", b"perfdash bundle 2")

    assert code_of(packed(tmp_path / "t.zip", files)) == 3
    assert "perfdash bundle 2" in capsys.readouterr().err
