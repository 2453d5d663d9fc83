"""What is said of capacity where the data are odd: each sentence as REST gives it, read on its own."""

import math

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.findings.store import findings_of
from campaigns.findings.wording.thresholds import threshold_texts
from campaigns.models import Campaign
from campaigns.results.storing import Value
from campaigns.tests.browsing import answer_level_of
from campaigns.tests.findings.compute.loads import LIMIT, launch, queue, store

pytestmark = pytest.mark.django_db

GRID = [100, 200]
RATE = {"conditions": [{"metric": "file_rate", "at_least": 50.0}]}


@pytest.fixture
def said(browser):
    """The answer of a finished campaign by REST: verdict, details, and the criterion of each load."""

    def make(campaign):
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
        campaign.refresh_from_db()
        compute.analyse(campaign)
        found = findings_of(campaign, campaign.primary_metric)
        assert found.failed_parts is None, found.failed_parts
        text = browser.get(f"/api/v1/campaigns/{campaign.pk}").json()["findings"]["answer"]["text"]
        details = [each["text"] for each in text["statements"]]
        return text["sentence"], details, found

    return make


def wave(run):
    """A little noise that is the same in each test."""
    return 1 + 0.01 * ((run.position * 7) % 5 - 2)


def at(values):
    """The duration of a run by its load."""
    return lambda run: values[run.cell.levels_by_factor["concurrency"]] * wave(run)


@pytest.mark.parametrize(
    "curve",
    [
        pytest.param(lambda x: 0.1 * x if x < 0.6 else 0.06 + 9 * (x - 0.6), id="kink"),
        pytest.param(lambda x: 0.3 * x + 1.2 / (1 + math.exp(-(x - 0.5) / 0.03)), id="S-shape"),
    ],
)
def test_a_curve_that_bends_between_two_loads_is_not_interpolated(target, said, curve):
    values = {load: 20 * math.exp(curve(math.log(load / 100))) for load in GRID}
    campaign = launch(target, {"concurrency": GRID}, criterion=LIMIT)
    store(campaign, at(values))

    sentence, details, _ = said(campaign)

    assert sentence == "toy server carries at least concurrency 100, below 200."
    assert (
        details[0]
        == "Duration stays within 40 s: 95 %, 6 runs. Measure concurrency 140 to narrow it."
    )
    assert "By the line between loads it is about concurrency 1" in details[1]
    assert details[1].endswith("which is not claimed.")


def test_two_conditions_that_cross_end_at_the_first_that_fails(target, said):
    """One metric breaks at the larger loads; the other is broken at the smallest already."""
    criterion = {"conditions": [{"metric": "duration", "at_most": 40.0}, *RATE["conditions"]]}
    campaign = launch(target, {"concurrency": [100, 200, 400]}, criterion=criterion)
    rates = {100: 30.0, 200: 60.0, 400: 90.0}
    store(
        campaign,
        at({100: 20.0, 200: 30.0, 400: 80.0}),
        also=lambda run: [
            Value(
                "file_rate",
                rates[run.cell.levels_by_factor["concurrency"]] * wave(run),
                "files/s",
                lower_is_better=False,
            )
        ],
    )

    sentence, details, found = said(campaign)

    assert sentence == (
        "Not monotone: concurrency 100 fails and 200 holds, so no number is made of it."
    )
    assert any("Where it grows with the load" in each for each in details)
    words = [cell.word for cell in found.thresholds.cells]
    assert words == ["does_not_pass", "passes", "does_not_pass"]


def test_a_metric_that_should_stay_high_has_the_words_of_any_other(target, said):
    campaign = launch(target, {"concurrency": [100, 200, 400]}, criterion=RATE)
    rates = {100: 90.0, 200: 60.0, 400: 30.0}
    store(
        campaign,
        also=lambda run: [
            Value(
                "file_rate",
                rates[run.cell.levels_by_factor["concurrency"]] * wave(run),
                "files/s",
                lower_is_better=False,
            )
        ],
    )

    sentence, details, found = said(campaign)

    assert sentence == "toy server carries at least concurrency 200, below 400."
    assert details[0].startswith("Files per second stays at 50")
    assert any(each.startswith("At concurrency 400 files per second is 30") for each in details)
    lines = threshold_texts(found.thresholds).lines
    assert [line.label.word for line in lines] == ["holds", "holds", "fails"]


