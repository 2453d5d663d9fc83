import io
import json
from hashlib import sha256

import pytest

from campaigns.findings import compute
from campaigns.models import Campaign, Measurement
from campaigns.planning import lifecycle
from campaigns.reviews.bundles import NotReady, verify, write_bundle
from campaigns.tests.people import somebody
from campaigns.tests.reviews.bundles.conftest import MANIFEST, contents, rows

pytestmark = pytest.mark.django_db


def test_one_campaign_gives_one_bundle_byte_by_byte(downloads, written):
    first = written(downloads, "a.zip").read_bytes()
    compute.analyse(downloads)

    assert written(downloads, "b.zip").read_bytes() == first


def test_the_manifest_has_the_digest_of_every_file_and_the_seal_is_its_own(downloads):
    file = io.BytesIO()
    made = write_bundle(file, [downloads])

    files = contents(file)
    manifest = json.loads(files[MANIFEST])
    assert made.seal == sha256(files[MANIFEST]).hexdigest()
    assert manifest["files"].keys() == files.keys() - {MANIFEST}
    for name, listed in manifest["files"].items():
        assert listed == {"sha256": sha256(files[name]).hexdigest(), "bytes": len(files[name])}
    (about,) = manifest["campaigns"]
    assert about["data_hash"] == about["bundle_hash"] == downloads.findings.first().data_hash
    assert about["versions"].keys() == {"numpy", "scipy", "hdrhistogram", "kneed", "methods"}
    assert about["seed"] == 1


def test_all_evidence_is_in_it_and_can_be_read_without_perfdash(downloads, written):
    files = contents(written(downloads))

    counts = {
        name: len(rows(files, name)[1])
        for name in ("run", "attempt", "distribution", "raw_samples", "proof", "effective_setting")
    }
    assert counts == {
        "run": 12,
        "attempt": 12,
        "distribution": 24,
        "raw_samples": 12,
        "proof": 24,
        "effective_setting": 12,
    }
    _, samples = rows(files, "raw_samples")
    assert samples[0]["columns"]["failure"].count("5xx") == 1
    assert "verify_bundle FILE.zip" in files["README.md"].decode()


def test_of_people_there_is_a_name_and_nothing_else(downloads, written):
    _, users = rows(contents(written(downloads)), "user")

    assert [row.keys() for row in users] == [{"id", "username"}]


def test_several_campaigns_and_other_texts_are_one_bundle(downloads, published, tmp_path):
    path = tmp_path / "two.zip"
    with path.open("wb") as file:
        write_bundle(file, [downloads, published], {"report.md": "5 is enough\n"})

    found = verify(path)

    assert found.holds, [str(each) for each in found.differences]
    assert len(found.campaigns) == 2
    assert contents(path)["more/report.md"] == b"5 is enough\n"


def not_ready(campaign, words):
    file = io.BytesIO()
    with pytest.raises(NotReady, match=words):
        write_bundle(file, [campaign])
    assert file.getvalue() == b""


def test_one_that_goes_on_has_none(downloads):
    Campaign.objects.filter(pk=downloads.pk).update(state=Campaign.State.PAUSED)

    not_ready(downloads, "is paused: a bundle is written when a campaign has ended")


def test_one_whose_findings_are_old_or_missing_has_none_yet(downloads):
    lifecycle.exclude(downloads.runs.get(position=1), somebody("bob"), "disk full")
    not_ready(downloads, "older than its data")

    compute.analyse(downloads)
    Measurement.objects.filter(attempt__run__position=2, metric__name="duration").update(value=9.0)
    not_ready(downloads, "older than its data")

    downloads.findings.all().delete()
    not_ready(downloads, "has not been analysed by this version yet")
