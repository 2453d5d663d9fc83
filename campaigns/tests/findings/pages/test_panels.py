import csv
import json
from pathlib import Path

import pytest
from django.urls import reverse

from campaigns.findings.compute import scalability
from campaigns.kinds.base import ClosedLoop
from campaigns.kit import histogram
from campaigns.models import Attempt, Campaign, Distribution, Phase, Run, Series
from campaigns.results.importing import demonstration
from campaigns.results.storing import Value
from campaigns.tests.browsing import Page, evidence_of
from campaigns.tests.measured import START, finish, launched, store
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db

GOLDEN = json.loads((Path(__file__).parents[2] / "stats/golden/d_usl.json").read_text())
LEVELS = GOLDEN["levels"]


@pytest.fixture
def levels(target, person):
    """Two levels in three blocks, with histograms, phases and series of each run."""
    campaign = launched(target, person, factors={"workers": [2, 4]}, order="interleaved")
    store(campaign, lambda run: 10.0 + run.position)
    for attempt in Attempt.objects.select_related("run__cell"):
        tell(attempt)
    return finish(campaign)


def tell(attempt):
    level = attempt.run.cell.levels_by_factor["workers"]
    for name, scale in (("file_time", level), ("first_byte", 1)):
        code = histogram.encode([scale * value for value in range(1, 201)])
        Distribution.objects.create(
            attempt=attempt, name=name, encoded=code.encoded, count=code.count
        )
    Phase.objects.create(attempt=attempt, of="attempt", name="reset", seconds=2.0)
    Phase.objects.create(attempt=attempt, of="measure", name="first_byte", seconds=10 / level)
    Series.objects.create(
        attempt=attempt, name="bytes", unit="B/s", step_seconds=0.5, values=[1e6 * level, 2e6]
    )


@pytest.fixture
def closed_loop(toy, target, person, monkeypatch):
    """The published noisy data of a closed loop: three runs of each of eight levels."""
    monkeypatch.setattr(scalability, "RESAMPLES", 20)
    monkeypatch.setattr(
        type(toy), "closed_loop", ClosedLoop("workers", "rate", "file_time", "none")
    )
    campaign = launched(
        target, person, factors={"workers": LEVELS}, order="interleaved", repetitions=3
    )
    values = dict(zip(LEVELS, zip(*[iter(GOLDEN["noisy"]["X"])] * 3, strict=True), strict=True))
    for run in campaign.runs.select_related("cell", "block"):
        n = run.cell.levels_by_factor["workers"]
        rate = values[n][run.block.number - 1]
        pairs = (("duration", 1e4 / rate, "s"), ("rate", rate, "files/s"))
        stored = [
            Value(name, value, unit, lower_is_better=unit == "s") for name, value, unit in pairs
        ]
        attempt = import_run(run, stored, started_at=START, finished_at=START)
        code = histogram.encode([round(1e6 * n / rate)] * 20)
        Distribution.objects.create(
            attempt=attempt, name="file_time", encoded=code.encoded, count=code.count
        )
    return campaign


def panels(browser, campaign, **query):
    response = browser.get(reverse("campaign-print", args=[campaign.pk]), query)
    assert response.status_code == 200
    return {panel.id: panel for panel in evidence_of(response).panels}


OTHERS = {"contrasts", "matrix", "slopes", "differences"}
"""Panels of comparisons, which have tests of their own."""


def ids_of(found):
    return [name for name in found if name not in OTHERS]


def rows_of(browser, campaign, chart, **query):
    address = reverse("campaign-chart-csv", args=[campaign.pk, chart])
    return list(csv.reader(browser.get(address, query).getvalue().decode().splitlines()))


def test_every_chart_has_its_help_its_table_and_its_file(browser, levels):
    found = panels(browser, levels)

    assert ids_of(found) == ["ecdf", "percentiles", "phases", "series", "drift"]
    for name, panel in found.items():
        assert panel.how
        assert panel.plot.label.endswith(".")
        assert len(rows_of(browser, levels, name)) == len(panel.numbers.rows) + 1


def test_one_page_has_every_id_once(browser, levels):
    page = Page(browser.get(reverse("campaign-print", args=[levels.pk])))

    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(set(ids)) == len(ids)


