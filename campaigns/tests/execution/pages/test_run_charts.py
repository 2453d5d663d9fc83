"""Charts of a run as pages of their own."""

import pytest
from django.urls import reverse

from campaigns.models import Run, Series
from campaigns.tests.browsing import Page
from campaigns.tests.chart_files import saved
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.watched import watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 100)
    run = finish(campaign).runs.order_by("position")[0]
    Series.objects.create(
        attempt=run.attempts.get(), name="bytes", unit="B/s", step_seconds=0.5, values=[1e6, 2e6]
    )
    watch(run, 0.98)
    return run


def links(browser, address):
    page = Page(browser.get(address))
    return [each["href"] for _, each in page.elements if each.get("data-save") == "html"]


def test_every_chart_of_a_run_is_a_page_that_stands_alone(browser, run):
    address = reverse("run", args=[run.campaign_id, run.position])
    found = links(browser, address)
    assert [each.rpartition("/")[2] for each in found] == ["watched.html", "series-1.html"]

    for link, chart in zip(found, ("watched", "series-1"), strict=True):
        page = saved(browser, link)
        assert page.stands_alone()
        assert list(page.figures) == [chart]
        assert "Run 1, engine " in page.text
        assert page.text.endswith(f"from http://testserver{address}?attempt=1#{chart}")
        assert page.headers["Content-Disposition"].endswith(f'.run-1.{chart}.html"')


def test_charts_of_a_try_out_have_addresses_of_their_own(browser, run):
    Run.objects.filter(pk=run.pk).update(purpose=Run.Purpose.TRIAL, position=99)

    found = links(browser, reverse("trial", args=[run.campaign_id, 99]))

    assert found == [
        reverse("trial-chart", args=[run.campaign_id, 99, 1, chart])
        for chart in ("watched", "series-1")
    ]
    assert "Try-out 99, engine " in saved(browser, found[0]).text
    gone = reverse("run-chart", args=[run.campaign_id, 99, 1, "watched"])
    assert browser.get(gone).status_code == 404


@pytest.mark.parametrize(("number", "chart"), [(2, "series-1"), (1, "series-2"), (1, "curve")])
def test_other_charts_are_not_there(browser, run, number, chart):
    address = reverse("run-chart", args=[run.campaign_id, run.position, number, chart])

    assert browser.get(address).status_code == 404
