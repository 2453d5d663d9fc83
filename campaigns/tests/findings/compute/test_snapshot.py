import json

import pytest

from campaigns.findings import compute
from campaigns.findings.compute import findings as storing
from campaigns.findings.compute.snapshot import changes, snapshot
from campaigns.models import Finding
from campaigns.planning import lifecycle
from campaigns.stats.methods import METHODS
from campaigns.tests.findings.compute.conftest import noisy, store
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

LEVELS = {5: 10.0, 10: 8.0, 20: 7.0}


@pytest.fixture
def campaign(interleaved):
    found = interleaved(list(LEVELS))
    store(found, noisy(LEVELS))
    compute.analyse(found)
    return found


def test_it_holds_what_a_conclusion_rests_on_as_json(campaign):
    frozen = snapshot(campaign)

    assert json.loads(json.dumps(frozen)) == frozen
    assert frozen["data_hash"].startswith("v1:")
    assert frozen["versions"]["methods"] == METHODS
    assert frozen["sessions"] == 1
    assert {"levels", "cells:duration", "checks"} <= frozen["findings"].keys()
    assert not {"answer", "outlook", "brief:duration"} & frozen["findings"].keys()
    assert all("runs" not in cell for cell in frozen["findings"]["cells:duration"]["cells"])


def test_one_of_a_campaign_without_findings_is_empty(interleaved):
    frozen = snapshot(interleaved([5, 10]))

    assert (frozen["findings"], frozen["data_hash"], frozen["sessions"]) == ({}, "", 0)


@pytest.mark.parametrize("judged", [True, False])
def test_findings_whose_analysis_failed_since_an_update_are_read_in_their_shape(campaign, judged):
    before = snapshot(campaign)
    names = ("levels", "cells") if judged else ("cells",)
    Finding.objects.filter(campaign=campaign).exclude(name__in=names).delete()
    for row in Finding.objects.filter(campaign=campaign):
        kept = ("cells", "sessions", "groups")
        row.result = {name: value for name, value in row.result.items() if name in kept}
        row.save()

    frozen = snapshot(campaign)

    assert frozen["sessions"] == 1
    assert changes(before, frozen)


def test_other_versions_alone_change_nothing(campaign, monkeypatch):
    before = snapshot(campaign)
    monkeypatch.setattr(storing, "METHODS", "later")
    monkeypatch.setattr("campaigns.findings.answers.METHODS", "later")
    compute.analyse(campaign)

    after = snapshot(campaign)

    assert after["versions"] != before["versions"]
    assert after["data_hash"] == before["data_hash"]
    assert changes(before, after) == []


def test_an_excluded_run_changes_the_hash_and_the_numbers(campaign):
    before = snapshot(campaign)
    lifecycle.exclude(campaign.runs.get(position=1), somebody("ann"), "disk full")
    compute.analyse(campaign)

    found = changes(before, snapshot(campaign))

    assert found[0].path == "data_hash"
    assert any(each.path.endswith("comparison.verdict.pct_change") for each in found)


def test_a_word_that_later_methods_find_is_named_with_both_sides(campaign):
    before = snapshot(campaign)
    levels = Finding.objects.get(campaign=campaign, name="levels")
    levels.result["groups"][0]["comparisons"][0]["comparison"]["verdict"]["word"] = "worse"
    levels.save()

    (found,) = changes(before, snapshot(campaign))

    assert found.path == "levels.groups.0.comparisons.0.comparison.verdict.word"
    assert (found.before, found.after) == ("better", "worse")