def test_a_distribution_has_each_run_with_who_made_it(browser, levels):
    head, *rows = rows_of(browser, levels, "ecdf")

    assert head == ["cell", "run (count)", "value (s)", "share of runs up to it (share)", "made"]
    assert [row[3] for row in rows[:3]] == ["0.3333333333333333", "0.6666666666666666", "1.0"]
    assert all(row[4].startswith("block ") and row[4].endswith(", import") for row in rows)


def test_few_runs_have_no_density_and_many_have_one(browser, target, person):
    campaign = launched(target, person, factors={"workers": [2]}, order="blocked", repetitions=22)
    store(campaign, lambda run: 10.0 + run.position % 3 + 5 * (run.position > 11))

    found = panels(browser, finish(campaign))["density"]

    assert [row[1] for row in found.numbers.rows if row[1] == "mode"] == ["mode", "mode"]
    assert found.plot.label.startswith("Density of duration by workers. 2: 2 modes, ")


def test_the_quantity_of_percentiles_is_chosen_by_the_address(browser, levels):
    first = panels(browser, levels)["percentiles"]
    other = panels(browser, levels, **{"percentiles-of": "first_byte"})["percentiles"]

    assert first.plot.title == "Percentiles of file time by workers"
    assert other.plot.title == "Percentiles of first byte by workers"
    assert first.numbers.rows[0] == ("2", "50 %", 3, *[pytest.approx(0.2)] * 4)
    assert first.numbers.columns[3].unit == "ms"


def test_a_choice_keeps_the_rest_of_the_address(browser, levels):
    address = reverse("campaign-print", args=[levels.pk])
    page = Page(browser.get(address, {"metric": "duration", "open": "phases"}))

    assert {"type": "hidden", "name": "open", "value": "phases"} in page.named("open")
    (chosen,) = page.named("phases-of")
    assert chosen["id"] == "f-phases-of"


def test_phases_are_those_of_the_measured_time_unless_steps_are_asked_for(browser, levels):
    first = panels(browser, levels)["phases"]
    steps = panels(browser, levels, **{"phases-of": "attempt"})["phases"]

    assert first.numbers.rows == [
        ("2", "first byte", 3, 5.0, 0.0),
        ("4", "first byte", 3, 2.5, 0.0),
    ]
    assert [row[:2] for row in steps.numbers.rows] == [("2", "reset"), ("4", "reset")]


def test_the_series_are_those_of_the_level_that_is_asked_for(browser, levels):
    cell = levels.cells.get(position=2)

    first = panels(browser, levels)["series"]
    other = panels(browser, levels, **{"series-of": str(cell.pk)})["series"]

    assert {row[2] for row in first.numbers.rows} == {2.0}
    assert {row[2] for row in other.numbers.rows} == {4.0, 2.0}
    assert other.numbers.columns[2].unit == "MB/s"
    assert "import" in other.plot.figure["data"][0]["hovertemplate"]


@pytest.mark.parametrize("wanted", ["", "x", "-1", "999999", "\x00"])
def test_a_level_that_is_not_there_is_as_if_not_asked_for(browser, levels, wanted):
    found = panels(browser, levels, **{"series-of": wanted, "phases-of": wanted})

    assert ids_of(found) == ["ecdf", "percentiles", "phases", "series", "drift"]


def test_drift_has_the_effects_of_blocks(browser, levels):
    panel = panels(browser, levels)["drift"]

    assert "effect of a block" in {trace.get("name") for trace in panel.plot.figure["data"]}
    assert panel.notes[0].startswith("Blocks vary by ")
    effects = {row[4]: row[5] for row in panel.numbers.rows}
    assert effects[1] < effects[2] < effects[3]


def test_a_blocked_campaign_says_why_it_has_none(browser):
    campaign, _ = demonstration.published_campaign(None)

    found = panels(browser, finish(campaign))

    assert ids_of(found) == ["ecdf", "drift"]
    assert found["drift"].notes == (
        "There are no effects of blocks: the runs were not made in blocks.",
        "A new session begins at run 6: 15 h after the run before it.",
    )
    assert found["drift"].aside == "blocked, 2 sessions"
    assert found["drift"].numbers.rows[0][-1].startswith("repetition 1, ")