def test_the_chart_has_the_values_of_the_condition_and_not_of_the_primary_metric(
    target, said, browser
):
    campaign = launch(target, {"concurrency": [100, 200, 400]}, criterion=RATE)
    rates = {100: 90.0, 200: 60.0, 400: 30.0}
    store(
        campaign,
        also=lambda run: [
            Value(
                "file_rate",
                rates[run.cell.levels_by_factor["concurrency"]],
                "files/s",
                lower_is_better=False,
            )
        ],
    )
    said(campaign)

    panel = answer_level_of(browser.get(reverse("campaign-print", args=[campaign.pk]))).carried

    dots = [trace for trace in panel.plot.figure["data"] if trace.get("name", "").startswith("run")]
    assert {value for trace in dots for value in trace["y"]} == {90.0, 60.0, 30.0}
    hatched = [trace for trace in panel.plot.figure["data"] if trace.get("name") == "fails"]
    assert [len(trace["x"]) for trace in hatched] == [1]


def test_without_a_condition_the_answer_says_that_none_was_set(target, said):
    campaign = launch(target, {"concurrency": [5, 15, 40]})
    store(campaign)

    sentence, details, found = said(campaign)

    assert sentence == "No criterion was set, so what concurrency is carried is not stated."
    assert details[0].startswith("State one")
    assert (
        "0 of 120 units failed at concurrency 40; at most 13.4 % is shown, and the limit is 5 %."
        in details
    )
    assert {each.held for each in found.capacity.settings[0].cells} == {"undecided"}


def test_a_load_of_one_level_is_refused_as_a_load_and_judged_by_the_criterion(target, said):
    campaign = launch(
        target, {"engine": ["asyncio", "futures"]}, criterion=LIMIT, roles={},
        parameters={"concurrency": 200},
    )  # fmt: skip
    for run in campaign.runs.select_related("cell"):
        run.cell.levels_by_factor["concurrency"] = 200
    store(campaign, lambda run: 30 * wave(run), units=lambda run: 200)

    _, details, found = said(campaign)

    assert found.capacity is None
    assert "Passes: duration at most 40 s, in both cells." in details


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_values_without_a_logarithm_are_named(target, said, value):
    campaign = launch(target, {"concurrency": GRID}, criterion=LIMIT)
    store(campaign, lambda run: value if run.position == 2 else 20.0 * wave(run))

    sentence, _, found = said(campaign)

    assert sentence == (
        "What is carried is not shown: a value of duration is zero, negative or no number."
    )
    assert {cell.word for cell in found.thresholds.cells} == {"not_decided"}


def test_one_lost_run_leaves_what_the_others_show(target, said):
    campaign = launch(target, {"concurrency": [100, 200, 400]}, criterion=LIMIT)
    lost = campaign.runs.filter(cell__levels_by_factor__concurrency=200).first().position
    store(campaign, queue(sd=0.01), skip=[lost])

    sentence, details, found = said(campaign)

    assert sentence == "toy server carries at least concurrency 200, below 400."
    assert details[0].startswith("Duration stays within 40 s: 95 %, 8 runs.")
    assert [cell.word for cell in found.thresholds.cells] == ["passes", "passes", "does_not_pass"]


def test_too_many_lost_runs_decide_nothing_anywhere(target, said):
    campaign = launch(target, {"concurrency": [100, 200, 400]}, criterion=LIMIT)
    store(campaign, queue(sd=0.01), skip=[1, 4, 7])
    campaign.runs.filter(position__in=[1, 4, 7]).update(state="void")

    sentence, _, found = said(campaign)

    assert sentence == "What is carried is not shown: too many runs have no value."
    assert {cell.word for cell in found.thresholds.cells} == {"not_decided"}
    assert {each.held for each in found.capacity.settings[0].cells} == {"undecided"}


def test_too_few_units_for_the_failures_leave_a_load_that_holds(target, said):
    """25 hosts a run cannot show 5 %: that is said once, and decides nothing."""
    campaign = launch(
        target, {"concurrency": [10, 20, 40]}, criterion={**LIMIT, "failed_percent": 5}
    )
    store(campaign, at({10: 10.0, 20: 20.0, 40: 80.0}))

    sentence, details, found = said(campaign)

    assert sentence == "toy server carries at least concurrency 20, below 40."
    assert (
        "0 of 120 units failed at concurrency 40; at most 13.4 % is shown, and the limit is 5 %."
        in details
    )
    assert [cell.word for cell in found.thresholds.cells] == ["passes", "passes", "does_not_pass"]
    labels = [line.label.word for line in threshold_texts(found.thresholds).lines]
    assert labels == [
        "holds",
        "not contradicted",
        "holds",
        "not contradicted",
        "fails",
        "not contradicted",
    ]
