import pytest
from django.urls import reverse

from campaigns.models import Finding
from campaigns.tests.browsing import Page, evidence_of
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


def panels(browser, campaign):
    response = browser.get(reverse("campaign-print", args=[campaign.pk]))
    return {panel.id: panel for panel in evidence_of(response).panels}


@pytest.fixture
def levels(target, person):
    campaign = launched(
        target, person, factors={"workers": [1, 2, 4]}, order="interleaved", repetitions=4
    )
    store(campaign, lambda run: 12.0 / run.cell.levels_by_factor["workers"] + 0.01 * run.position)
    return finish(campaign)


@pytest.fixture
def pairs(target, person):
    campaign = launched(
        target,
        person,
        factors={"engine": ["new", "old"], "workers": [1, 2]},
        order="paired",
        paired_factor="engine",
        baseline="old",
        repetitions=6,
    )
    fast = {"new": 0.8, "old": 1.0}
    store(campaign, lambda run: fast[run.cell.levels_by_factor["engine"]] * (10 + run.position % 3))
    return finish(campaign)


def test_each_step_is_a_row_of_the_forest_with_the_changes_of_its_blocks(browser, levels):
    panel = panels(browser, levels)["contrasts"]

    assert [row[0] for row in panel.numbers.rows] == ["2 vs 1", "4 vs 2"]
    assert panel.numbers.rows[0][-1] == "faster"
    changes = next(t for t in panel.plot.figure["data"] if t["name"] == "within a block")
    assert len(changes["x"]) == 8
    assert all(-60 < change < -40 for change in changes["x"])


def test_each_stratum_of_pairs_has_its_slopes_and_its_changes_in_time(browser, pairs):
    found = panels(browser, pairs)

    assert [plot.title for plot in found["slopes"].multiples] == ["1", "2"]
    assert "6 of 6 pairs lower with new" in found["slopes"].plot.label
    assert len(found["slopes"].numbers.rows) == 12
    assert [t["name"] for t in found["differences"].plot.figure["data"] if "name" in t] == [
        "no change",
        "1",
        "2",
    ]


def test_a_pair_without_a_value_is_left_to_the_table_of_runs(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position, failing=(1,))
    found = panels(browser, finish(campaign))

    assert len(found["slopes"].numbers.rows) == 2
    assert "differences" not in found
    assert "contrasts" not in found


def test_findings_of_other_methods_are_not_read_but_awaited(browser, levels):
    Finding.objects.filter(campaign=levels).update(versions={"methods": "0"})

    assert (
        "Nothing to show yet" in Page(browser.get(reverse("campaign-print", args=[levels.pk]))).text
    )