def test_more_cells_than_a_chart_holds_are_drawn_a_dozen_at_a_time(browser, target, person):
    levels = list(range(1, 15))
    campaign = launched(
        target, person, factors={"workers": levels}, order="interleaved", repetitions=1
    )
    store(campaign, lambda run: 10.0 + run.position)
    finish(campaign)

    first = panels(browser, campaign)["ecdf"]
    rest = panels(browser, campaign, **{"ecdf-cells": "12"})["ecdf"]

    assert len(first.plot.figure["data"]) == 12
    assert [trace["name"] for trace in rest.plot.figure["data"]] == ["13", "14"]
    assert len(first.numbers.rows) == 14


def test_the_law_is_shown_with_its_limit_and_its_intervals(browser, closed_loop):
    found = panels(browser, finish(closed_loop))

    assert found["usl"].notes[0].startswith("Recommended limit: 5 at a time, the fewest with 95 %")
    assert "The rule of thumb, 75 % of the peak, says 5.18, and agrees." in found["usl"].notes[0]
    assert found["usl"].notes[1].startswith("The peak lies at 6.9 (")
    names = [row[0] for row in found["usl"].numbers.rows]
    assert names[0] == "g, throughput of one"
    assert all(row[2] < row[1] < row[3] for row in found["usl"].numbers.rows[:6])
    assert [item.text for item in found["usl"].plot.key][-2:] == ["recommended limit", "peak"]


def test_throughput_against_response_time_has_every_level(browser, closed_loop):
    found = panels(browser, finish(closed_loop))["response"]

    assert [row[0] for row in found.numbers.rows] == [str(n) for n in LEVELS]
    assert found.notes == ()
    means = next(t for t in found.plot.figure["data"] if t["name"] == "mean of a level")
    assert means["text"] == [str(n) for n in LEVELS]


def test_waiting_that_nobody_timed_is_told(browser, closed_loop):
    for each in Distribution.objects.all():
        each.encoded = histogram.encode([1000] * 20).encoded
        each.save()

    note = panels(browser, finish(closed_loop))["response"].notes[0]

    assert note.startswith("At 2, 3, 4, 5, 6, 7, 8 throughput × response time is not the number")
    assert "at 8 it accounts for 3.24." in note


def test_times_that_cannot_be_those_of_the_same_requests_are_told(browser, closed_loop):
    for each in Distribution.objects.all():
        each.encoded = histogram.encode([1_000_000] * 20).encoded
        each.save()

    note = panels(browser, finish(closed_loop))["response"].notes[0]

    assert note.endswith("They are not all of the same requests, or some were counted twice.")


def test_a_curve_without_a_run_that_counts_keeps_its_panel(browser, closed_loop):
    Attempt.objects.update(units_done=1, units_failed=1)

    found = panels(browser, finish(closed_loop))

    assert found["response"].plot.figure["data"]
    assert found["response"].numbers.rows == []


def test_work_that_failed_stands_beside_the_numbers_of_its_cell(browser, closed_loop):
    Attempt.objects.filter(run__cell__position=1).update(units_done=18, units_failed=12)
    campaign = finish(closed_loop)

    lines = browser.get(reverse("campaign-print", args=[campaign.pk])).context["cells"].lines

    assert "too many failures: 40 % of the work failed" in lines[0].notes
    assert not any("work failed" in note for line in lines[1:] for note in line.notes)


def test_too_few_levels_say_why_there_is_no_law(browser, closed_loop):
    Attempt.objects.filter(run__cell__position__gt=3).update(units_done=1, units_failed=1)

    found = panels(browser, finish(closed_loop))["usl"]

    assert found.aside == "no law fitted"
    assert found.notes == (
        "No law is fitted: it takes 5 levels with runs that count, and there are 3.",
        "In no fit: 15 runs where too much of the work, or too many runs of the level, failed.",
    )
    assert found.plot.figure["data"]


def test_a_campaign_of_which_every_run_failed_has_its_page(browser, levels):
    Run.objects.update(state=Run.State.FAILED, reason="refused")

    assert "percentiles" not in panels(browser, finish(levels))


def test_a_result_without_data_for_charts_has_the_others(browser, levels):
    for name in ("density", "drift", "percentiles", "phases", "usl"):
        levels.findings.filter(name__startswith=name).delete()
    Campaign.objects.update(analysis_requested_at=None)

    assert ids_of(panels(browser, levels)) == ["ecdf", "series", "drift"]
