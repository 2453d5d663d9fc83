"""What aggregated and rounded numbers cannot support is off, and the page says why."""

from typing import Any

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.findings.store import findings_of
from campaigns.findings.wording.checks import check_lines
from campaigns.models import Campaign
from campaigns.results.importing.receiving import create
from campaigns.results.importing.submitted import Submitted, SubmittedRun
from campaigns.results.readers.base import ReadMetric

pytestmark = pytest.mark.django_db


def analysed(fidelity: Any, times: list[float], **definition) -> Campaign:
    """Two settings, the second half as fast, with 25 runs each."""
    submitted = Submitted(
        runs=[
            SubmittedRun({"engine": engine}, {"latency": factor * value})
            for engine, factor in (("old", 2.0), ("new", 1.0))
            for value in times
        ],
        metrics=[ReadMetric("latency", "Latency", "s", True, fidelity)],
        definition={"question": "Which?", **definition},
    )
    campaign = create(submitted, None).campaign
    compute.analyse(campaign)
    return campaign


TIMES = [1.0 + 0.01 * (7 * place % 25) for place in range(25)]
"""Written in steps of .01, and without a trend."""


def said(campaign: Campaign) -> dict[str, tuple[str, str]]:
    checks = findings_of(campaign, "").checks
    return {line.title: (line.tone, line.text) for line in check_lines(checks)} if checks else {}


def result(campaign: Campaign, name: str):
    return campaign.findings.get(name=name).result


def test_of_raw_values_nothing_is_off():
    campaign = analysed("raw", TIMES)

    assert result(campaign, "levels")["groups"][0]["comparisons"][0]["comparison"]["ranks"]
    assert all(cell["density"] for cell in result(campaign, "density:latency")["cells"])
    assert "What the numbers are" not in said(campaign)


def test_of_aggregated_values_densities_and_modes_are_off():
    campaign = analysed("aggregated", TIMES)

    assert result(campaign, "levels")["groups"][0]["comparisons"][0]["comparison"]["ranks"]
    assert not any(cell["density"] for cell in result(campaign, "density:latency")["cells"])
    tone, text = said(campaign)["What the numbers are"]
    assert tone == "warn"
    assert "Density and modes are not available" in text
    assert said(campaign)["Modes"][0] == "thin"


def test_of_rounded_values_rank_tests_are_off_too():
    campaign = analysed("rounded", TIMES)

    step = result(campaign, "levels")["groups"][0]["comparisons"][0]
    assert step["comparison"]["ranks"] is None
    assert step["comparison"]["verdict"]["word"] == "better"
    tone, text = said(campaign)["What the numbers are"]
    assert tone == "warn"
    assert "steps of up to 0.89 % of their mean" in text


def test_values_that_are_too_coarse_for_the_effect_of_interest_fail_the_check():
    campaign = analysed("rounded", [1.0, 2.0, 1.0], smallest_effect_percent=5)

    tone, text = said(campaign)["What the numbers are"]
    assert tone == "fail"
    assert "A difference of 5 %, the smallest of interest, cannot be seen." in text
    (row,) = result(campaign, "levels")["groups"][0]["comparisons"]
    verdict = row["comparison"]["verdict"]
    assert (verdict["word"], verdict["reason"]) == ("not_enough_data", "resolution")


def word_of(campaign: Campaign) -> tuple[str, str]:
    (row,) = result(campaign, "levels")["groups"][0]["comparisons"]
    verdict = row["comparison"]["verdict"]
    return verdict["word"], verdict["reason"]


def test_values_of_whole_seconds_are_not_called_equivalent_whatever_is_declared():
    """Truly 5 % apart, and rounded to 3 s, 16 of 17 times."""
    times = [3.0] * 16 + [2.0]
    submitted = Submitted(
        runs=[
            SubmittedRun({"engine": engine}, {"latency": value})
            for engine in ("old", "new")
            for value in times * 20
        ],
        metrics=[ReadMetric("latency", "Latency", "s", True, "raw")],
        definition={"question": "Which?"},
    )
    campaign = create(submitted, None).campaign
    compute.analyse(campaign)

    assert word_of(campaign) == ("not_enough_data", "resolution")
    answer = answers_of([campaign.pk])[campaign.pk].sentence
    assert answer == "No difference is shown between engine new and old: not enough data."
    assert said(campaign)["What the numbers are"][0] == "fail"


def test_a_difference_clear_of_a_coarse_step_stands():
    assert word_of(analysed("rounded", [10.0, 11.0, 10.0, 9.0, 11.0])) == ("better", "")


def test_equal_values_are_not_enough_data_in_the_answer():
    assert word_of(analysed("raw", [1.234] * 5)) == ("not_enough_data", "identical_values")


def test_what_is_counted_may_be_equal():
    submitted = Submitted(
        runs=[
            SubmittedRun({"engine": engine}, {"requests": 40.0})
            for engine in ("old", "new")
            for _ in range(5)
        ],
        metrics=[ReadMetric("requests", "Requests", "count", True, "raw")],
        definition={"question": "Which?"},
    )
    campaign = create(submitted, None).campaign
    compute.analyse(campaign)

    assert word_of(campaign) == ("equivalent", "")
