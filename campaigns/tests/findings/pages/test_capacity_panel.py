"""The chart of load on the page of a campaign, and its numbers as CSV."""

import csv

import pytest
from django.urls import reverse

from campaigns.findings import values
from campaigns.findings.store import stored
from campaigns.models import Factor, Finding
from campaigns.stats.capacity import Capacity, CapacityWord, ConditionCapacity, Held, LoadState
from campaigns.stats.interval import Interval
from campaigns.tests.browsing import Page, answer_level_of, evidence_of
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded(target, person):
    """A campaign whose load is `workers`, with what each engine carries."""
    factors = {"engine": ["new", "old"], "workers": [1, 4, 16]}
    campaign = launched(target, person, factors=factors, order="interleaved", repetitions=3)
    Factor.objects.filter(campaign=campaign, name="workers").update(role=Factor.Role.LOAD)
    store(
        campaign,
        lambda run: 2.0 * run.cell.levels_by_factor["workers"] + run.position / 100,
        rate=2745.0,
    )
    finish(campaign)
    cells = {
        (cell.levels_by_factor["engine"], cell.levels_by_factor["workers"]): cell.pk
        for cell in campaign.cells.all()
    }
    states = [
        LoadState(n, held, 3, value=2.0 * n, band=Interval(1.9 * n, 2.1 * n))
        for n, held in ((1, Held.HELD), (4, Held.HELD), (16, Held.FAILED))
    ]
    condition = ConditionCapacity("duration", 8.0, 10.0, 12.5, states)
    carried = Capacity(CapacityWord.BETWEEN, 4.0, None, 16.0, 3, 1, 16, 1.5, [condition])
    finding = values.CapacityFinding(
        load="workers", load_label="Workers", others=[], stated=True, resolution=1.5, alpha=0.05,
        margin_pct=5.0, delta_pct=10.0, ratios=[],
        conditions=[
            values.ConditionTerms(
                name="duration", metric="duration", label="Duration", unit="s", at_most=20.0
            )
        ],
        settings=[
            values.CapacityOfSetting(
                levels={"engine": engine}, capacity=carried,
                cells=[
                    values.CapacityCell(
                        cell=cells[engine, n], load=n, held=Held.HELD, runs=3, passed=3
                    )
                    for n in (1, 4, 16)
                ],
            )
            for engine in ("new", "old")
        ],
    )  # fmt: skip
    like = Finding.objects.get(campaign=campaign, name="answer")
    Finding.objects.update_or_create(
        campaign=campaign,
        name="capacity",
        defaults={
            "result": stored(finding),
            "data_hash": like.data_hash,
            "versions": like.versions,
            "computed_at": like.computed_at,
        },
    )
    return campaign


def test_a_capacity_is_one_chart_which_stands_beside_the_answer(browser, loaded):
    response = browser.get(reverse("campaign-print", args=[loaded.pk]))
    text = Page(response).text

    assert "Duration by workers, and what is carried" in text
    assert "engine new: at least 4 workers, fewer than 16" in text
    page = response.content.decode()
    assert page.count('id="panel-capacity"') == 1
    assert 'id="curve"' not in page
    assert "capacity" not in [panel.id for panel in evidence_of(response).panels]


def test_the_load_is_the_axis_and_engines_are_the_lines(browser, loaded):
    context = browser.get(reverse("campaign-chart", args=[loaded.pk, "curve"])).context

    assert context["plot"].title == "Duration by workers and engine"
    assert "Best at" not in context["plot"].label
    layout = context["plot"].figure["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert [(s["x0"], s["x1"]) for s in layout["shapes"] if s["name"] == "carried"] == [(4, 16)] * 2
    assert [s["y0"] for s in layout["shapes"] if s["name"] == "condition"] == [20]


def test_how_to_read_tells_of_the_band_only_where_one_is_drawn(browser, loaded):
    band = "A shaded band is what is carried by the setting of its colour"
    address = reverse("campaign-chart-page", args=[loaded.pk, "curve"])

    assert band in Page(browser.get(address)).text
    assert band not in Page(browser.get(address, {"x": "engine"})).text


def test_its_runs_are_drawn_and_its_numbers_are_a_file(browser, loaded):
    panel = answer_level_of(browser.get(reverse("campaign-print", args=[loaded.pk]))).carried
    dots = [t for t in panel.plot.figure["data"] if t.get("name", "").startswith("run ")]
    assert sum(len(each["x"]) for each in dots) == 18

    answer = browser.get(reverse("campaign-chart-csv", args=[loaded.pk, "capacity"]))
    rows = list(csv.reader(answer.getvalue().decode().splitlines()))
    assert rows[0][:4] == ["setting", "workers", "runs (count)", "duration (s)"]
    assert rows[1][:4] == ["engine new", "1", "3", "2.0"]
    assert len(rows) == 7


@pytest.mark.parametrize("metric", ["duration", "rate"])
def test_its_runs_have_the_metric_of_the_condition_whatever_is_shown(browser, loaded, metric):
    address = reverse("campaign-print", args=[loaded.pk])

    response = browser.get(address, {"metric": metric})
    charts = [answer_level_of(response).carried, *evidence_of(response).panels]
    (panel,) = [each for each in charts if each and each.id == "capacity"]

    dots = [t for t in panel.plot.figure["data"] if t.get("name", "").startswith("run ")]
    seconds = sorted(value for each in dots for value in each["y"])
    assert len(seconds) == 18
    assert 2 < seconds[0] < seconds[-1] < 34


def test_other_values_than_those_of_the_condition_are_a_chart_of_the_evidence(browser, loaded):
    answer = browser.get(reverse("campaign", args=[loaded.pk]), {"x": "engine"})
    evidence = browser.get(reverse("campaign-evidence", args=[loaded.pk]), {"x": "engine"})

    assert answer_level_of(answer).carried
    assert 'id="curve"' not in answer.content.decode()
    assert 'id="curve"' in evidence.content.decode()
    assert 'id="panel-capacity"' not in evidence.content.decode()


def test_one_chart_is_served_by_itself(browser, loaded):
    part = browser.get(reverse("campaign-chart", args=[loaded.pk, "capacity"]))

    assert part.status_code == 200
    assert "How to read this" in part.content.decode()


def test_a_campaign_of_nothing_but_load_shows_its_knee_and_no_best(browser, target, person):
    campaign = launched(
        target, person, factors={"workers": [1, 2, 4, 8, 16]}, order="interleaved", repetitions=3
    )
    Factor.objects.filter(campaign=campaign).update(role=Factor.Role.LOAD)
    seconds = {1: 10.0, 2: 10.1, 4: 10.2, 8: 20.0, 16: 40.0}
    store(campaign, lambda run: seconds[run.cell.levels_by_factor["workers"]] + run.position / 100)

    response = browser.get(reverse("campaign-print", args=[finish(campaign).pk]))

    plot = response.context["plot"]
    assert "The knee lies" in plot.label
    assert "Best at" not in plot.label
    shapes = {shape["name"] for shape in plot.figure["layout"]["shapes"]}
    assert shapes == {"knee"}
    assert evidence_of(response).heat is None
