"""The levels of a result: what each shows, where addresses of before lead, and the document of all."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.findings.pages.levels import LABELS, current_link
from campaigns.models import Campaign
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db
MARKS = {
    "answer": ("Caveat.", "curve-figure"),
    "evidence": ("Findings in detail", "Table of cells", 'id="panel-drift"'),
    "trust": ('id="h-caveats"', 'id="h-checks"'),
    "runs": ('id="runs"',),
    "settings": ('id="h-environment"',),
}
"""What stands on one level alone."""


@pytest.fixture
def over(target, person):
    """A finished campaign of three levels, measured level after level."""
    factors = {"workers": [1, 2, 4]}
    campaign = launched(target, person, factors=factors, order="blocked", repetitions=3)
    store(campaign, lambda run: 10.0 / run.cell.levels_by_factor["workers"], rate=4.0, failing=(9,))
    return finish(campaign)


def address(campaign, level):
    return reverse("campaign" if level == "answer" else f"campaign-{level}", args=[campaign.pk])


@pytest.mark.parametrize("level", MARKS)
def test_each_part_stands_on_its_level_and_in_the_document_of_all(browser, over, level):
    text = browser.get(address(over, level)).content.decode()
    whole = browser.get(reverse("campaign-print", args=[over.pk])).content.decode()

    for other, marks in MARKS.items():
        for mark in marks:
            assert (mark in text) == (other == level), mark
            assert mark in whole


def test_tabs_are_links_that_keep_the_metric_and_the_axis(browser, over):
    page = Page(browser.get(address(over, "trust"), {"metric": "rate", "open": "drift"}))

    links = {a["href"]: a for tag, a in page.elements if tag == "a" and a.get("href")}
    for level in LABELS:
        assert f"{address(over, level)}?metric=rate" in links
    (here,) = [
        href for href, a in links.items() if a.get("aria-current") == "page" and "?" in (href or "")
    ]
    assert here == f"{address(over, 'trust')}?metric=rate"


@pytest.mark.parametrize(
    ("query", "level"),
    [
        ({"open": "drift"}, "evidence"),
        ({"open": "statements"}, "evidence"),
        ({"cells": "2"}, "evidence"),
        ({"state": "failed"}, "runs"),
        ({"page": "2", "metric": "rate"}, "runs"),
        ({"q": "x"}, "runs"),
        ({"sort": "-value"}, "runs"),
        ({"metric": "rate", "x": "workers"}, ""),
    ],
)
def test_an_address_of_before_leads_to_its_level(browser, over, query, level):
    answer = browser.get(address(over, "answer"), query)

    if not level:
        assert answer.status_code == 200
        return
    assert answer.status_code == 302
    place, _, left = answer["Location"].partition("?")
    assert place == address(over, level)
    assert [pair.split("=")[0] for pair in left.split("&")] == list(query)


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("/campaigns/7/#h-cells", "/campaigns/7/evidence/#h-cells"),
        ("/campaigns/7/?metric=rate#panel-drift", "/campaigns/7/evidence/?metric=rate#panel-drift"),
        ("/campaigns/7/#h-checks", "/campaigns/7/trust/#h-checks"),
        ("/campaigns/7/#h-runs", "/campaigns/7/runs/#h-runs"),
        ("/campaigns/7/#h-environment", "/campaigns/7/settings/#h-environment"),
        ("/campaigns/7/#h-curve", "/campaigns/7/#h-curve"),
        ("/campaigns/7/#panel-capacity", "/campaigns/7/#panel-capacity"),
        ("/campaigns/7/trust/#h-checks", "/campaigns/7/trust/#h-checks"),
        ("/campaigns/7/", "/campaigns/7/"),
        ("", ""),
    ],
)
def test_a_link_in_a_snapshot_leads_to_its_part(link, leads_to):
    assert current_link(link) == leads_to


def test_a_browser_is_told_where_parts_of_old_links_stand(browser, over):
    page = Page(browser.get(address(over, "answer")))

    (tabs,) = [json.loads(a["data-parts"] or "") for _, a in page.elements if "data-parts" in a]
    assert tabs["runs-panel"] == address(over, "runs")
    assert tabs["panel-"] == address(over, "evidence")


def test_each_level_reads_less_than_all_of_them(browser, over):
    browser.get("/account/")  # the first request of a session also notes the session
    counts = {}
    for level in (*LABELS, "print"):
        with CaptureQueriesContext(connection) as found:
            assert browser.get(address(over, level)).status_code == 200
        counts[level] = len(found)

    assert max(counts[level] for level in LABELS) < counts["print"]
    assert counts["settings"] <= 20


def test_levels_of_an_open_campaign_withhold_the_verdict(browser, over):
    Campaign.objects.filter(pk=over.pk).update(state=Campaign.State.RUNNING)

    answer = Page(browser.get(address(over, "answer"), {"view": "results"}))
    trust = Page(browser.get(address(over, "trust")))

    assert "Results so far" in answer.text
    assert "no verdict yet" in answer.text
    assert any(
        a.get("href") == f"{address(over, 'answer')}?view=results" for _, a in trust.elements
    )
    assert "slower" not in Page(browser.get(address(over, "evidence"))).text


@pytest.mark.parametrize("level", ["evidence", "trust", "runs", "settings", "print"])
def test_a_draft_has_no_levels(browser, draft, level):
    assert browser.get(address(draft, level))["Location"] == address(draft, "answer")
