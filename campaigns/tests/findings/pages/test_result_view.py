import csv
import json

import pytest
from django.urls import reverse

from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db

THREE = {"engine": ["new", "old"], "workers": [1, 2, 4], "slow": [0, 1]}


@pytest.fixture
def three_factors(target, person):
    campaign = launched(target, person, factors=THREE, order="interleaved", repetitions=2)
    store(campaign, lambda run: 10.0 + run.position)
    return finish(campaign)


def get(browser, campaign, **query):
    return browser.get(reverse("campaign-print", args=[campaign.pk]), query)


def selectors(response):
    return {
        field.name: field.value() for field in response.context["choices"] if field.name != "metric"
    }


def figures(response):
    return {plot.title: plot.figure for plot in response.context["multiples"]}


def test_three_factors_have_an_axis_a_colour_and_small_charts(browser, three_factors):
    response = get(browser, three_factors)

    assert selectors(response) == {"x": "workers", "colour": "engine", "by": "slow"}
    assert list(figures(response)) == ["Slow 0", "Slow 1"]
    assert 'data-group="curve"' in response.content.decode()


def test_small_charts_share_their_axes_and_hold_all_runs_once(browser, three_factors):
    small = figures(get(browser, three_factors)).values()

    assert len({json.dumps(figure["layout"]["yaxis"]["range"]) for figure in small}) == 1
    assert len({json.dumps(figure["layout"]["xaxis"]["range"]) for figure in small}) == 1
    drawn = [
        position
        for figure in small
        for trace in figure["data"]
        for position in trace.get("customdata", ())
    ]
    assert sorted(drawn) == list(range(1, 25))


def test_colour_and_small_charts_are_chosen_by_the_address(browser, three_factors):
    response = get(browser, three_factors, x="engine", colour="slow", by="all")

    assert selectors(response) == {"x": "engine", "colour": "slow", "by": "all"}
    assert response.context["multiples"] == []
    names = {trace.get("name") for trace in response.context["plot"].figure["data"]}
    assert {"run 0, 1", "run 1, 4"} <= names


def test_all_other_factors_can_be_the_colour(browser, three_factors):
    response = get(browser, three_factors, colour="all")

    assert response.context["multiples"] == []
    names = {trace.get("name") for trace in response.context["plot"].figure["data"]}
    assert {"run new, 0", "run old, 1"} <= names


@pytest.mark.parametrize(
    "query", [{"x": "gone", "colour": "gone", "by": "gone"}, {"colour": "workers", "by": "workers"}]
)
def test_factors_that_are_not_free_are_as_if_not_named(browser, three_factors, query):
    assert selectors(get(browser, three_factors, **query)) == {
        "x": "workers",
        "colour": "engine",
        "by": "slow",
    }


def test_two_factors_have_no_choice_but_the_axis(browser, target, person):
    factors = {"engine": ["new", "old"], "workers": [1, 2, 4]}
    campaign = launched(target, person, factors=factors, order="interleaved", repetitions=2)
    store(campaign, lambda run: 10.0 + run.position)

    assert selectors(get(browser, finish(campaign))) == {"x": "workers"}


def test_a_chart_of_the_page_has_its_numbers_as_csv(browser, three_factors):
    response = browser.get(reverse("campaign-chart-csv", args=[three_factors.pk, "drift"]))
    rows = list(csv.reader(response.getvalue().decode().splitlines()))

    assert rows[0][:4] == ["run", "cell", "value (s)", "from its cell’s mean (%)"]
    assert len(rows) == 25
    assert rows[1][2] == "11.0"
    assert response.headers["Content-Disposition"].endswith('drift.csv"')


def test_there_is_no_csv_of_a_chart_that_is_not_there(browser, three_factors):
    address = reverse("campaign-chart-csv", args=[three_factors.pk, "nothing"])

    assert browser.get(address).status_code == 404


def test_the_address_says_which_charts_are_folded_out(browser, three_factors):
    address = reverse("campaign-evidence", args=[three_factors.pk])
    folded = Page(browser.get(address)).elements
    opened = Page(browser.get(address, {"open": "drift,else"})).elements

    def panel(elements):
        (found,) = [a for _, a in elements if a.get("data-panel") == "drift"]
        return found

    assert "open" not in panel(folded)
    assert "open" in panel(opened)


def test_a_csv_shows_what_the_address_shows(browser, three_factors):
    page = get(browser, three_factors, metric="rate", colour="slow").content.decode()

    assert "charts/drift.csv?metric=rate&amp;colour=slow" in page
