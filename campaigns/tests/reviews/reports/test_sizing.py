"""Sizing tables in the report of a conclusion, alone as CSV and Markdown, and over REST."""

import csv

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.models import Campaign, Finding, Target
from campaigns.reviews.freezing import freeze
from campaigns.reviews.reports.building import advice_of
from campaigns.reviews.reports.sizing import as_csv, sizing_of, sizing_of_campaign
from campaigns.reviews.suggesting import suggestion
from campaigns.tests.browsing import Page
from campaigns.tests.findings.compute import loads
from campaigns.tests.people import somebody
from campaigns.tests.reviews.reports.conftest import concluded

pytestmark = pytest.mark.django_db
ENGINES = {"asyncio": 300.0, "futures": 150.0}


@pytest.fixture
def carries(browser, settings):
    """A conclusion on what two engines carry, on a target whose sizes are declared."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"
    target = Target.objects.create(
        name="=proxy-8", family="http", base_url="http://127.0.0.1:9", address="127.0.0.1:9",
        hardware="rack 4, CPU=8, GiB=24",
    )  # fmt: skip
    factors = {"concurrency": loads.LOADS, "engine": list(ENGINES)}
    campaign = loads.launch(target, factors, criterion=loads.LIMIT)
    loads.store(campaign, loads.queue(ENGINES))
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    compute.analyse(campaign)
    return concluded(campaign, somebody("ada", "author"))


def text_of(browser, name, conclusion):
    response = browser.get(reverse(name, args=[conclusion.pk]))
    assert response.status_code == 200
    return response.content.decode()


def test_the_report_has_a_row_for_the_target_with_its_recommended_setting(browser, carries):
    page = Page(browser.get(reverse("report", args=[carries.pk])))
    markdown = text_of(browser, "report-markdown", carries)

    for said in ("this machine", "engine asyncio", "per CPU", "per GiB"):
        assert said in page.text
        assert said in markdown
    assert "It says nothing of other machines of a size." in page.text


def test_what_carries_the_most_is_what_report_and_conclusion_advise(carries):
    (evidence,) = carries.evidence.select_related("campaign__target")

    (advice,) = advice_of(evidence.campaign, None)

    assert advice.setting == "engine asyncio"
    assert advice.why.startswith("carries the most: ")
    assert suggestion([evidence.campaign]).recommendation == f"Set engine asyncio: {advice.why}."


def test_numbers_are_in_the_csv_and_no_text_is_a_formula(browser, carries):
    (row,) = csv.DictReader(text_of(browser, "sizing-csv", carries).splitlines())

    assert (row["target"], row["setting"], row["word"]) == (
        "'=proxy-8",
        "engine asyncio",
        "between",
    )
    assert float(row["low"]) < 300 < float(row["high"])
    assert (row["estimate"], row["estimate_per_CPU"]) == (
        "",
        "",
    )  # no line is claimed over a gap of ratio 2
    assert float(row["low_per_CPU"]) == pytest.approx(float(row["low"]) / 8)
    assert float(row["high_per_GiB"]) == pytest.approx(float(row["high"]) / 24)


def test_what_is_signed_off_is_not_changed_by_another_analysis_or_description(carries):
    freeze(carries)
    signed = as_csv(sizing_of(carries))
    campaign = carries.evidence.get().campaign
    Finding.objects.filter(campaign=campaign, name="capacity").update(
        result={"of": "other methods"}
    )
    Finding.objects.filter(campaign=campaign).update(versions={"methods": "later"})
    Target.objects.update(name="renamed", hardware="CPU=16")

    assert as_csv(sizing_of(carries)) == signed


def test_while_it_can_be_edited_the_present_findings_are_shown(carries):
    freeze(carries)
    Target.objects.update(hardware="CPU=16")
    carries.state = "reopened"

    (table,) = sizing_of(carries)

    assert table.rows[0].sizes["CPU"] == 16


def test_each_of_several_targets_is_divided_by_its_own_sizes(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9,10"
    targets = [
        Target.objects.create(
            name=f"proxy-{cpus}", family="http", base_url=f"http://127.0.0.1:{port}",
            address=f"127.0.0.1:{port}", hardware=f"CPU={cpus}",
        )
        for cpus, port in ((8, 9), (16, 10))
    ]  # fmt: skip
    keys = [target.pk for target in targets]
    factors = {"concurrency": loads.LOADS}
    campaign = loads.launch(targets[0], factors, criterion=loads.LIMIT, targets=keys)
    loads.store(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    compute.analyse(campaign)

    table = sizing_of_campaign(campaign)

    assert table
    assert {row.target: row.sizes for row in table.rows} == {
        "proxy-8": {"CPU": 8},
        "proxy-16": {"CPU": 16},
    }


def test_a_conclusion_without_load_says_so(browser, accepted):
    assert "there is nothing to size by" in text_of(browser, "sizing-markdown", accepted)
    assert text_of(browser, "sizing-csv", accepted).count("\n") == 1
    assert "Sizing" not in text_of(browser, "report", accepted)
