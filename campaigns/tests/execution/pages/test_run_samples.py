"""Samples and overlapping parts on the page of a run, in the words of its kind."""

import pytest
from django.urls import reverse

from campaigns.execution import progress
from campaigns.execution.pages.run_samples import FEW, sample_table
from campaigns.kinds.base import Metric, Phase
from campaigns.results.closing import close
from campaigns.tests.browsing import Page
from campaigns.tests.measured import begin, launched, outcome

pytestmark = pytest.mark.django_db
FIGURE = 'id="samples-figure"'


@pytest.fixture
def campaign(target, person):
    return launched(target, person)


@pytest.fixture
def page_of(browser, campaign):
    """The page of a run that observed this."""

    def make(**measured):
        run = campaign.runs.get(position=1)
        close(begin(run), outcome(**measured))
        return browser.get(reverse("run", args=[campaign.pk, 1]))

    return make


def syncs(count):
    return {
        "repository": list(range(1, count + 1)),
        "state": ["completed"] * count,
        "queue_seconds": [0.25] * count,
        "work_seconds": [130.0] * count,
        "files": [20] * count,
        "failure": [""] * count,
    }


def test_one_sample_is_listed_instead_of_an_empty_curve(page_of, toy, monkeypatch):
    monkeypatch.setattr(type(toy), "sample", "sync")

    page = page_of(samples=syncs(1))

    assert FIGURE not in page.content.decode()
    text = Page(page).text
    assert "1 sync repository state queue work files 1 completed 250 ms 2:10 min 20" in text


def test_many_samples_are_a_curve_in_the_words_of_the_kind(page_of, toy, monkeypatch):
    monkeypatch.setattr(type(toy), "sample", "sync")

    page = page_of(samples=syncs(FEW + 1))

    plot = next(plot for plot in page.context["view"].plots if plot.id == "samples")
    assert plot.title == "Time of all syncs"
    assert "21 syncs" in plot.label
    assert plot.figure["layout"]["yaxis"]["title"]["text"] == "share of syncs done by then"
    assert "completed" not in Page(page).text


def test_a_column_that_says_nothing_is_left_out_and_a_hole_is_a_dash():
    table = sample_table(
        {"failure": ["", ""], "queue_seconds": [None, 1.0], "x": ["a", ""]}, "sync"
    )

    assert table is not None
    assert table.heads == (("queue", True), ("x", False))
    assert [[text for text, _ in row] for row in table.rows] == [["—", "a"], ["1 s", "—"]]


def test_without_samples_there_is_no_table(page_of):
    page = page_of(samples={})

    assert page.context["view"].samples is None
    assert "h-samples" not in page.content.decode()


def test_parts_that_overlap_stand_at_their_places(page_of):
    page = page_of(
        phases=[
            Phase("waits for a worker", 1.0, started_seconds=0.0),
            Phase("task", 3.0, started_seconds=1.0),
            Phase("downloads files", 2.0, started_seconds=1.5, counted_seconds=3.0),
        ]
    )

    view = page.context["view"]
    assert [(span.start, span.width) for span in view.spans] == [
        ("0.00%", "25.00%"),
        ("25.00%", "75.00%"),
        ("37.50%", "50.00%"),
    ]
    assert [(span.certain, span.certain_width) for span in view.spans] == [
        ("0.00%", "25.00%"),
        ("25.00%", "75.00%"),
        ("75.00%", "12.50%"),
    ]
    assert view.parts == ()
    assert "downloads files 1.50 … 3.50 s" in Page(page).text
    assert "Parts overlap and do not add up." in Page(page).text


def test_parts_that_follow_one_another_are_one_bar(page_of):
    page = page_of()

    assert page.context["view"].spans == ()
    assert "Parts overlap" not in Page(page).text


def test_rest_tells_when_a_part_began(browser, campaign, page_of):
    page_of(phases=[Phase("task", 3.0, started_seconds=1.0), Phase("save", 1.0)])

    told = browser.get(reverse("api-run", args=[campaign.pk, 1])).json()

    found = {p["name"]: p["started_seconds"] for p in told["attempts"][0]["phases"]}
    assert found["task"] == 1.0
    assert found["save"] is None


def test_a_run_that_goes_on_speaks_in_the_words_of_its_kind(
    browser, campaign, toy, monkeypatch, settings
):
    monkeypatch.setattr(type(toy), "rate", ("files per second", "files/s"))
    attempt = begin(campaign.runs.get(position=1))
    said = {
        "files_done": 1200,
        "syncs_total": 3,
        "syncs_done": 1,
        "seconds": 4.0,
        "step_seconds": 1.0,
        "rate_series": [5.0, 7.0],
    }
    monkeypatch.setattr(progress, "read", lambda pk: said if pk == attempt.pk else None)

    page = browser.get(reverse("campaign", args=[campaign.pk]))

    text = Page(page).text
    assert "Run 1: files per second" in text
    assert "4 s · 1,200 files · 1 of 3 syncs" in text
    axis = page.context["plot"].figure["layout"]["yaxis"]
    assert "files/s" in axis["title"]["text"]


def test_a_percentile_that_has_too_few_samples_says_how_many_it_needs(page_of, toy, monkeypatch):
    late = Metric("late", "Late", "s", lower_is_better=True, percentile=0.99)
    monkeypatch.setattr(type(toy), "metrics", (*toy.metrics, late))

    few = Page(page_of(units_done=999))

    assert "Late needs 1000" in few.text


def test_a_percentile_is_not_missed_where_it_could_have_been(page_of, toy, monkeypatch):
    late = Metric("late", "Late", "s", lower_is_better=True, percentile=0.99)
    monkeypatch.setattr(type(toy), "metrics", (*toy.metrics, late))

    assert "Late" not in Page(page_of(units_done=1000)).text


def test_what_failed_is_shown_with_the_first_message_where_no_sample_has_it(page_of):
    page = page_of(
        units_done=8,
        units_failed=2,
        failures={"check": 2},
        examples={"check": "sign in: the server answered 302, expected 200"},
    )

    assert "check 2 sign in: the server answered 302, expected 200" in Page(page).text


def test_a_message_may_hold_what_the_database_cannot_store(page_of):
    page = page_of(failures={"check": 1}, units_failed=1, examples={"check": "the body is \0"})

    assert "check 1 the body is" in Page(page).text
