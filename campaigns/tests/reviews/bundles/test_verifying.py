"""A bundle that is what it says holds; one with a digit changed is refused by name."""

import copy
import json
import random
from typing import Any

import pytest
from django.db import connection

from campaigns.findings import compute as analysis
from campaigns.findings.compute import findings as computing
from campaigns.findings.store import findings_of
from campaigns.models import Attempt, Campaign, Finding, Measurement, Run, Target
from campaigns.planning import lifecycle
from campaigns.reviews.bundles import verify, verifying
from campaigns.tests.findings.compute import loads
from campaigns.tests.people import somebody
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
def files(downloads, written):
    return contents(written(downloads))


@pytest.fixture
def report(tmp_path):
    """Verify files with their digests repaired, unless they are to stay as they are."""

    def look(files, *, repair=True, seal=""):
        path = packed(tmp_path / "tampered.zip", repaired(files) if repair else files)
        return verify(path, seal=seal)

    return look


def told(found):
    return [str(each) for each in found.differences]


def changed_row(files, name, index, **values):
    file, found = rows(files, name)
    found[index] = {**found[index], **values}
    return with_rows(files, file, found)


def numbers_of(value, path=()):
    """Every number in JSON with its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers_of(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers_of(inner, (*path, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def with_digit(number, random_):
    """Give the number with one of its digits changed."""
    text = repr(number)
    places = [place for place, each in enumerate(text.partition("e")[0]) if each.isdigit()]
    while True:
        place = random_.choice(places)
        digit = random_.choice([each for each in "123456789" if each != text[place]])
        found = json.loads(text[:place] + digit + text[place + 1 :])
        if found != number:
            return found


def test_a_bundle_holds(downloads, written):
    found = verify(written(downloads))

    assert found.holds, told(found)
    assert found.numbers > 1000
    assert found.campaigns == [f"Is asyncio faster? ({downloads.findings.first().data_hash})"]
    assert "file_rate" in found.unverified[0]


def test_an_import_holds_with_what_was_excluded_and_amended(published, written):
    ann = somebody("ann")
    lifecycle.exclude(published.runs.get(position=4), ann, "the disk was full")
    analysis.analyse(published)

    found = verify(written(published))

    assert found.holds, told(found)
    assert any("18 attempts without raw samples" in line for line in found.unverified)


def test_nothing_is_left_behind_and_nothing_that_is_there_is_seen(downloads, written):
    path = written(downloads)
    counts = {model: model.objects.count() for model in (Campaign, Run, Attempt, Finding, Target)}
    Measurement.objects.update(value=1.0)  # were it read, nothing would hold

    assert verify(path).holds

    assert {model: model.objects.count() for model in counts} == counts
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'")
        assert cursor.fetchone() == (0,)
        cursor.execute("SHOW search_path")
        assert "pg_temp" not in cursor.fetchone()[0]


def test_it_takes_no_campaign_of_the_database(downloads, written):
    path = written(downloads)
    Attempt.objects.all().delete()
    Run.objects.all().delete()
    Campaign.objects.all().delete()

    assert verify(path).holds


def test_a_changed_measurement_is_named_by_run_and_finding(files, report):
    file, found = rows(files, "measurement")
    index = next(i for i, row in enumerate(found) if row["metric"] == "duration")
    value = found[index]["value"]

    broken = report(changed_row(files, "measurement", index, value=value + 0.1))

    lines = told(broken)
    assert any("file_rate" in line and line.startswith(file) for line in lines)
    assert any(f".value (run 1): the bundle says {value}" in line for line in lines), lines[:9]
    assert any(line.startswith("manifest.json: hash of the data") for line in lines)


def test_without_repair_the_file_is_named_as_well(files, report):
    tampered = changed_row(files, "measurement", 0, value=12345.0)

    lines = told(report(tampered, repair=False))

    assert "rows/measurement.ndjson: SHA-256 of the file" in lines[0]
    assert len(lines) > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_digit_of_any_finding_is_missed(files, tmp_path, seed, monkeypatch):
    random_ = random.Random(seed)
    file, found = rows(files, "finding")
    monkeypatch.setattr(verifying, "compute", kept(computing.compute))
    for _ in range(4):
        tampered = copy.deepcopy(found)
        line = random_.choice([each for each in tampered if list(numbers_of(each["result"]))])
        path, number = random_.choice(list(numbers_of(line["result"])))
        inner = line["result"]
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = with_digit(number, random_)
        bundle = packed(tmp_path / "t.zip", repaired(with_rows(files, file, tampered)))

        broken = verify(bundle)

        place = ".".join([line["name"], *map(str, path)])
        assert [each.place.split(" (run")[0] for each in broken.differences] == [place]
        assert (broken.differences[0].stated, broken.differences[0].recomputed) == (
            inner[path[-1]],
            number,
        )


def kept(compute):
    """The same rows give the same findings: computed once."""
    known: list[Any] = []

    def computed(campaign):
        if not known:
            known.append(compute(campaign))
        return known[0]

    return computed


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("run", {"started_at": "2026-01-01T00:01:00.000001+00:00"}, "hash of the data"),
        ("attempt", {"units_failed": 2}, "hash of the data"),
        ("attempt", {"units_done": 38}, "run 1, attempt 1, units_done"),
        ("distribution", {"count": 40}, "run 1, attempt 1, file_time, count"),
        ("campaign", {"margin": 0.03}, "margin_percent"),
        ("campaign", {"seed": 2}, "seed"),
        ("level", {"value": "threads"}, "factors.engine.0"),
        ("proof", {"ok": False}, "checks.checks"),
    ],
)
def test_a_change_of_any_row_that_counts_is_named(files, report, name, change, place):
    lines = told(report(changed_row(files, name, 0, **change)))

    assert any(place in line for line in lines), lines[:5]


def test_a_sample_is_bound_by_its_histogram_and_a_count(files, report):
    file, found = rows(files, "raw_samples")
    found[2]["columns"]["total_seconds"][0] *= 1.5
    found[3]["columns"]["failure"][0] = "timeout"

    lines = told(report(with_rows(files, file, found)))

    assert any("run 3, attempt 1, file_time: the bundle says" in line for line in lines)
    assert any(
        "run 4, attempt 1, failed_files: the bundle says 1.0, its data give 2" in line
        for line in lines
    )


def test_a_finding_that_came_or_went_is_named(files, report):
    file, found = rows(files, "finding")
    gone = [each for each in found if each["name"] != "pairs"]
    more = [*found, {**found[0], "name": "levels"}]

    assert any(
        "pairs: the bundle says nothing" in line
        for line in told(report(with_rows(files, file, gone)))
    )
    assert any(
        "levels: the bundle says a finding" in line
        for line in told(report(with_rows(files, file, more)))
    )


def test_the_seal_that_somebody_knows_cannot_be_repaired(files, report, tmp_path):
    seal = verify(packed(tmp_path / "whole.zip", files)).seal
    tampered = changed_row(files, "series", 0, step_seconds=0.25)

    assert report(files, repair=False, seal=f"sha256:{seal}").holds
    (line,) = told(report(tampered, seal=seal))
    assert line.startswith(f"manifest.json: its seal: the bundle says {seal}")


def versions(files, **changes):
    """The same bundle by other versions, whose numbers moved by a little."""
    manifest = json.loads(files[MANIFEST])
    for about in manifest["campaigns"]:
        about["versions"] |= changes
    file, found = rows(files, "finding")
    for line in found:
        line["versions"] |= changes
    changed = with_rows(files, file, found)
    return {**changed, MANIFEST: json.dumps(manifest).encode()}


def moved_by(files, change):
    file, found = rows(files, "finding")
    pairs = next(line for line in found if line["name"] == "pairs")
    change(pairs["result"]["strata"][0]["comparison"]["verdict"])
    return with_rows(files, file, found)


def test_of_other_versions_numbers_may_move_within_the_tolerance_and_sentences_be_others(
    files, report
):
    def last_bits(verdict):
        verdict["pct_change"] *= 1 + 1e-12

    def a_percent(verdict):
        verdict["pct_change"] *= 1.01

    other = versions(files, scipy="1.16.0")

    assert not report(moved_by(files, last_bits)).holds
    found = report(moved_by(other, last_bits))
    assert found.holds, told(found)
    assert any("scipy 1.16.0 (here" in note for note in found.notes)
    assert not report(moved_by(other, a_percent)).holds


def test_findings_cannot_claim_other_versions_than_the_manifest(files, report):
    file, found = rows(files, "finding")
    found[0]["versions"]["scipy"] = "0.1"

    assert any(
        ", versions: the bundle says" in line
        for line in told(report(with_rows(files, file, found)))
    )


def test_the_analysis_that_breaks_on_hostile_rows_is_said_and_leaves_nothing(
    files, report, monkeypatch
):
    def breaks(campaign):
        raise RuntimeError("boom")

    monkeypatch.setattr(verifying, "compute", breaks)

    assert "cannot be analysed: RuntimeError: boom" in report(files).damaged


def test_targets_that_share_a_machine_by_its_name_do_so_in_the_bundle(written, settings):
    settings.ALLOWED_ADDRESSES = "192.0.2.0/24:9"
    targets = [
        Target.objects.create(
            name=name, family="http", base_url=f"http://192.0.2.{number}:9",
            address=f"192.0.2.{number}:9", runs_on="rack 7",
        )
        for number, name in enumerate(("a", "b"), start=1)
    ]  # fmt: skip
    keys = [target.pk for target in targets]
    campaign = loads.launch(targets[0], {"concurrency": loads.LOADS[:2]}, targets=keys)
    loads.store(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    analysis.analyse(campaign)
    answer = findings_of(campaign, campaign.primary_metric).answer

    assert answer
    assert answer.targets
    assert answer.targets.shared == [["a", "b"]]
    assert told(verify(written(campaign))) == []
