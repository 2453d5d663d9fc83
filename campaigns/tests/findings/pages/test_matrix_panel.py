import csv

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.models import Run
from campaigns.tests.browsing import Page, evidence_of
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db

SECONDS = {
    ("new", 1): 10.0, ("new", 2): 6.0, ("new", 4): 4.0,
    ("old", 1): 10.0, ("old", 2): 9.0, ("old", 4): 12.0,
}  # fmt: skip


def seconds(run):
    levels = run.cell.levels_by_factor
    return SECONDS[levels["engine"], levels["workers"]] * (1 + 0.004 * (run.position % 5))


@pytest.fixture
def crossed(target, person):
    factors = {"engine": ["new", "old"], "workers": [1, 2, 4]}
    campaign = launched(target, person, factors=factors, order="interleaved", repetitions=3)
    store(campaign, seconds)
    return campaign


def get(browser, campaign, **query):
    return browser.get(reverse("campaign-print", args=[campaign.pk]), query)


def test_the_page_has_a_heat_table_with_the_recommended_setting_of_each_row(browser, crossed):
    response = get(browser, finish(crossed))
    heat = evidence_of(response).heat
    text = Page(response).text

    assert heat.heads == ("1", "2", "4")
    assert [row.recommended for row in heat.rows] == ["4", "2"]
    assert [cell.shade for cell in heat.rows[0].cells] == ["base", "l4", "l5 best"]
    assert heat.rows[1].cells[2].shade == "neg"
    assert "The rows differ" in text
    assert "interaction-figure" in response.content.decode()


def test_the_axis_of_the_address_makes_the_columns(browser, crossed):
    heat = evidence_of(get(browser, finish(crossed), x="engine")).heat

    assert heat.heads == ("new", "old")
    assert [row.name for row in heat.rows] == ["1", "2", "4"]


def test_a_failing_cell_is_hatched_and_has_no_number(browser, crossed):
    failing = [run.pk for run in crossed.runs.select_related("cell") if seconds(run) < 5]
    Run.objects.filter(pk__in=failing).update(state=Run.State.FAILED)
    heat = evidence_of(get(browser, finish(crossed))).heat

    failed = heat.rows[0].cells[2]
    assert (failed.text, failed.shade) == ("too many failures", "failed")
    assert heat.failing == 1


def test_the_numbers_of_the_matrix_are_a_csv(browser, crossed):
    finish(crossed)
    address = reverse("campaign-chart-csv", args=[crossed.pk, "interaction"])
    rows = list(csv.DictReader(browser.get(address).getvalue().decode().splitlines()))

    assert len(rows) == 6
    assert rows[2]["verdict"] == "faster"
    assert 59 < float(rows[2]["improvement (%)"]) < 61


def test_nothing_is_judged_while_the_campaign_goes_on(browser, crossed):
    compute.analyse(crossed)
    response = get(browser, crossed, view="results")

    assert evidence_of(response).heat is None
    assert "interaction" not in [panel.id for panel in evidence_of(response).panels]
