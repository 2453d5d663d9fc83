"""Bundles and conclusions from before findings had the shapes of version 2.

The bundles in `data` were written by the last version that stored findings of version 1 (methods 17): levels with an
excluded and a failed run, and pairs in two sessions.
"""

import copy
import json
from pathlib import Path

import pytest

from campaigns.findings import compute
from campaigns.findings.compute.snapshot import changes, snapshot
from campaigns.reviews.bundles import manifest as manifests
from campaigns.reviews.bundles import verify, verifying
from campaigns.reviews.bundles.archive import MOST_BYTES, Archive
from campaigns.reviews.bundles.comparing import is_of_a_rule
from campaigns.reviews.bundles.verifying import apart, load
from campaigns.tests.reviews.bundles.conftest import contents, packed, repaired, rows, with_rows

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent / "data"
LEVELS, PAIRS = DATA / "levels-of-version-1.zip", DATA / "pairs-of-version-1.zip"


def described(report):
    return [str(each) for each in report.differences]


def with_findings(path, change, tmp_path):
    """Write the bundle again after `change` was applied to its findings by name."""
    files = contents(path)
    file, lines = rows(files, "finding")
    change({line["name"]: line["result"] for line in lines})
    return packed(tmp_path / "changed.zip", repaired(with_rows(files, file, lines)))


def comparison(findings):
    return findings["levels"]["groups"][0]["comparisons"][0]


@pytest.mark.parametrize("path", [LEVELS, PAIRS], ids=lambda each: each.stem)
def test_a_bundle_of_version_1_is_verified(path):
    report = verify(path)

    assert report.holds, described(report)
    assert report.numbers > 500
    assert "taken as read: sentences and labels in findings" in report.unverified[-1]
    told = any("verdicts by methods 17, which methods" in each for each in report.unverified)
    assert told == (path == LEVELS)  # one of its runs failed, which is beyond the limit now
    assert "methods 17" in report.notes[0]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            lambda each: each["cells"]["cells"][1]["runs"][0].update(value=1.25),
            "cells.cells.1.runs.0.value (run ",
        ),
        (
            lambda each: each["cells"]["cells"][1]["summary"].update(mean=1.25),
            "cells.cells.1.summary.mean",
        ),
        (lambda each: comparison(each)["comparison"].pop("verdict"), "levels: "),
    ],
    ids=["run", "mean", "removed"],
)
def test_a_value_that_was_changed_is_found(change, place, tmp_path):
    report = verify(with_findings(LEVELS, change, tmp_path))

    assert not report.holds
    assert any(place in each for each in described(report)), described(report)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            lambda each: comparison(each)["comparison"]["verdict"].update(pct_change=-40.5),
            "levels.groups.0.comparisons.0.comparison.verdict.pct_change",
        ),
        (
            lambda each: comparison(each)["comparison"]["verdict"].update(word="worse"),
            "levels.groups.0.comparisons.0.comparison.verdict.word",
        ),
        (lambda each: each["levels"].update(v=3), "levels.v"),
    ],
    ids=["number", "verdict", "unknown version"],
)
def test_a_verdict_by_other_rules_is_taken_as_read_and_named(change, place, tmp_path, monkeypatch):
    monkeypatch.setattr(verifying, "MOST_PLACES", 1000)

    report = verify(with_findings(LEVELS, change, tmp_path))

    assert report.holds
    (told,) = [each for each in report.unverified if "verdicts by methods 17" in each]
    assert place in told


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cells", lambda each: each["cells"][0]["runs"][0].update(value=1.25)),
        ("cells", lambda each: each["cells"][0]["summary"].update(mean=1.25)),
        ("density", lambda each: each["cells"][0].update(density=[0, 1])),
        ("drift", lambda each: each["blocks"].append({"block": 1})),
    ],
    ids=["run", "mean", "density", "drift"],
)
def test_a_finding_of_a_metric_without_values_may_be_gone_only_if_it_says_nothing(
    name, change, tmp_path
):
    name = f"{name}:cpu_seconds"

    report = verify(with_findings(LEVELS, lambda each: change(each[name]), tmp_path))

    assert [each.place for each in report.differences] == [name]


def test_a_bundle_of_version_1_that_claims_the_present_methods_does_not_hold(tmp_path):
    files = contents(PAIRS)
    manifest = json.loads(files[manifests.NAME])
    manifest["campaigns"][0]["versions"] = compute.findings.versions_now()
    manifest["arithmetic"] = manifests.arithmetic()
    files[manifests.NAME] = json.dumps(manifest).encode()
    file, lines = rows(files, "finding")
    lines = [{**line, "versions": compute.findings.versions_now()} for line in lines]

    report = verify(packed(tmp_path / "claims.zip", repaired(with_rows(files, file, lines))))

    assert any("pairs.v: the bundle says nothing" in each for each in described(report))


@pytest.fixture(params=[LEVELS, PAIRS], ids=lambda each: each.stem)
def both(request):
    """A snapshot of version 1, and one of the same data as they are analysed today."""
    with Archive(request.param, MOST_BYTES) as archive:
        (part,) = manifests.read(archive.document(manifests.NAME)).campaigns
        _, lines = rows(contents(request.param), "finding")
        with apart():
            campaign = load(archive, part.folder)
            compute.analyse(campaign)
            after = snapshot(campaign)
    results = {line["name"]: line["result"] for line in lines}
    before = {
        "data_hash": part.data_hash,
        "findings": {name: results[name] for name in after["findings"]},
    }
    return before, after


def test_a_snapshot_of_version_1_has_not_changed(both):
    before, after = both
    kept = copy.deepcopy(before)

    assert "v" not in before["findings"]["checks"]
    assert after["findings"]["checks"]["v"] == 2
    assert not [each for each in changes(before, after) if not is_of_a_rule(each)]
    assert before == kept


def test_a_number_of_a_snapshot_of_version_1_that_moved_is_named(both):
    before, after = both
    cells = before["findings"]["cells:duration"]["cells"]
    cells[0]["summary"]["mean"] *= 1.01

    (change,) = [each for each in changes(before, after) if not is_of_a_rule(each)]

    assert change.path == "cells:duration.cells.0.summary.mean"
