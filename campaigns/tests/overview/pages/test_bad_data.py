"""What no campaign should hold: each has its word, a page, and files that any program reads."""

import csv
import io
import json
import math
import re
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaigns.findings.answers import answers_of
from campaigns.findings.compute import levels, matrix
from campaigns.findings.wording import answer as wording
from campaigns.models import Campaign, Exclusion, Finding
from campaigns.results.storing import Value
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish
from campaigns.tests.overview.pages.bad_data import GOOD, analysed, flags, measured, read, words
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db

NO_NUMBER = re.compile(r"(?<![\w-])(nan|inf|-inf|NaN|Infinity)(?![\w-])")
PAGES = ("campaign", "campaign-print")
FILES = ("campaign-runs-csv", "campaign-comparisons-csv", "campaign-json")
NO_VALUE = {"empty"}

CASES: dict[str, tuple[dict[int, Any], list[str], str]] = {
    "no run came through": ({1: ["void"] * 3, 2: ["void"] * 3}, ["not_enough_data"], "empty"),
    "one cell has no run": ({1: GOOD, 2: ["void"] * 5}, ["not_enough_data"], "empty"),
    "one run a cell": ({1: [10.0], 2: [20.0]}, ["not_enough_data"], "single_run"),
    "two runs a cell": ({1: [10.0, 11.0], 2: [20.0, 22.0]}, ["not_enough_data"], "two_runs"),
    "all failed": ({1: ["failed"] * 4, 2: ["failed"] * 4}, ["too_many_failures"], "all_failed"),
    "a cell failed": ({1: GOOD, 2: ["failed"] * 5}, ["too_many_failures"], "all_failed"),
    "no spread": ({1: [10.0] * 4, 2: [20.0] * 4}, ["not_enough_data"], "zero_variance"),
    "all alike": ({1: [10.0] * 4, 2: [10.0] * 4}, ["not_enough_data"], "zero_variance"),
    "a zero": ({1: GOOD, 2: [0.0, *GOOD[1:]]}, ["invalid_values"], "not_positive"),
    "a negative value": ({1: GOOD, 2: [-1.0, *GOOD[1:]]}, ["invalid_values"], "not_positive"),
    "nothing but zeros": ({1: [0.0] * 4, 2: [0.0] * 4}, ["invalid_values"], "not_positive"),
    "beyond all measure": ({1: GOOD, 2: [1e300] * 5}, ["invalid_values"], "invalid_values"),
    "next to nothing": ({1: GOOD, 2: [1e-300] * 5}, ["better"], "zero_variance"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_data_has_its_word_and_pages_and_files_without_a_trace_of_no_number(
    case, target, person, browser
):
    values, expected, flag = CASES[case]

    campaign = analysed(target, person, values)

    assert words(campaign) == expected
    assert any(flag in each for each in flags(campaign))
    text = Page(browser.get(reverse("campaign-print", args=[campaign.pk]))).text
    assert answers_of([campaign.pk])[campaign.pk].sentence in text
    for name in (*PAGES, *FILES):
        assert not NO_NUMBER.search(read(browser, name, campaign)), name
    json.loads(read(browser, "campaign-json", campaign), parse_constant=pytest.fail)


@pytest.mark.parametrize("case", CASES)
def test_a_run_without_a_value_is_an_empty_field_and_never_a_zero(case, target, person, browser):
    values, _, _ = CASES[case]
    campaign = analysed(target, person, values)

    rows = list(csv.DictReader(io.StringIO(read(browser, "campaign-runs-csv", campaign))))

    stored = sorted(float(row["duration"]) for row in rows if row["duration"])
    asked = sorted(v for level in values.values() for v in level if isinstance(v, float))
    assert stored == asked
    assert all(row["duration"] == "" for row in rows if row["state"] != "done")


@pytest.mark.parametrize("case", CASES)
def test_a_running_campaign_shows_the_same_data_without_a_verdict(case, target, person, browser):
    values, _, _ = CASES[case]
    campaign = measured(target, person, values)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.RUNNING)

    for part in (
        "campaign",
        "campaign-print",
        "campaign-progress",
        "campaign-matrix",
        "campaign-so-far",
    ):
        assert not NO_NUMBER.search(read(browser, part, campaign))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_stored_by_anybody(bad, target, person):
    campaign = measured(target, person, {1: GOOD, 2: GOOD[:4]})
    run = campaign.runs.get(state="planned")

    with pytest.raises(IntegrityError), transaction.atomic():
        import_run(
            run, [Value("duration", bad, "s", lower_is_better=True)],
            started_at=None, finished_at=None,
        )  # fmt: skip

    run.refresh_from_db()
    assert run.state == "planned"


def test_values_of_zero_or_below_make_no_setting_the_best(target, person):
    campaign = analysed(target, person, {1: [0.0] * 4, 2: [-1.0] * 4})

    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.sentence.startswith("No setting is ranked")
    assert "2 of 2 cells" in answer.caveat


def test_a_cell_with_a_negative_value_is_not_called_the_fastest(target, person):
    campaign = analysed(target, person, {1: GOOD, 2: [-5.0] * 5})

    answer = answers_of([campaign.pk])[campaign.pk]
    assert "workers 2 has a value of zero or below" in answer.sentence
    assert "In 1 of 2 cells a value is zero, negative or no number" in answer.caveat


def test_one_cell_is_summarised_and_compared_with_nothing(target, person, browser):
    campaign = analysed(target, person, {4: GOOD})

    assert not campaign.findings.filter(name="levels").exists()
    assert (
        "Duration is 11 s on average at workers 4."
        in Page(browser.get(reverse("campaign-print", args=[campaign.pk]))).text
    )
    assert len(read(browser, "campaign-comparisons-csv", campaign).splitlines()) == 1


def test_levels_of_text_are_compared_with_the_first_of_them(target, person, browser):
    campaign = analysed(
        target, person, {"new": GOOD, "old": [2 * value for value in GOOD]}, factor="engine"
    )

    assert words(campaign) == ["worse"]
    assert "Engine, each vs. the first" in read(browser, "campaign-print", campaign)


def test_an_exclusion_that_empties_a_cell_leaves_not_enough_data(target, person, browser):
    campaign = measured(target, person, {1: GOOD, 2: GOOD})
    for run in campaign.runs.filter(cell__levels_by_factor={"workers": 2}):
        Exclusion.objects.create(run=run, user=person, reason="The disk was full.")
    finish(campaign)

    assert words(campaign) == ["not_enough_data"]
    assert "empty" in flags(campaign)[1]
    text = read(browser, "campaign-print", campaign)
    assert "5 excluded" in text
    assert "The disk was full." in text
    assert not NO_NUMBER.search(text)


def test_a_campaign_that_was_stopped_half_way_says_what_is_missing(target, person, browser):
    campaign = measured(target, person, {1: [*GOOD[:3], *["cancelled"] * 2], 2: [9.0, *["cancelled"] * 4]})  # fmt: skip
    Campaign.objects.filter(pk=campaign.pk).update(state_reason="It took too long")
    finish(campaign)

    assert words(campaign) == ["not_enough_data"]
    text = read(browser, "campaign-print", campaign)
    assert "4 cancelled" in text
    assert not NO_NUMBER.search(text)


def test_more_cells_than_can_be_compared_are_summarised_and_it_is_said(
    target, person, browser, monkeypatch
):
    for module in (levels, matrix, wording):
        monkeypatch.setattr(module, "MOST_CELLS", 2)

    campaign = analysed(target, person, {1: GOOD, 2: GOOD, 4: GOOD})

    assert not campaign.findings.filter(name="levels").exists()
    assert "are more than can be compared (2)" in read(browser, "campaign-print", campaign)


def test_findings_that_are_not_there_yet_are_no_error(target, person, browser):
    campaign = analysed(target, person, {1: GOOD, 2: GOOD})
    Finding.objects.filter(campaign=campaign).delete()

    for name in (*PAGES, *FILES):
        read(browser, name, campaign)


VALUES = st.lists(
    st.lists(st.floats(min_value=5.0, max_value=20.0), min_size=4, max_size=4),
    min_size=2,
    max_size=3,
)
FEW = settings(
    max_examples=4,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FEW
@given(rows=VALUES)
def test_milliseconds_give_the_words_of_seconds(rows, target, person):
    seconds = dict(enumerate(rows, 1))
    thousands = {level: [1000 * value for value in row] for level, row in seconds.items()}

    assert words(analysed(target, person, thousands)) == words(analysed(target, person, seconds))


@FEW
@given(rows=VALUES)
def test_a_rate_gives_the_words_of_its_time(rows, target, person):
    times = dict(enumerate(rows, 1))
    rates = {level: [1 / value for value in row] for level, row in times.items()}

    of_rates = words(analysed(target, person, rates, metric="rate"))

    assert of_rates == words(analysed(target, person, times))


@FEW
@given(rows=VALUES, data=st.data())
def test_blocks_in_another_order_give_the_same_words(rows, data, target, person):
    order = data.draw(st.permutations(range(4)))
    given_rows = dict(enumerate(rows, 1))
    permuted = {level: [row[place] for place in order] for level, row in given_rows.items()}

    assert words(analysed(target, person, permuted)) == words(analysed(target, person, given_rows))
