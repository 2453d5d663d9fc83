"""Charts of a result and of a comparison as pages of their own."""

import re
import sys

import pytest
from django.urls import reverse

from campaigns.findings.pages import view
from campaigns.findings.pages.view import TOGETHER
from campaigns.models import Campaign
from campaigns.results.importing.demonstration import published_campaign
from campaigns.tests.browsing import Page
from campaigns.tests.chart_files import saved
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"'"


@pytest.fixture
def levels(target, person):
    """Two levels in three blocks."""
    campaign = launched(target, person, factors={"workers": [2, 4]}, order="interleaved")
    store(campaign, lambda run: 10.0 + run.position)
    return finish(campaign)


@pytest.fixture
def pairs(target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 100)
    return finish(campaign)


@pytest.fixture
def published():
    campaign, _ = published_campaign(None)
    return finish(campaign)


def links(browser, address, **query):
    """Addresses of the charts of a page as pages of their own, by the name of the chart."""
    page = Page(browser.get(address, query))
    return {
        each["data-chart"]: each["href"]
        for _, each in page.elements
        if each.get("data-save") == "html"
    }


def page_of(campaign):
    return reverse("campaign", args=[campaign.pk])


def chart_of(browser, campaign, chart, **query):
    return saved(browser, reverse("campaign-chart-page", args=[campaign.pk, chart]), query)


@pytest.mark.parametrize("kind", ["levels", "pairs", "published"])
def test_every_chart_of_a_result_is_a_page_that_stands_alone(request, browser, kind):
    campaign = request.getfixturevalue(kind)
    found = links(browser, reverse("campaign-print", args=[campaign.pk]))

    assert len(found) >= 3
    for chart, address in found.items():
        page = saved(browser, address)
        assert page.stands_alone(), chart
        assert list(page.figures) == [chart]
        assert campaign.question in page.text
        assert f"Campaign {campaign.name} " in page.text
        assert "How to read this" in page.text
        assert f"/campaigns/{campaign.pk}/" in page.text
        name = page.headers["Content-Disposition"]
        assert re.fullmatch(rf'attachment; filename="{campaign.pk}-[\w-]+\.{chart}\.html"', name)


def test_a_page_tells_target_dates_and_where_it_is_from(browser, levels):
    page = chart_of(browser, levels, "drift", metric="duration")

    assert f"Target {levels.target.name} " in page.text
    assert re.search(r"Measured \d{4}-\d\d-\d\d \d\d:\d\d:\d\d to \d{4}-", page.text)
    place = rf"http://testserver/campaigns/{levels.pk}/evidence/"
    address = rf"{place}\?metric=duration&open=drift#panel-drift"
    assert re.search(rf"Saved \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC from {address}$", page.text)


def test_the_figure_is_that_of_the_page_with_light_colours(browser, levels):
    response = browser.get(page_of(levels))
    drawn = response.context["plot"].figure

    page = chart_of(browser, levels, "curve")

    figure = page.figures["curve"].to_plotly_json()
    assert [trace.get("name") for trace in figure["data"]] == [
        trace.get("name") for trace in drawn["data"]
    ]
    assert figure["layout"]["xaxis"]["title"] == drawn["layout"]["xaxis"]["title"]
    assert '"@' not in page.source.partition("Plotly.newPlot")[2].partition("</script>")[0]
    kept = page.fittings["curve"]
    assert kept["colours"]
    assert {path[0] for path, _ in kept["colours"]} <= {"data", "layout", "narrow"}
    assert kept["narrow"].keys() == drawn["narrow"].keys() | {"margin"}


def test_axis_and_hidden_entries_are_those_that_a_reader_chose(browser, levels):
    plain = chart_of(browser, levels, "curve")
    assert plain.figures["curve"].layout.yaxis.type != "log"
    assert "Hidden in the chart" not in plain.text

    page = chart_of(browser, levels, "curve", **{"scale-curve": "log", "hide-curve": "runs,x"})

    figure = page.figures["curve"]
    assert figure.layout.yaxis.type == "log"
    assert [trace.name for trace in figure.data if trace.visible is False] == ["run"]
    assert "Hidden in the chart: one run, offset left for legibility." in page.text


@pytest.mark.parametrize("wanted", ["nonsense", "\x00", "@ink", HOSTILE])
def test_choices_that_are_not_there_change_nothing(browser, levels, wanted):
    page = chart_of(browser, levels, "curve", **{"scale-curve": wanted, "hide-curve": wanted})

    assert page.figures == chart_of(browser, levels, "curve").figures
    assert page.stands_alone()


def test_small_charts_are_drawn_together(browser, target, person):
    factors = {"workers": [2, 4], "engine": ["new", "old"]}
    campaign = launched(target, person, factors=factors, order="interleaved", repetitions=3)
    store(campaign, lambda run: 10.0 + run.position)
    finish(campaign)
    query = {"x": "workers", "colour": TOGETHER, "by": "engine"}
    assert links(browser, page_of(campaign), **query)["curve"].endswith("&by=engine")

    page = chart_of(browser, campaign, "curve", **query)

    assert list(page.figures) == ["curve-1", "curve-2"]
    assert "Engine new" in page.text
    assert page.stands_alone()


def test_charts_that_come_late_are_saved_too(browser, levels, monkeypatch):
    monkeypatch.setattr(view, "MOST_RUNS", 1)
    assert "drift" not in links(browser, page_of(levels))
    part = reverse("campaign-chart", args=[levels.pk, "drift"])

    found = links(browser, part, metric="duration")

    assert found == {
        "drift": reverse("campaign-chart-page", args=[levels.pk, "drift"]) + "?metric=duration"
    }
    assert saved(browser, found["drift"]).stands_alone()
    assert chart_of(browser, levels, "curve").stands_alone()


def test_hostile_text_is_shown_and_runs_nothing(browser, target, person):
    target.name = HOSTILE
    target.save()
    campaign = launched(
        target, person, parameters={}, factors={"path": [HOSTILE, "@ink"]}, order="interleaved",
        name=HOSTILE, question=f"Why {HOSTILE}?",
    )  # fmt: skip
    store(campaign, lambda run: 10.0 + run.position)
    finish(campaign)

    for address in links(browser, page_of(campaign)).values():
        page = saved(browser, address)
        assert page.stands_alone()
        assert f"Campaign {HOSTILE} Target {HOSTILE} " in page.text
        assert page.source.count("<script>") == 2 + len(page.figures)


def test_a_comparison_is_a_page_with_both_campaigns(browser, levels, target, person):
    other = launched(target, person, name="after", factors={"workers": [2, 4]}, order="interleaved")
    store(other, lambda run: 9.0 + run.position)
    finish(other)
    query = f"?c={levels.pk}&c={other.pk}"
    found = links(browser, reverse("compare") + query)
    assert found == {"compared": reverse("compare-chart") + query}

    page = saved(browser, found["compared"])

    assert page.stands_alone()
    assert list(page.figures) == ["compared"]
    assert f"Campaign {levels.name} " in page.text
    assert "Campaign after " in page.text
    assert page.text.endswith(f"from http://testserver/compare/{query}#compared")
    assert page.headers["Content-Disposition"] == 'attachment; filename="comparison.html"'


@pytest.mark.parametrize("query", ["", "?c=1", "?c=x", "?cell=1:1"])
def test_a_comparison_of_nothing_is_refused(browser, query):
    assert browser.get(reverse("compare-chart") + query).status_code == 400


@pytest.mark.parametrize("chart", ["forest", "nothing", "cells", "levels-1"])
def test_other_charts_are_not_there(browser, levels, chart):
    address = reverse("campaign-chart-page", args=[levels.pk, chart])

    assert browser.get(address).status_code == 404


def test_a_draft_has_no_chart(browser, draft):
    assert Campaign.objects.get(pk=draft.pk).state == "draft"
    address = reverse("campaign-chart-page", args=[draft.pk, "curve"])

    assert browser.get(address).status_code == 404


def test_a_result_page_does_without_plotly_in_python(browser, levels, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)

    assert browser.get(page_of(levels)).status_code == 200

    assert not [name for name in sys.modules if name.partition(".")[0] == "plotly"]
